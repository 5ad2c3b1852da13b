// A figure: a title, a drawing that is made again when its width changes, a caption, and its data.

const drawn = [];

// `draw(width)` gives an SVG element; `rows()` gives the data as rows, names first.
function figure({ name, title, caption, draw, rows, wide }) {
  const plot = h("div", { class: "plot" });
  const button = (text, what, act) =>
    h("button", { type: "button", class: "save", "aria-label": `${text}: ${what} of ${title}`, onclick: act }, text);
  const element = h(
    "figure",
    { class: wide ? "wide" : null, "data-figure": name },
    h(
      "div",
      { class: "figure-head" },
      h("h3", {}, title),
      h(
        "span",
        { class: "saves" },
        button("SVG", "the drawing", () => save(`${name}.svg`, "image/svg+xml", standalone(plot.querySelector("svg")))),
        button("CSV", "the data", () => save(`${name}.csv`, "text/csv", csv(rows()))),
      ),
    ),
    plot,
    caption ? h("figcaption", {}, caption) : null,
  );
  const redraw = () => {
    const width = Math.floor(plot.clientWidth);
    if (width < 40) return;
    const svg = draw(width);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", title);
    plot.replaceChildren(svg);
  };
  let last = 0;
  const observer = new ResizeObserver(() => {
    const width = Math.floor(plot.clientWidth);
    if (width !== last) {
      last = width;
      // Not here: what is drawn changes the height, which would have to be observed in the same frame again.
      requestAnimationFrame(redraw);
    }
  });
  observer.observe(plot);
  drawn.push({ element, redraw, observer });
  return element;
}

// Draws again the figures inside an element.
function redrawWithin(element) {
  for (const one of drawn) if (element.contains(one.element)) one.redraw();
}

function forgetFigures() {
  drawn.forEach((one) => one.observer.disconnect());
  drawn.length = 0;
}

// A drawing with room for axes: the drawing, and the box inside the axes.
function canvas(width, height, { left = 44, right = 16, top = 12, bottom = 34 } = {}) {
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
  return { svg, box: { left, top, right: width - right, bottom: height - bottom, width, height } };
}

function nothing(width, text) {
  const { svg } = canvas(width, 96);
  svg.append(s("text", { x: width / 2, y: 52, class: "empty" }, text));
  return svg;
}
