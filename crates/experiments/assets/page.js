// Puts the report together.

const view = { group: 0, by: window.innerWidth < 640 ? "step" : "cycle", visible: new Set([0, 2, 3, 4]) };

function section(id, title, text, ...content) {
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title),
    text ? h("p", { class: "lead" }, text) : null,
    content,
  );
}

function grid(...figures) {
  return h("div", { class: "grid" }, figures);
}

// Groups that some run has; each run may have its own kinds.
function groupChoice(report, name) {
  const groups = report.runs[0].groups;
  if (groups.length < 3 || report.runs.some((run) => run.groups.join() !== groups.join())) return null;
  return choice({
    name,
    label: "Applications",
    value: String(view.group),
    options: groups.map((group, place) => [String(place), groupName(group)]),
    change: (place) => setGroup(Number(place)),
  });
}

// One choice for the whole page, wherever it is made.
function setGroup(group) {
  view.group = group;
  document.querySelectorAll('input[name$="-group"]').forEach((input) => {
    input.checked = Number(input.value) === group;
  });
  redrawWithin(document.getElementById("main"));
}

function outcomeToggles(change) {
  return h(
    "fieldset",
    { class: "toggles" },
    h("legend", {}, "Shown"),
    STACK.map((outcome) =>
      h(
        "label",
        { class: "toggle" },
        h("input", {
          type: "checkbox",
          checked: view.visible.has(outcome),
          value: OUTCOMES[outcome],
          onchange: (event) => {
            if (event.target.checked) view.visible.add(outcome);
            else view.visible.delete(outcome);
            change();
          },
        }),
        h("span", { class: "swatch", style: `background:${outcomeColour(outcome)}` }),
        OUTCOMES[outcome],
      ),
    ),
  );
}

function summarySection(report) {
  const { runs } = report;
  const [first] = runs;
  const scenarios = [...new Set(runs.map((run) => `${run.about.scenario}, seed ${run.about.seed}`))];
  const about = [
    runs.length === 1
      ? `One run of ${scenarios[0]}`
      : scenarios.length === 1
        ? `${runs.length} runs of ${scenarios[0]}`
        : `${runs.length} runs`,
    plural(first.about.node_count, "node"),
    plural(first.about.user_count, "user"),
    plural(first.applications.length, "application"),
    `time 0 to ${amount(first.about.duration)}`,
  ];
  const partial = runs
    .filter((run) => !run.about.is_complete)
    .map((run) =>
      h(
        "p",
        { class: "notice partial-note" },
        `${run.label} is not complete: what is shown ends at time ${amount(run.about.until)} of ${amount(run.about.duration)}.`,
      ),
    );
  return h(
    "section",
    { id: "summary", class: "first" },
    h("h1", {}, report.title),
    h("p", { class: "lead" }, about.join(" \u00b7 ")),
    partial,
    h("h2", { class: "visually-hidden" }, "Figures of all runs"),
    comparisonTables(report),
  );
}

function claimsSection(report) {
  const { claims } = report;
  if (!claims.length) return null;
  const holding = claims.filter((claim) => claim.holds).length;
  return section(
    "claims",
    "What was claimed",
    `${holding} of ${claims.length} claims about these experiments hold in these runs. One world is one sample: with other users it may be others.`,
    h(
      "ul",
      { class: "claims" },
      claims.map((claim) =>
        h(
          "li",
          { class: claim.holds ? "holds" : "fails" },
          h("strong", {}, claim.holds ? "holds" : "does not hold"),
          h("span", {}, claim.claim, h("span", { class: "hint" }, ` ${claim.numbers}`)),
        ),
      ),
    ),
  );
}

function tableSection({ id, title, lead, head, rows, notes }) {
  return section(
    id,
    title,
    lead,
    h(
      "div",
      { class: "about texts", tabindex: 0, role: "region", "aria-label": title },
      h(
        "table",
        { class: "plain" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            head.map((text) => h(text ? "th" : "td", { scope: text ? "col" : null }, text)),
          ),
        ),
        h(
          "tbody",
          {},
          rows.map(([name, ...cells]) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, name),
              cells.map((cell, place) => h("td", { "data-head": head[place + 1] }, cell)),
            ),
          ),
        ),
      ),
    ),
    notes.map((note) => h("p", { class: "hint" }, note)),
  );
}

