// The figures of the report. They are drawn by the program that wrote the page; this script shows the drawing that fits
// the width of the page and the reader's choices, and shows tooltips.

/** The reader's choices, which apply to the whole page. */
const chosen = {
  group: "0",
  by: window.innerWidth < 640 ? "step" : "cycle",
  measure: "satisfied",
  outcomes: new Set(["replicate", "migrate", "undeploy", "inhibited"]),
};

/** @type {{ show: () => void, observer: ResizeObserver }[]} */
const shownFigures = [];

/**
 * The chosen view of a figure. If a run does not have the chosen group, its last one is shown.
 * @param {Figure} described
 */
function chosenView({ views }) {
  const group = Math.min(Number(chosen.group), Math.max(...views.map((view) => view.group ?? 0)));
  const isChosen = (/** @type {View} */ view) =>
    (view.group ?? group) === group &&
    (view.by ?? chosen.by) === chosen.by &&
    (view.measure ?? chosen.measure) === chosen.measure;
  return views.find(isChosen) ?? views[0];
}

/**
 * The widest layout that fits the page without making its texts much smaller.
 * @param {View} view
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

/** @param {Figure} described */
function figure(described) {
  const plot = h("div", { class: "plot" });
  /** @type {SVGSVGElement | null} */
  let svg = null;
  /** @type {Layout | null} */
  let last = null;
  const show = () => {
    const width = Math.floor(plot.clientWidth);
    if (width < 40) return;
    const view = chosenView(described);
    const layout = fittingLayout(view, width);
    if (layout !== last || !svg) {
      last = layout;
      svg = /** @type {SVGSVGElement} */ (built(layout.drawing, view.parts));
      svg.setAttribute("role", "img");
      svg.setAttribute("aria-label", described.title);
      svg.style.maxWidth = `${Math.round(layout.width * 1.3)}px`;
      addTips(svg, layout, view);
      plot.replaceChildren(svg);
    }
    stack(svg);
  };
  // Not in the observer: drawing changes the height, which would trigger the observer again in the same frame.
  const observer = new ResizeObserver(() => requestAnimationFrame(show));
  observer.observe(plot);
  shownFigures.push({ show, observer });
  const { name, title, caption, is_wide: isWide, data } = described;
  const table = () => data.find(({ by }) => (by ?? chosen.by) === chosen.by) ?? data[0];
  return card({ name, title, caption, isWide, content: plot, data: () => table().csv, drawing: () => svg });
}

/** Redraws all figures according to the choices. */
function showFigures() {
  for (const { show } of shownFigures) show();
}

function forgetFigures() {
  for (const { observer } of shownFigures) observer.disconnect();
  shownFigures.length = 0;
}

/**
 * Stacks the outcomes that were chosen. Bars are in agents, so that only the scale and the base of each part change.
 * @param {SVGSVGElement} svg
 */
function stack(svg) {
  const bars = svg.querySelector(".bars");
  if (!bars) return;
  const scale = chosen.outcomes.has("nop") ? "all" : "changes";
  bars.setAttribute("transform", bars.getAttribute(`data-${scale}`) ?? "");
  for (const grid of svg.querySelectorAll("[data-scale]")) show(grid, grid.getAttribute("data-scale") === scale);
  for (const bar of bars.querySelectorAll(".bar")) {
    let base = 0;
    for (const part of bar.children) {
      const outcome = part.getAttribute("fill")?.replace(/^var\(--|\)$/g, "") ?? "";
      show(part, chosen.outcomes.has(outcome));
      part.setAttribute("y", String(base));
      if (chosen.outcomes.has(outcome)) base += Number(part.getAttribute("height"));
    }
  }
}

/**
 * @param {Element} element
 * @param {boolean} isShown
 */
function show(element, isShown) {
  if (isShown) element.removeAttribute("display");
  else element.setAttribute("display", "none");
}

/**
 * Shows the tooltip of the mark under the pointer, or of the position along the horizontal axis.
 * @param {SVGSVGElement} svg
 * @param {Layout} layout
 * @param {View} view
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
