// Applications: instances, client requests and response times, now and over time.

// Columns that are hidden on narrow screens.
const SPARE = new Set(["p50, ms", "p99, ms", "failed"]);

/**
 * A quantity drawn over time.
 * @typedef {object} Series
 * @property {keyof ApplicationSample} key
 * @property {string} name
 * @property {string} title
 * @property {string} label
 */

/** @type {Series[]} */
const SERIES = [
  { key: "instances", name: "instances", title: "Instances over time", label: "instances" },
  { key: "requests_per_s", name: "requests", title: "Client requests over time", label: "requests per second" },
  { key: "p95_ms", name: "responses", title: "Response times over time, 95th percentile", label: "ms" },
];

/**
 * The response times that a testbed measured at clients; null if it measured none.
 * @param {unknown} responses
 * @returns {Told | null}
 */
function measured(responses) {
  return typeof responses === "object" ? responses : null;
}

class Applications {
  constructor() {
    /** @type {Point[]} */
    this.points = [];
    /** @type {Snapshot | null} */
    this.picture = null;
    this.table = h("div", { class: "table" });
    this.charts = SERIES.map((series) => this.chart(series));
    this.element = h(
      "div",
      { class: "column" },
      this.table,
      h(
        "div",
        { class: "grid" },
        this.charts.map(({ element }) => element),
      ),
    );
  }

  /** @param {Series} series */
  chart(series) {
    const plot = h("div", { class: "plot chart" });
    const { name, title } = series;
    const draw = () => {
      const width = Math.floor(plot.clientWidth);
      if (width < 40) return;
      const svg = overTime(this.points, this.picture, series, width);
      svg.setAttribute("role", "img");
      svg.setAttribute("aria-label", title);
      plot.replaceChildren(svg);
    };
    let last = 0;
    // Not in the observer: drawing changes the height, which would trigger the observer again in the same frame.
    new ResizeObserver(() => {
      if (plot.clientWidth === last) return;
      last = plot.clientWidth;
      requestAnimationFrame(draw);
    }).observe(plot);
    const data = () => csv(overTimeRows(this.points, series));
    return {
      series,
      draw,
      element: card({ name, title, content: plot, data, drawing: () => plot.querySelector("svg") }),
    };
  }

  /** @param {Point[]} points */
  setHistory(points) {
    this.points = points;
    this.draw();
  }

  /** @param {Point} point */
  add(point) {
    this.points.push(point);
    if (this.points.length > 600) this.points.shift();
    this.draw();
  }

  // Charts without data are hidden.
  draw() {
    if (!this.picture) return;
    for (const { element, series } of this.charts) {
      element.hidden = !this.points.some(({ applications }) =>
        Object.values(applications).some((values) => values[series.key] !== null),
      );
    }
    // A chart under the pointer is not redrawn.
    if (!this.element.querySelector(".plot:hover")) for (const { draw } of this.charts) draw();
  }

  /** @param {Snapshot} picture */
  show(picture) {
    this.picture = picture;
    const hasResponses = picture.applications.some(({ responses }) => responses);
    const heads = [
      "application",
      "instances",
      "requests/s",
      ...(hasResponses ? ["p50, ms", "p95, ms", "p99, ms", "late", "failed"] : []),
    ];
    const number = (/** @type {unknown} */ value, /** @type {number} */ digits) =>
      typeof value === "number" ? fixed(value, digits) : h("span", { class: "none" }, "–");
    this.table.replaceChildren(
      picture.applications.length
        ? h(
            "table",
            { class: "applications" },
            h(
              "thead",
              {},
              h(
                "tr",
                {},
                heads.map((head) => h("th", { scope: "col", class: SPARE.has(head) ? "spare" : null }, head)),
              ),
            ),
            h(
              "tbody",
              {},
              picture.applications.map(({ id, instances, requests_per_s: rate, responses }) =>
                h(
                  "tr",
                  { "data-application": id },
                  h(
                    "th",
                    { scope: "row" },
                    h("span", { class: "swatch", style: `background:${colourOf(picture, id)}` }),
                    id,
                  ),
                  h("td", {}, whole(instances)),
                  h("td", {}, number(rate, 1)),
                  hasResponses
                    ? [
                        h("td", { class: "spare" }, number(measured(responses)?.p50_ms, 1)),
                        h("td", {}, number(measured(responses)?.p95_ms, 1)),
                        h("td", { class: "spare" }, number(measured(responses)?.p99_ms, 1)),
                        h(
                          "td",
                          {},
                          typeof measured(responses)?.late_share === "number"
                            ? `${fixed(measured(responses)?.late_share * 100, 1)} %`
                            : number(null, 0),
                        ),
                        h(
                          "td",
                          { class: "spare" },
                          typeof measured(responses)?.failed === "number"
                            ? whole(measured(responses)?.failed)
                            : number(null, 0),
                        ),
                      ]
                    : null,
                ),
              ),
            ),
          )
        : h("p", { class: "hint" }, "No application is known yet."),
    );
  }
}

