// Saves figures and their data as files.

/**
 * @param {string} name
 * @param {string} type
 * @param {string} content
 */
function save(name, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

const KEPT_STYLES = [
  "display",
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "paint-order",
  "opacity",
  "fill-opacity",
  "stroke-opacity",
  "font-size",
  "font-weight",
  "text-anchor",
  "dominant-baseline",
];

/**
 * The text of a drawing for use elsewhere: in light colours, with all styles inline.
 * @param {SVGSVGElement} svg
 */
function standalone(svg) {
  const root = document.documentElement;
  const theme = root.dataset.theme;
  root.dataset.theme = "light";
  const copy = /** @type {SVGSVGElement} */ (svg.cloneNode(true));
  const originals = [svg, ...svg.querySelectorAll("*")];
  const copies = [copy, ...copy.querySelectorAll("*")];
  copies.forEach((element, place) => {
    const style = getComputedStyle(originals[place]);
    for (const name of KEPT_STYLES) {
      const value = style.getPropertyValue(name);
      const isDefault = (name === "opacity" && value === "1") || (name === "display" && value !== "none");
      if (value && !isDefault) element.setAttribute(name, value);
    }
    for (const { name } of [...element.attributes]) {
      if (name === "style" || name === "class" || name.startsWith("data-")) element.removeAttribute(name);
    }
  });
  if (theme === undefined) delete root.dataset.theme;
  else root.dataset.theme = theme;
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("font-family", "Helvetica, Arial, sans-serif");
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`;
}

/**
 * Rows as CSV.
 * @param {(string | number | null | undefined)[][]} rows
 */
function csv(rows) {
  const cell = (/** @type {string | number | null | undefined} */ value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\n`).join("");
}
