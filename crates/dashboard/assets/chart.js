// Charts of the last minutes, redrawn with each sample.

/**
 * Returns a drawing with margins for axes, and the box inside the axes.
 * @param {number} width
 * @param {number} height
 * @param {{ left?: number, right?: number, top?: number, bottom?: number }} room
 * @returns {{ svg: SVGSVGElement, box: Box }}
 */
function canvas(width, height, { left = 44, right = 16, top = 12, bottom = 34 }) {
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
  return { svg, box: { left, top, right: width - right, bottom: height - bottom, width, height } };
}

/**
 * @param {number} width
 * @param {string} text
 */
function nothing(width, text) {
  const { svg } = canvas(width, 96, {});
  svg.append(s("text", { x: width / 2, y: 52, class: "empty" }, text));
  return svg;
}

/**
 * @param {SVGSVGElement} svg
 * @param {Box} box
 * @param {Scale} scale
 * @param {number[]} values
 * @param {string} label
 */
function yAxis(svg, box, scale, values, label) {
  for (const value of values) {
    const y = scale(value);
    svg.append(
      s("line", { x1: box.left, x2: box.right, y1: y, y2: y, class: value === 0 ? "base" : "gridline" }),
      s("text", { x: box.left - 7, y: y + 3.5, class: "tick end" }, amount(value)),
    );
  }
  svg.append(s("text", { x: 0, y: box.top - 12, class: "axis-label" }, label));
}

/**
 * The width of the labels of a left axis.
 * @param {number} top
 * @param {number} least
 */
function leftRoom(top, least) {
  return Math.max(least, 14 + whole(top).length * 7);
}

/**
 * @param {SVGSVGElement} svg
 * @param {Box} box
 * @param {Scale} scale
 * @param {number[]} values
 * @param {{ label: string, format: (value: number) => string }} described
 */
function xAxis(svg, box, scale, values, { label, format }) {
  for (const value of values) {
    const x = scale(value);
    svg.append(
      s("line", { x1: x, x2: x, y1: box.bottom, y2: box.bottom + 4, class: "base" }),
      s("text", { x, y: box.bottom + 16, class: "tick middle" }, format(value)),
    );
  }
  svg.append(s("text", { x: (box.left + box.right) / 2, y: box.height - 3, class: "axis-label middle" }, label));
}

/**
 * Moves labels apart: returns their positions, at least `gap` from each other and between `low` and `high`.
 * @param {number[]} places
 * @param {number} gap
 * @param {number} low
 * @param {number} high
 */
function spread(places, gap, low, high) {
  const order = places.map((place, index) => [place, index]).sort((one, other) => one[0] - other[0]);
  let floor = low;
  for (const item of order) {
    item[0] = Math.max(item[0], floor);
    floor = item[0] + gap;
  }
  let ceiling = high;
  for (const item of order.reverse()) {
    item[0] = Math.min(item[0], ceiling);
    ceiling = item[0] - gap;
  }
  /** @type {number[]} */
  const result = [];
  for (const [place, index] of order) result[index] = place;
  return result;
}

/**
 * Shows a tooltip for the position under the pointer along the x axis: `lines(place)`.
 * @param {SVGSVGElement} svg
 * @param {Box} box
 * @param {(x: number) => { place: number, x: number }} locate
 * @param {(place: number) => string[]} lines
 */
function hover(svg, box, locate, lines) {
  const guide = s("line", { class: "guide", y1: box.top, y2: box.bottom, visibility: "hidden" });
  const area = s("rect", {
    x: box.left,
    y: box.top,
    width: Math.max(0, box.right - box.left),
    height: Math.max(0, box.bottom - box.top),
    class: "hover-area",
    onpointermove: (event) => {
      const frame = svg.getBoundingClientRect();
      const found = locate(((event.clientX - frame.left) / frame.width) * box.width);
      guide.setAttribute("x1", String(found.x));
      guide.setAttribute("x2", String(found.x));
      guide.setAttribute("visibility", "visible");
      tooltip.show(event, lines(found.place));
    },
    onpointerleave: () => {
      guide.setAttribute("visibility", "hidden");
      tooltip.hide();
    },
  });
  svg.append(guide, area);
}

/**
 * About `count` round numbers from `low` to `high`; whole numbers only, if `isWhole`.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 * @param {boolean} [isWhole]
 */
function ticks(low, high, count, isWhole) {
  const span = Math.max(high - low, 1e-9);
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const gaps = [0.5, 1, 2, 5, 10].map((factor) => factor * power);
  const place = gaps.findIndex((candidate) => candidate >= rough);
  const spaced = (/** @type {number} */ gap) => {
    const found = [];
    for (let value = Math.ceil(low / gap) * gap; value <= high + gap * 1e-6; value += gap)
      found.push(Math.round(value / gap) * gap);
    return found;
  };
  const least = (/** @type {number} */ gap) => (isWhole ? Math.max(1, gap) : gap);
  const found = spaced(least(gaps[place]));
  // An axis needs at least two ticks.
  return found.length < 2 ? spaced(least(gaps[Math.max(0, place - 1)])) : found;
}

/**
 * @param {[low: number, high: number]} values
 * @param {[start: number, end: number]} places
 * @returns {Scale}
 */
function linear([low, high], [start, end]) {
  const scale = (end - start) / (high - low || 1);
  return (value) => start + (value - low) * scale;
}
