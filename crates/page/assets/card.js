// The frame of a figure or table: a title, download buttons, and a caption.

/**
 * @typedef {object} CardContent
 * @property {string} name the name of its files, without the extension
 * @property {string} title
 * @property {string | null} [caption]
 * @property {boolean} [isWide]
 * @property {HTMLElement} content
 * @property {() => string | Promise<string>} data the data as CSV
 * @property {() => SVGSVGElement | null} [drawing]
 */

/** @param {CardContent} described */
function card({ name, title, caption, isWide, content, data, drawing }) {
  const button = (/** @type {string} */ text, /** @type {string} */ what, /** @type {() => void} */ act) =>
    h("button", { type: "button", class: "save", "aria-label": `${text}: ${what} of ${title}`, onclick: act }, text);
  const saveDrawing = () => {
    const svg = drawing?.();
    if (svg) save(`${name}.svg`, "image/svg+xml", standalone(svg));
  };
  return h(
    "figure",
    { class: isWide ? "wide" : null, "data-figure": name },
    h(
      "div",
      { class: "figure-head" },
      h("h3", {}, title),
      h(
        "span",
        { class: "saves" },
        drawing ? button("SVG", "the drawing", saveDrawing) : null,
        button("CSV", "the data", async () => save(`${name}.csv`, "text/csv", await data())),
      ),
    ),
    content,
    caption ? h("figcaption", {}, caption) : null,
  );
}