// Instances are stacked, because their total is meaningful; the other quantities are lines.
/**
 * @param {Point[]} points
 * @param {Snapshot | null} picture
 * @param {Series} series
 * @param {number} width
 */
function overTime(points, picture, { key, label }, width) {
  const shown = points.slice(-300);
  if (!picture || shown.length < 2) return nothing(width, "Nothing was seen yet.");
  const names = picture.applications
    .map(({ id }) => id)
    .filter((id) => shown.some(({ applications }) => applications[id] && applications[id][key] !== null))
    .slice(0, 12);
  if (!names.length) return nothing(width, "Nothing was seen yet.");
  const isStacked = key === "instances";
  const value = (/** @type {Point} */ point, /** @type {string} */ name) => point.applications[name]?.[key] ?? null;
  const tops = shown.map((point) =>
    isStacked
      ? sum(names.map((name) => value(point, name) ?? 0))
      : Math.max(0, ...names.map((name) => value(point, name) ?? 0)),
  );
  const top = Math.max(1, ...tops);
  const longest = Math.max(4, ...names.map((name) => name.length));
  const { svg, box } = canvas(width, 210, {
    left: leftRoom(top, 34),
    right: Math.min(width * 0.4, 24 + longest * 6.6),
    top: 30,
    bottom: 34,
  });
  const [from, until] = [shown[0].time_ms, shown[shown.length - 1].time_ms];
  const x = linear([from, until], [box.left, box.right]);
  const y = linear([0, top], [box.bottom, box.top]);
  yAxis(svg, box, y, ticks(0, top, 4, isStacked), label);
  const base = shown.map(() => 0);
  /** @type {number[]} */
  const ends = [];
  for (const name of names) {
    const colour = colourOf(picture, name);
    if (isStacked) {
      let upper = "";
      let lower = "";
      shown.forEach((point, index) => {
        const [start, end] = [x(point.time_ms).toFixed(1), x(shown[index + 1]?.time_ms ?? until).toFixed(1)];
        upper += `${upper ? "L" : "M"}${start} ${y(base[index] + (value(point, name) ?? 0)).toFixed(1)}H${end}`;
        lower = `L${end} ${y(base[index]).toFixed(1)}H${start}${lower}`;
      });
      svg.append(s("path", { d: `${upper}${lower}Z`, style: `fill:${colour}`, class: "area" }));
      const final = shown.length - 1;
      ends.push(y(base[final] + (value(shown[final], name) ?? 0) / 2));
      shown.forEach((point, index) => {
        base[index] += value(point, name) ?? 0;
      });
    } else {
      let path = "";
      for (const point of shown) {
        const found = value(point, name);
        path +=
          found === null
            ? " "
            : `${path === "" || path.endsWith(" ") ? "M" : "L"}${x(point.time_ms).toFixed(1)} ${y(found).toFixed(1)}`;
      }
      svg.append(s("path", { d: path.trim() || "M0 0", class: "over-time", style: `stroke:${colour}` }));
      ends.push(y(value(shown[shown.length - 1], name) ?? 0));
    }
  }
  const places = spread(ends, 13, box.top + 4, box.bottom - 2);
  names.forEach((name, index) =>
    svg.append(
      s("rect", {
        x: box.right + 7,
        y: places[index] - 4,
        width: 8,
        height: 8,
        rx: 2,
        style: `fill:${colourOf(picture, name)}`,
      }),
      s("text", { x: box.right + 19, y: places[index] + 4, class: "direct" }, name),
    ),
  );
  const seconds = (until - from) / 1000;
  xAxis(
    svg,
    box,
    linear([-seconds, 0], [box.left, box.right]),
    ticks(-seconds, 0, Math.max(2, Math.floor((box.right - box.left) / 80))),
    { label: "seconds before now", format: (at) => amount(Math.abs(at)) },
  );
  hover(
    svg,
    box,
    (at) => {
      const found = shown.findIndex((point) => x(point.time_ms) > at);
      const index = found < 0 ? shown.length - 1 : Math.max(0, found - 1);
      return { place: index, x: x(shown[index].time_ms) };
    },
    (index) => [
      clock(shown[index].time_ms),
      ...names
        .filter((name) => value(shown[index], name) !== null)
        .map((name) => `${name} ${amount(value(shown[index], name) ?? 0)}`),
    ],
  );
  return svg;
}

/**
 * @param {Point[]} points
 * @param {Series} series
 */
function overTimeRows(points, { key }) {
  const names = [...new Set(points.flatMap(({ applications }) => Object.keys(applications)))].sort();
  return [
    ["time_ms", ...names],
    ...points.map((point) => [point.time_ms, ...names.map((name) => point.applications[name]?.[key] ?? "")]),
  ];
}
