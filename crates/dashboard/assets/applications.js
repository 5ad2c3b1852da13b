// Applications: instances, client requests and response times, now and over time. The server draws the charts.

// Columns that are hidden on narrow screens.
const SPARE = new Set(["p50, ms", "p99, ms", "failed"]);
/** @type {Record<string, string>} */
const MEANINGS = {
  instances: "instances of the application on the nodes that are polled",
  "requests/s": "client requests per second",
  "p50, ms": "half of the latest 500 requests were answered within this time, measured at the clients",
  "p95, ms": "95 % of the latest 500 requests were answered within this time, measured at the clients",
  "p99, ms": "99 % of the latest 500 requests were answered within this time, measured at the clients",
  late: "of the latest 500 requests, those whose answer took more than twice the latency that the application tolerates, because the tolerated latency is one-way",
  failed: "requests without an answer, or with an error, since the start",
};

class Applications {
  constructor() {
    this.table = h("div", { class: "table panel" });
    this.grid = h("div", { class: "grid" });
    this.element = h("div", { class: "column" }, this.table, this.grid);
    /** @type {Map<string, ChartCard>} */
    this.cards = new Map();
    this.isAsking = false;
    let last = 0;
    // The charts are drawn for the width of the page.
    new ResizeObserver(() => {
      if (this.grid.clientWidth === last) return;
      last = this.grid.clientWidth;
      requestAnimationFrame(() => this.refresh());
    }).observe(this.grid);
  }

  /** The width of a chart in pixels; before there is one, that of a temporary figure. */
  chartWidth() {
    const [card] = this.cards.values();
    if (card) return Math.floor(card.plot.clientWidth);
    const probe = h("figure", {}, h("div", { class: "plot" }));
    this.grid.append(probe);
    const width = probe.firstElementChild?.clientWidth ?? 0;
    probe.remove();
    return Math.floor(width);
  }

  /**
   * Requests the charts and shows them, unless the page is hidden or the pointer is over a chart. If the width changed
   * in the meantime, requests them once more.
   */
  async refresh(isRepeat = false) {
    const width = this.chartWidth();
    if (this.isAsking || document.hidden || width < 40 || this.grid.querySelector(".plot:hover")) return;
    this.isAsking = true;
    try {
      const reply = await fetch(`charts.json?width=${width}`);
      if (reply.ok) this.showCharts(await reply.json());
    } catch {
      // The connection is lost; the page shows that elsewhere.
    } finally {
      this.isAsking = false;
    }
    if (!isRepeat && this.chartWidth() !== width) await this.refresh(true);
  }

  /** @param {ShownChart[]} charts */
  showCharts(charts) {
    const names = new Set(charts.map(({ name }) => name));
    for (const [name, { element }] of this.cards) element.hidden = !names.has(name);
    for (const shown of charts) {
      const card = this.cards.get(shown.name) ?? this.addCard(shown);
      card.plot.replaceChildren(drawnChart(shown.chart, shown.chart.layouts[0], shown.title));
      card.caption.textContent = shown.caption ?? "";
    }
  }

  /** @param {ShownChart} shown */
  addCard({ name, title }) {
    const plot = h("div", { class: "plot chart" });
    const data = async () => (await fetch(`charts/${name}.csv`)).text();
    const element = card({ name, title, content: plot, data, drawing: () => plot.querySelector("svg") });
    const caption = h("figcaption", {});
    element.append(caption);
    this.grid.append(element);
    const added = { plot, element, caption };
    this.cards.set(name, added);
    return added;
  }

  /** @param {Snapshot} picture */
  show(picture) {
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
                heads.map((head) =>
                  h("th", { scope: "col", title: MEANINGS[head], class: SPARE.has(head) ? "spare" : null }, head),
                ),
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
                        h("td", { class: "spare" }, number(responses?.p50_ms, 1)),
                        h("td", {}, number(responses?.p95_ms, 1)),
                        h("td", { class: "spare" }, number(responses?.p99_ms, 1)),
                        h(
                          "td",
                          {},
                          typeof responses?.late_share === "number"
                            ? `${fixed(responses.late_share * 100, 1)} %`
                            : number(null, 0),
                        ),
                        h(
                          "td",
                          { class: "spare" },
                          typeof responses?.failed === "number" ? whole(responses.failed) : number(null, 0),
                        ),
                      ]
                    : null,
                ),
              ),
            ),
          )
        : h("p", { class: "hint" }, "No application is known yet."),
      hasResponses
        ? h(
            "p",
            { class: "hint meanings" },
            heads
              .slice(3)
              .filter((head) => !head.startsWith("p9"))
              .flatMap((head) => [h("strong", {}, head.split(",")[0]), `: ${MEANINGS[head]}. `]),
          )
        : "",
    );
  }
}
