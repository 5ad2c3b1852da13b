// Tables that compare the figures of all runs, with published values below them, and a table of the runs' origins. On a
// narrow page, each run has its own table of figures.

/**
 * A column of a comparison, with a cell for each group of applications in `groups`; without `groups`, for every group.
 * @typedef {object} Column
 * @property {string} head
 * @property {string} name
 * @property {number} digits
 * @property {string[]} [groups]
 * @property {(figures: ShownFigures, run: Run) => number | null} value
 */

const isNarrow = window.matchMedia("screen and (max-width: 760px)");

/**
 * @param {PageData} report
 * @param {number} run
 * @param {string} figureName
 * @param {string} group
 */
function published(report, run, figureName, group) {
  return report.published?.values[run]?.[`${group}.${figureName}`] ?? null;
}

/**
 * @param {PageData} report
 * @param {number} place
 * @param {string} name
 * @param {string} group
 * @param {number | null} value
 * @param {number} digits
 * @param {boolean} [opens]
 */
function cell(report, place, name, group, value, digits, opens) {
  const other = published(report, place, name, group);
  return h(
    "td",
    { class: opens ? "opens" : null },
    h("span", { class: value === null ? "none" : null }, fixed(value, digits)),
    other === null ? null : h("span", { class: "published" }, fixed(other, Math.min(digits, 3))),
  );
}

/**
 * @param {Run} run
 * @param {Column} column
 * @param {string} group
 */
function valueIn(run, column, group) {
  const place = run.groups.indexOf(group);
  return place < 0 ? null : column.value(run.figures[place], run);
}

/** @param {Run} run */
function runName(run) {
  return [run.label, run.about.is_complete ? null : h("span", { class: "partial" }, "not complete")];
}

/**
 * @param {PageData} report
 * @param {string} title
 * @param {Column[]} columns
 * @param {string[]} groups
 */
function wideTable(report, title, columns, groups) {
  const shown = (/** @type {Column} */ column) =>
    groups.filter((group) => !column.groups || column.groups.includes(group));
  const head = h(
    "thead",
    {},
    h(
      "tr",
      {},
      h("th", { scope: "col", rowspan: 2 }, "Run"),
      columns.map((column) => h("th", { scope: "colgroup", colspan: shown(column).length }, column.head)),
    ),
    h(
      "tr",
      {},
      columns.map((column) =>
        shown(column).map((group, place) =>
          h("th", { scope: "col", class: place ? "sub" : "sub opens" }, groupName(group)),
        ),
      ),
    ),
  );
  const body = report.runs.map((run, place) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, runName(run)),
      columns.map((column) =>
        shown(column).map((group, nth) =>
          cell(report, place, column.name, group, valueIn(run, column, group), column.digits, nth === 0),
        ),
      ),
    ),
  );
  return h(
    "div",
    { class: "table", tabindex: 0, role: "region", "aria-label": title },
    h("table", {}, head, h("tbody", {}, body)),
  );
}

/**
 * @param {PageData} report
 * @param {Column[]} columns
 * @param {string[]} groups
 */
function narrowTables(report, columns, groups) {
  return report.runs.map((run, place) =>
    h(
      "table",
      { class: "narrow" },
      h("caption", {}, runName(run)),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("td", {}),
          groups.map((group) => h("th", { scope: "col" }, groupName(group))),
        ),
      ),
      h(
        "tbody",
        {},
        columns.map((column) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, column.head),
            groups.map((group) =>
              column.groups && !column.groups.includes(group)
                ? h("td", {})
                : cell(report, place, column.name, group, valueIn(run, column, group), column.digits),
            ),
          ),
        ),
      ),
    ),
  );
}

/**
 * @param {PageData} report
 * @param {{ title: string, name: string, note: string, columns: Column[] }} described
 */
function comparison(report, { title, name, note, columns }) {
  const groups = [...new Set(report.runs.flatMap((run) => run.groups))];
  const rows = () => [
    [
      "run",
      "group",
      ...columns.map((column) => column.name),
      ...(report.published ? columns.map((column) => `${column.name}_published`) : []),
    ],
    ...report.runs.flatMap((run, place) =>
      groups.map((group) => [
        run.label,
        group,
        ...columns.map((column) =>
          column.groups && !column.groups.includes(group) ? null : valueIn(run, column, group),
        ),
        ...(report.published ? columns.map((column) => published(report, place, column.name, group)) : []),
      ]),
    ),
  ];
  const holder = h("div", {});
  const fillHolder = () =>
    refill(
      holder,
      isNarrow.matches ? narrowTables(report, columns, groups) : wideTable(report, title, columns, groups),
    );
  fillHolder();
  isNarrow.addEventListener("change", fillHolder, { signal: mounted.signal });
  const beside = report.published ? ` Below each value, in grey: ${report.published.source}.` : "";
  return card({ name, title, caption: note + beside, isWide: true, content: holder, data: () => csv(rows()) });
}

