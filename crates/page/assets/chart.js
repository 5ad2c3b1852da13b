// Charts. The program lays them out; this script builds their elements and shows tooltips.

/**
 * The widest layout that has to shrink by at most a tenth to fit the width; else the narrowest.
 * @param {Chart} chart
 * @param {number} width
 */
function fittingLayout({ layouts }, width) {
  return layouts.findLast((layout) => layout.width <= width * 1.1) ?? layouts[0];
}

/**
 * Builds an element of a drawing.
 * @param {Drawn} drawn
 * @param {Drawn[]} parts the parts that the layouts of a figure share
 * @returns {SVGElement}
 */
function built([tag, attributes, ...content], parts) {
  const children = content.map((child) =>
    typeof child === "string" ? child : built(typeof child === "number" ? parts[child] : child, parts),
  );
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * The elements of a chart in one of its layouts.
 * @param {Chart} chart
 * @param {Layout} layout
 * @param {string} title
 * @returns {SVGSVGElement}
 */
function drawnChart(chart, layout, title) {
  const svg = /** @type {SVGSVGElement} */ (built(layout.drawing, chart.parts));
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", title);
  svg.style.maxWidth = `${Math.round(layout.width * 1.3)}px`;
  if (layout.scrolls) svg.style.minWidth = `${Math.round(layout.width)}px`;
  addTips(svg, layout, chart);
  return svg;
}

/**
 * Shows the tooltip of the mark under the pointer, or of the position along the horizontal axis.
 * @param {SVGSVGElement} svg
 * @param {Layout} layout
 * @param {Chart} chart
 */
function addTips(svg, { width, hover }, { tips, edges: values }) {
  svg.addEventListener("pointermove", (event) => {
    const tip = event.target instanceof Element ? event.target.getAttribute("data-tip") : null;
    if (tip) tooltip.show(event, tip.split("\n"));
    else if (!hover) tooltip.hide();
  });
  svg.addEventListener("pointerleave", tooltip.hide);
  if (!hover) return;
  const { top, bottom, zero, factor } = hover;
  const edges = values.map((value) => zero + factor * value);
  const [left, right] = [edges[0], edges[edges.length - 1]];
  const guide = s("line", { class: "guide", y1: top, y2: bottom, visibility: "hidden" });
  const area = s("rect", { x: left, y: top, width: right - left, height: bottom - top, class: "hover-area" });
  area.addEventListener("pointermove", (event) => {
    const frame = svg.getBoundingClientRect();
    const at = ((event.clientX - frame.left) / frame.width) * width;
    const place = Math.max(
      0,
      edges.findLastIndex((edge, nth) => nth < tips.length && edge <= at),
    );
    const middle = String((edges[place] + edges[place + 1]) / 2);
    guide.setAttribute("x1", middle);
    guide.setAttribute("x2", middle);
    guide.setAttribute("visibility", "visible");
    tooltip.show(event, tips[place].split("\n"));
  });
  area.addEventListener("pointerleave", () => {
    guide.setAttribute("visibility", "hidden");
    tooltip.hide();
  });
  svg.append(guide, area);
}
