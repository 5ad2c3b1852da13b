// Elements of the page and of its drawings.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @template {Element} E
 * @param {E} element
 * @param {Given} given
 * @param {Child[]} children
 * @returns {E}
 */
function fill(element, given, children) {
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice("on".length), value);
    // The content security policy of a served page forbids style attributes in markup, but not styles set by scripts.
    else if (name === "style") /** @type {any} */ (element).style.cssText = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/**
 * @param {Element} element
 * @param {Child[]} children
 */
function append(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child);
    else if (child !== null && child !== undefined && child !== false) {
      element.append(child instanceof Node ? child : String(child));
    }
  }
}

/**
 * Creates an HTML element.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Given} given
 * @param {Child[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
function h(tag, given, ...children) {
  return fill(document.createElement(tag), given, children);
}

/**
 * Creates an SVG element.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Given} given
 * @param {Child[]} children
 * @returns {SVGElementTagNameMap[T]}
 */
function s(tag, given, ...children) {
  return fill(/** @type {SVGElementTagNameMap[T]} */ (document.createElementNS(SVG, tag)), given, children);
}

/**
 * The element with this id, which must exist in the markup of the page.
 * @param {string} id
 * @returns {HTMLElement}
 */
function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element ${id}`);
  return element;
}

/**
 * Replaces the children of an element.
 * @param {Element} element
 * @param {Child[]} children
 */
function refill(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/**
 * A section of the page: its title, a description, and its content.
 * @param {string} id
 * @param {string} title
 * @param {string | null} text
 * @param {Child[]} content
 */
function section(id, title, text, ...content) {
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title),
    text ? h("p", { class: "lead" }, text) : null,
    content,
  );
}

/**
 * A group of radio buttons that looks like one control.
 * @param {{ name: string, label: string, options: [string, string][], value: string, change: (value: string) => void }} described
 */
function choice({ name, label, options, value, change }) {
  const items = options.map(([key, text]) => {
    const input = h("input", { type: "radio", name, value: key, checked: key === value, onchange: () => change(key) });
    return h("label", {}, input, h("span", {}, text));
  });
  return h("fieldset", { class: "choice" }, h("legend", {}, label), items);
}

const tooltip = {
  /**
   * @param {PointerEvent} event
   * @param {string[]} lines
   */
  show(event, lines) {
    const box = byId("tooltip");
    refill(
      box,
      lines.map((line) => h("div", {}, line)),
    );
    box.hidden = false;
    const { width, height } = box.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, window.innerWidth - width - 8);
    const top = event.clientY + 18 + height > window.innerHeight ? event.clientY - height - 12 : event.clientY + 18;
    box.style.left = `${Math.max(8, left)}px`;
    box.style.top = `${Math.max(8, top)}px`;
  },
  hide() {
    byId("tooltip").hidden = true;
  },
};

/**
 * Moves the focus to the element with this `data-key` within another, if there is one.
 * @param {Element} within
 * @param {string | null | undefined} key
 */
function focusOn(within, key) {
  if (!key) return;
  const found = [...within.querySelectorAll("[data-key]")].find((element) => element.getAttribute("data-key") === key);
  if (found instanceof HTMLElement) found.focus();
}

/**
 * The value of a key that must be in the map.
 * @template K, V
 * @param {Map<K, V>} map
 * @param {K} key
 * @returns {V}
 */
function lookUp(map, key) {
  const value = map.get(key);
  if (value === undefined) throw new Error(`there is no ${key}`);
  return value;
}
