// Elements of the page and of its drawings.

const SVG = "http://www.w3.org/2000/svg";

// Sets what is given: `on…` functions listen, other functions and objects are refused by the browser, null is left out.
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    // A page that is served may have no style attributes in its markup; what the program sets is allowed.
    else if (name === "style") element.style.cssText = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// A group of radio buttons that looks like one control.
function choice({ name, label, options, value, change }) {
  const items = options.map(([key, text]) => {
    const input = h("input", { type: "radio", name, value: key, checked: key === value, onchange: () => change(key) });
    return h("label", {}, input, h("span", {}, text));
  });
  return h("fieldset", { class: "choice" }, h("legend", {}, label), items);
}

const tooltip = {
  show(event, lines) {
    const box = document.getElementById("tooltip");
    box.replaceChildren(...lines.map((line) => h("div", {}, line)));
    box.hidden = false;
    const { width, height } = box.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, window.innerWidth - width - 8);
    const top = event.clientY + 18 + height > window.innerHeight ? event.clientY - height - 12 : event.clientY + 18;
    box.style.left = `${Math.max(8, left)}px`;
    box.style.top = `${Math.max(8, top)}px`;
  },
  hide() {
    document.getElementById("tooltip").hidden = true;
  },
};
