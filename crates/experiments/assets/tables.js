// The figures of all runs side by side, with published values below ours where there are some.

function published(report, run, figureName, group) {
  return report.published?.values[run]?.[`${group}.${figureName}`] ?? null;
}

function cell(report, place, name, group, value, digits, opens) {
  const other = published(report, place, name, group);
  return h("td", { class: opens ? "opens" : null }, h("span", { class: value === null ? "none" : null }, fixed(value, digits)),
    other === null ? null : h("span", { class: "published" }, fixed(other, digits)));
}

// Columns are `{ head, name, digits, value(figures) }`; each has one cell for each group.
function comparison(report, { title, name, note, columns }) {
  const groups = [...new Set(report.runs.flatMap((run) => run.groups))];
  const shown = (column) => groups.filter((group) => !column.groups || column.groups.includes(group));
  const value = (run, column, group) => {
    const place = run.groups.indexOf(group);
    return place < 0 ? null : column.value(run.figures[place]);
  };
  const head = h("thead", {},
    h("tr", {}, h("th", { scope: "col", rowspan: 2 }, "Run"), columns.map((column) => h("th", { scope: "colgroup", colspan: shown(column).length }, column.head))),
    h("tr", {}, columns.map((column) => shown(column).map((group, place) => h("th", { scope: "col", class: place ? "sub" : "sub opens" }, groupName(group))))));
  const body = report.runs.map((run, place) => h("tr", {}, h("th", { scope: "row" }, run.label, run.about.is_complete ? null : h("span", { class: "partial" }, "not complete")),
    columns.map((column) => shown(column).map((group, nth) => cell(report, place, column.name, group, value(run, column, group), column.digits, nth === 0)))));
  const rows = () => [["run", "group", ...columns.map((column) => column.name), ...(report.published ? columns.map((column) => `${column.name}_published`) : [])],
    ...report.runs.flatMap((run, place) => groups.map((group) => [run.label, group, ...columns.map((column) => value(run, column, group)),
      ...(report.published ? columns.map((column) => published(report, place, column.name, group)) : [])]))];
  return h("figure", { class: "wide", "data-figure": name },
    h("div", { class: "figure-head" }, h("h3", {}, title),
      h("span", { class: "saves" }, h("button", { type: "button", class: "save", "aria-label": `Download the data of: ${title}`, onclick: () => save(`${name}.csv`, "text/csv", csv(rows())) }, "CSV"))),
    h("div", { class: "table", tabindex: 0, role: "region", "aria-label": title }, h("table", {}, head, h("tbody", {}, body))),
    h("figcaption", {}, note, report.published ? ` Below each value, in grey: ${report.published.source}.` : ""));
}

function perMovement(outcome) {
  return (figures) => (figures.movements ? figures.counts[outcome] / figures.movements : null);
}

function comparisonTables(report) {
  return [
    comparison(report, {
      title: "Operations for each movement", name: "operations-per-movement",
      note: "How often agents acted for each handover of a user, arrivals after the beginning among them.",
      columns: [
        { head: "replicate", name: "replicate_per_movement", digits: 3, value: perMovement(3) },
        { head: "migrate", name: "migrate_per_movement", digits: 3, value: perMovement(2) },
        { head: "undeploy", name: "undeploy_per_movement", digits: 3, value: perMovement(0) },
      ],
    }),
    comparison(report, {
      title: "What clients and nodes felt", name: "response-and-usage",
      note: "Response time is the mean over users, then applications. Service usage is the rate that instances saw over what one handles: above 1 they are overloaded. r relates movements and operations by step; it is n/a where one of them never changes.",
      columns: [
        { head: "response time", name: "response", digits: 3, value: (figures) => figures.response },
        { head: "service usage", name: "service_usage", digits: 3, value: (figures) => figures.service_usage },
        { head: "inhibited", name: "inhibited", digits: 0, value: (figures) => figures.counts[4] },
        { head: "instances, mean", name: "instances_mean", digits: 1, value: (figures) => figures.instances[0] },
        { head: "r", name: "pearson_r", digits: 3, value: (figures) => figures.pearson_r },
        { head: "cycles to steady state", name: "cycles_mean", digits: 2, groups: ["all"], value: (figures) => figures.cycles_to_steady_state && figures.cycles_to_steady_state[0] },
      ],
    }),
  ];
}