/**
 * @param {keyof OperationCounts} operation
 * @returns {Column}
 */
function perMovement(operation) {
  return {
    head: operation,
    name: `${operation}_per_movement`,
    digits: 3,
    value: ({ movements, counts }) => (movements ? counts[operation] / movements : null),
  };
}

// The heads and names of counts beyond the paper's figures. A count is shown if it is not zero in some run.
const FURTHER = EVENT_KINDS.flatMap((kind) => {
  const { column } = EVENT_WORDS[kind];
  return column ? [column] : [];
});

/** @param {PageData} report */
function comparisonTables(report) {
  /** @type {Column[]} */
  const regret = report.runs.some((run) => run.regret)
    ? [
        {
          head: "regret, users",
          name: "satisfied_regret",
          digits: 2,
          groups: ["all"],
          value: (_figures, run) => (run.regret ? run.regret.satisfied[1] - run.regret.satisfied[0] : null),
        },
      ]
    : [];
  const further = FURTHER.filter(([, name]) =>
    report.runs.some((run) => run.figures.some((figures) => figures.further[name])),
  ).map(([head, name]) => ({
    head,
    name,
    digits: 0,
    value: (/** @type {ShownFigures} */ figures) => figures.further[name] ?? 0,
  }));
  return [
    comparison(report, {
      title: "Operations for each movement",
      name: "operations-per-movement",
      note: "Operations per handover of a user; arrivals after the start count as handovers.",
      columns: PLACEMENT_OPERATIONS.map(perMovement),
    }),
    comparison(report, {
      title: "Response time and usage",
      name: "response-and-usage",
      note: `Response time is the mean over users, then applications. Service usage is the rate that instances saw over what one handles: above 1 they are overloaded. r relates movements and operations by step; it is n/a where one of them never changes.${regret.length ? " Regret is how many users more the best placement would have satisfied, on average." : ""}`,
      columns: [
        {
          head: "response time, ms",
          name: "response",
          digits: report.published ? 4 : 3,
          value: (figures) => figures.response,
        },
        {
          head: "service usage",
          name: "service_usage",
          digits: report.published ? 4 : 3,
          value: (figures) => figures.service_usage,
        },
        { head: "inhibited", name: "inhibited", digits: 0, value: (figures) => figures.counts.inhibited },
        ...further,
        { head: "instances, mean", name: "instances_mean", digits: 1, value: (figures) => figures.instances.mean },
        { head: "r", name: "pearson_r", digits: 3, value: (figures) => figures.pearson_r },
        {
          head: "cycles to steady state",
          name: "cycles_mean",
          digits: 2,
          groups: ["all"],
          value: (figures) => figures.cycles_to_steady_state?.mean ?? null,
        },
        ...regret,
      ],
    }),
  ];
}

// The origin, settings and totals of runs, with one row for each. On a narrow page, styles show a row as a list.
/** @param {PageData} report */
function aboutTable(report) {
  const heads = [
    "scenario",
    "seed",
    "made by",
    "observation",
    "routing",
    "arbitration",
    "memory",
    "evaluations",
    "served",
    "lost",
  ];
  const values = (/** @type {Run} */ { about }) => [
    about.scenario,
    about.has_no_clients ? "none: a live colony" : about.is_live ? `${about.seed}, live` : about.seed,
    about.program,
    about.observation,
    about.routing,
    about.arbitration,
    about.memory,
    whole(about.evaluations),
    about.has_no_clients ? "not recorded" : whole(about.served),
    about.has_no_clients ? "not recorded" : whole(about.lost),
  ];
  return h(
    "div",
    { class: "about" },
    h(
      "table",
      { class: "plain" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["Run", ...heads].map((head) => h("th", { scope: "col" }, head)),
        ),
      ),
      h(
        "tbody",
        {},
        report.runs.map((run) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, run.label),
            values(run).map((value, place) => h("td", { "data-head": heads[place] }, value)),
          ),
        ),
      ),
    ),
  );
}

/** @param {string} group */
function groupName(group) {
  return group === "all" ? "All" : group || "Other";
}
