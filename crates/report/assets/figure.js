// Shows the figures of the report: each in the drawing that fits its width and the reader's choices.

/** The reader's choices, which apply to the whole page. */
const chosen = {
  group: "0",
  by: window.innerWidth < 640 ? "step" : "cycle",
  measure: "satisfied",
  outcomes: new Set([...PLACEMENT_OPERATIONS, "inhibited"]),
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
    const { chart } = chosenView(described);
    const layout = fittingLayout(chart, width);
    if (layout !== last || !svg) {
      last = layout;
      svg = drawnChart(chart, layout, described.title);
      plot.replaceChildren(svg);
      scrollable(plot, layout, described.title);
    }
    stack(svg);
  };
  // Draws in the next frame: drawing changes the height, which would trigger the observer again in the same frame.
  const observer = new ResizeObserver(() => requestAnimationFrame(show));
  observer.observe(plot);
  shownFigures.push({ show, observer });
  const { name, title, caption, is_wide: isWide, data } = described;
  const table = () => data.find(({ by }) => (by ?? chosen.by) === chosen.by) ?? data[0];
  return card({ name, title, caption, isWide, content: plot, data: () => table().csv, drawing: () => svg });
}

/**
 * Lets a drawing that is wider than the page scroll, by pointer and keyboard.
 * @param {HTMLElement} plot
 * @param {Layout} layout
 * @param {string} title
 */
function scrollable(plot, { scrolls }, title) {
  plot.classList.toggle("scrolls", scrolls);
  for (const [name, value] of [
    ["tabindex", "0"],
    ["role", "region"],
    ["aria-label", title],
  ]) {
    if (scrolls) plot.setAttribute(name, value);
    else plot.removeAttribute(name);
  }
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
 * Stacks the chosen outcomes, and hides the others. The unit of a bar's coordinates is one agent; the transform of all
 * bars sets the scale.
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