function operationsSection(report) {
  const charts = h("div", { class: "column" });
  const highest = () =>
    Math.max(
      ...report.runs.map((run) =>
        Math.max(
          0,
          ...barsOf(run, Math.min(view.group, run.groups.length - 1), view.by).map((bar) =>
            barHeight(bar, view.visible),
          ),
        ),
      ),
    );
  const change = () => redrawWithin(charts);
  report.runs.forEach((run) =>
    charts.append(
      figure({
        name: fileName("operations", run.label),
        title: run.label,
        wide: true,
        caption:
          run.bars.cycles_per_bar > 1 ? `By cycle, each bar stands for ${run.bars.cycles_per_bar} cycles.` : null,
        draw: (width) =>
          operationsChart(run, { ...view, group: Math.min(view.group, run.groups.length - 1) }, width, highest()),
        rows: () => operationsRows(run, view),
      }),
    ),
  );
  return section(
    "operations",
    "Operations",
    "What became of the agents over time. All runs have the same scale. The line is the number of handovers in each step, on the right axis; the first connections of users, in step 0, are not drawn.",
    h(
      "div",
      { class: "controls" },
      groupChoice(report, "operations-group"),
      choice({
        name: "by",
        label: "Bars",
        options: [
          ["cycle", "By cycle"],
          ["step", "By step"],
        ],
        value: view.by,
        change: (by) => {
          view.by = by;
          change();
        },
      }),
      outcomeToggles(change),
    ),
    charts,
  );
}

// A section with one small figure for each run, drawn for the chosen group of applications.
function groupedSection(report, id, title, text, describe) {
  const figures = grid();
  const control = groupChoice(report, `${id}-group`);
  report.runs.forEach((run) =>
    figures.append(figure(describe(run, () => Math.min(view.group, run.groups.length - 1)))),
  );
  return section(id, title, text, control ? h("div", { class: "controls" }, control) : null, figures);
}

function movementsSection(report) {
  return groupedSection(
    report,
    "movements",
    "Movements and operations",
    "One point for each step after the first; larger points are several steps. r is Pearson's correlation.",
    (run, group) => ({
      name: fileName("movements", run.label),
      title: run.label,
      draw: (width) => scatterChart(run, group(), width),
      rows: () => scatterRows(run),
      caption: `With the start, where the first connections count as movements, r is ${fixed(run.figures[0].pearson_r_with_start, 3)} for all applications.`,
    }),
  );
}

function steadySection(report) {
  return groupedSection(
    report,
    "steady",
    "Cycles to the steady state",
    "In each step, how many cycles had at least one operation before all agents stayed. Pale bars are steps in which nobody moved; they do not count for the mean.",
    (run, group) => ({
      name: fileName("steady", run.label),
      title: run.label,
      draw: (width) => steadyChart(run, group(), width),
      rows: () => steadyRows(run),
    }),
  );
}

function plainSection(report, id, title, text, describe) {
  return section(
    id,
    title,
    text,
    grid(report.runs.map((run) => figure({ name: fileName(id, run.label), title: run.label, ...describe(run) }))),
  );
}

function sections(report) {
  const stacked = (parts, samples, label) => (run) => ({
    draw: (width) =>
      stackedSteps({ times: samples(run).times, parts: parts(run), end: run.about.duration, label, width }),
    rows: () => stackedRows(samples(run).times, parts(run)),
  });
  return [
    ...report.tables.map(tableSection),
    claimsSection(report),
    operationsSection(report),
    movementsSection(report),
    plainSection(
      report,
      "instances",
      "Instances over time",
      "How many instances of each application there are.",
      stacked(applicationParts, (run) => run.instances, "instances"),
    ),
    report.runs.some((run) => run.asleep)
      ? plainSection(
          { ...report, runs: report.runs.filter((run) => run.asleep) },
          "asleep",
          "Sleepers over time",
          "How many instances of each application sleep.",
          stacked(asleepParts, (run) => run.asleep, "sleeping instances"),
        )
      : null,
    report.runs.some((run) => run.owners)
      ? plainSection(
          { ...report, runs: report.runs.filter((run) => run.owners) },
          "owners",
          "What owners of nodes did",
          "How many instances they have evicted and shrunk until then.",
          stacked(ownerParts, (run) => run.owners, "instances"),
        )
      : null,
    plainSection(
      report,
      "tiers",
      "Where instances live",
      "The same instances by the tier of their node, from the top of the infrastructure down.",
      stacked(tierParts, (run) => run.tiers, "instances"),
    ),
    plainSection(
      report,
      "responses",
      "Response times",
      "How long client requests took, by kind of application. The axis is logarithmic; the dashed line is the median.",
      (run) => ({ draw: (width) => distributionChart(run, width), rows: () => distributionRows(run) }),
    ),
    plainSection(
      report,
      "inhibited",
      "What was inhibited, where and why",
      "The nodes whose managers said no most often.",
      (run) => ({ draw: (width) => inhibitedChart(run, width), rows: () => inhibitedRows(run) }),
    ),
    steadySection(report),
    regretSection(report),
    scaleSection(report),
    section(
      "map",
      "The map",
      "Nodes by position, the tree between them, and the way of each user from access point to access point in the colour of the application used. Between access points the way is drawn as a curve; the trace does not have the streets.",
      grid(
        distinctMaps(report).map((run) =>
          figure({
            name: fileName("map", run.about.scenario, run.about.seed),
            title: `${run.about.scenario}, seed ${run.about.seed}`,
            wide: true,
            draw: (width) => mapChart(run, width),
            rows: () => mapRows(run),
          }),
        ),
      ),
    ),
  ].filter(Boolean);
}

