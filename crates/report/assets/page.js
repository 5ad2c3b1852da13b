// Builds the page from its data, and again when a server has new data.

/** Removes the listeners of the current content when new content replaces it. */
let mounted = new AbortController();

/**
 * The scenario and the seed of a run, or the live colony that it is of.
 * @param {Run} run
 */
function originOf({ about }) {
  if (about.has_no_clients) return `live colony ${about.scenario}`;
  return `${about.scenario}, seed ${about.seed}${about.is_live ? ", live" : ""}`;
}

/** @param {PageData} report */
function summarySection(report) {
  const { runs } = report;
  const [first] = runs;
  const scenarios = [...new Set(runs.map(originOf))];
  const about = [
    runs.length === 1 && first.about.has_no_clients
      ? capital(scenarios[0])
      : runs.length === 1
        ? `One run of ${scenarios[0]}`
        : scenarios.length === 1
          ? `${runs.length} runs of ${scenarios[0]}`
          : `${runs.length} runs`,
    plural(first.about.node_count, "node"),
    ...(first.about.has_no_clients ? [] : [plural(first.about.user_count, "user")]),
    plural(first.applications.filter(isFirstDescription).length, "application"),
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

/** @param {PageData} report */
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

/**
 * Whether a cell is a number, possibly with an interval or a unit, or has none.
 * @param {string} text
 */
const isNumber = (text) => /^(n\/a|-|[<>\u2212+-]?\s*\d\S*( ?[±%] ?[\d.,]*)?)?$/.test(text);

/** @param {Table} table */
function tableSection({ id, title, lead, head, rows, notes }) {
  // Texts, such as verdicts, are left-aligned and wrap.
  const kind = head.map((_, place) => (rows.every((row) => isNumber(row[place])) ? null : "words"));
  const content = h(
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
          head.map((text, place) => h(text ? "th" : "td", { scope: text ? "col" : null, class: kind[place] }, text)),
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
            cells.map((cell, place) => h("td", { "data-head": head[place + 1], class: kind[place + 1] }, cell)),
          ),
        ),
      ),
    ),
  );
  const caption = notes.join(" ");
  const data = () => csv([head, ...rows]);
  const table = card({ name: id, title, caption, isWide: true, content, data });
  return section(id, title, lead, h("div", { class: "column" }, table));
}

/**
 * Makes a choice for the whole page, and updates all controls for it.
 * @param {"group" | "by" | "measure"} key
 * @param {string} value
 */
function choose(key, value) {
  chosen[key] = value;
  for (const input of document.querySelectorAll(`input[name$="-${key}"]`)) {
    if (input instanceof HTMLInputElement) input.checked = input.value === value;
  }
  showFigures();
}

/** @param {Choice} described */
function outcomeToggles({ label, options }) {
  const toggle = (/** @type {string} */ outcome, /** @type {boolean} */ isShown) => {
    if (isShown) chosen.outcomes.add(outcome);
    else chosen.outcomes.delete(outcome);
    showFigures();
  };
  return h(
    "fieldset",
    { class: "toggles" },
    h("legend", {}, label),
    options.map(([outcome, name]) =>
      h(
        "label",
        { class: "toggle" },
        h("input", {
          type: "checkbox",
          checked: chosen.outcomes.has(outcome),
          value: outcome,
          onchange: (event) => toggle(outcome, event.target.checked),
        }),
        h("span", { class: "swatch", style: `background:var(--${outcome})` }),
        name,
      ),
    ),
  );
}

/** @param {Section} described */
function figuresSection({ id, title, lead, choices, figures }) {
  const control = (/** @type {Choice} */ described) => {
    const { key, label, options } = described;
    if (key === "outcomes") return outcomeToggles(described);
    const change = (/** @type {string} */ value) => choose(key, value);
    return choice({ name: `${id}-${key}`, label, options, value: chosen[key], change });
  };
  return section(
    id,
    title,
    lead,
    choices.length ? h("div", { class: "controls" }, choices.map(control)) : null,
    h("div", { class: figures.every((one) => one.is_wide) ? "column" : "grid" }, figures.map(figure)),
  );
}

/** @param {PageData} report */
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

/** @type {Player | null} */
let player = null;

/** @param {PageData} report */
function mount(report) {
  mounted.abort();
  mounted = new AbortController();
  forgetFigures();
  document.title = `${report.title} \u2013 mario`;
  const main = byId("main");
  const parts = [report.tables.map(tableSection), claimsSection(report), report.sections.map(figuresSection)].flat();
  if (!report.runs.length) {
    const title = h("section", { class: "first" }, h("h1", {}, report.title));
    const isEmpty = !parts.some(Boolean);
    refill(main, isEmpty ? h("p", { class: "notice" }, "There is no run to show yet.") : [title, parts]);
    return;
  }
  const stage = h("div", { class: "player" });
  // Figures are drawn a frame later. Until then, the page keeps its height, and so its scroll position.
  main.style.minHeight = `${main.offsetHeight}px`;
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      main.style.minHeight = "";
    }),
  );
  const lead = report.runs.some((run) => run.replay)
    ? "Squares are instances, each in a unit of its node and in the colour of its application; rings are users."
    : null;
  refill(main, summarySection(report), section("replay", "Replay", lead, stage), parts);
  player = new Player(report, stage, player);
  const names = [
    ["summary", "Summary"],
    ["replay", "Replay"],
    ["published", "Published"],
    ["worlds", "Worlds"],
    ["claims", "Claims"],
    ...report.sections.map(({ id, name }) => [id, name]),
  ];
  refill(
    byId("sections"),
    names.filter(([id]) => document.getElementById(id)).map(([id, name]) => h("a", { href: `#${id}` }, name)),
  );
  refill(byId("about"), aboutReport(report));
}

// Polls the server every second. When the version changes, replaces the content.
function followNews() {
  /** @type {string | null} */
  let version = null;
  const ask = async () => {
    try {
      const news = await (await fetch("version")).text();
      if (version !== null && news !== version) mount(await (await fetch("data.json")).json());
      version = news;
    } catch {
      // The server cannot be reached. The page stays unchanged, and asks again.
    }
    setTimeout(ask, 1000);
  };
  ask();
}

setUpTheme();
mount(JSON.parse(byId("data").textContent ?? ""));
if (document.documentElement.dataset.source === "live") followNews();