// Runs with the same nodes and the same users' ways have the same map.
function distinctMaps(report) {
  const seen = new Set();
  return report.runs.filter((run) => {
    const key = JSON.stringify([run.nodes && run.nodes.ids, run.tracks]);
    return !seen.has(key) && seen.add(key);
  });
}

function aboutReport(report) {
  return [
    h("h2", {}, "About these runs"),
    aboutTable(report),
    h(
      "p",
      { class: "hint" },
      "Made from the traces of the runs alone. Colours: applications after Okabe and Ito, outcomes after Tol (bright); both are chosen to be told apart with any colour vision, and nothing is told by colour alone.",
    ),
  ];
}

function setUpTheme() {
  const button = document.getElementById("theme");
  const isDark = () =>
    document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === "dark"
      : window.matchMedia("(prefers-color-scheme: dark)").matches;
  const show = () => {
    button.textContent = isDark() ? "Light" : "Dark";
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    show();
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
}

let player = null;

function mount(report) {
  forgetFigures();
  document.title = `${report.title} \u2013 mario`;
  const main = document.getElementById("main");
  if (!report.runs.length) {
    const parts = [...report.tables.map(tableSection), scaleSection(report)].filter(Boolean);
    main.replaceChildren(
      ...(parts.length
        ? [h("section", { class: "first" }, h("h1", {}, report.title)), ...parts]
        : [h("p", { class: "notice" }, "There is no run to show yet.")]),
    );
    return;
  }
  const stage = h("div", { class: "player" });
  // Figures are drawn a frame later; until then the page keeps its height, so that nobody loses the place.
  main.style.minHeight = `${main.offsetHeight}px`;
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      main.style.minHeight = "";
    }),
  );
  main.replaceChildren(
    summarySection(report),
    section(
      "replay",
      "Replay",
      report.runs.some((run) => run.replay)
        ? "Squares are instances, each in a unit of its node and in the colour of its application; rings are users."
        : null,
      stage,
    ),
    ...sections(report),
  );
  player = new Player(report, stage, player);
  const names = {
    summary: "Summary",
    replay: "Replay",
    published: "Published",
    worlds: "Worlds",
    claims: "Claims",
    operations: "Operations",
    movements: "Movements",
    instances: "Instances",
    tiers: "Tiers",
    responses: "Responses",
    inhibited: "Inhibited",
    steady: "Steady state",
    regret: "Regret",
    scale: "Scale",
    map: "Map",
  };
  document.getElementById("sections").replaceChildren(
    ...Object.entries(names)
      .filter(([id]) => document.getElementById(id))
      .map(([id, name]) => h("a", { href: `#${id}` }, name)),
  );
  document.getElementById("about").replaceChildren(...aboutReport(report));
}

// A page that a program serves asks it now and then whether there is news.
function followNews() {
  let version = null;
  const ask = async () => {
    try {
      const news = await (await fetch("version")).text();
      if (version !== null && news !== version) mount(await (await fetch("data.json")).json());
      version = news;
    } catch {
      // The program ended; the page stays as it is.
    }
    setTimeout(ask, 1000);
  };
  ask();
}

setUpTheme();
mount(JSON.parse(document.getElementById("data").textContent));
if (document.documentElement.dataset.source === "live") followNews();
