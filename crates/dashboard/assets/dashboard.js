// Builds the page, and keeps it up to date.

const view = {
  /** @type {Snapshot | null} */
  picture: null,
  /** @type {string | null} */
  lastId: null,
  /** @type {Picked | null} */
  picked: null,
  /** @type {number | null} */
  lostSince: null,
  isOver: false,
  /** @type {Set<string>} */
  unfolded: new Set(),
  openedAt: 0,
  isRefreshing: false,
  // The problems and the legend as shown, so that they are redrawn only when they change.
  problems: "",
  legend: "",
};

const parts = {
  map: new ColonyMap(pick),
  details: new Details(pick),
  applications: new Applications(),
  log: new Log(pick),
  title: h("h1", {}, "Colony"),
  lead: h("p", { class: "lead" }, "Waiting for the nodes."),
  facts: h("p", { class: "hint facts-line" }),
  problems: h("ul", { class: "problems", "aria-live": "polite", "aria-label": "Problems" }),
  faults: h("p", { class: "notice", hidden: true }),
  over: h("p", { class: "notice over-note", role: "status", hidden: true }),
  lost: h("p", { class: "notice lost-note", role: "alert", hidden: true }),
  nodeList: h("select", {
    "aria-label": "Choose a node",
    "data-pick": "node",
    onchange: (event) => pick(event.target.value ? { node: event.target.value } : null),
  }),
  instanceList: h("select", {
    "aria-label": "Choose an instance",
    "data-pick": "instance",
    onchange: (event) => pick(event.target.value ? { instance: event.target.value } : null),
  }),
  legend: h("div", { class: "legend", "aria-label": "Legend" }),
  happened: h("p", { class: "happened", role: "status" }),
  links: h("div", { class: "table panel", tabindex: 0, role: "region", "aria-label": "Table of links" }),
};

function build() {
  byId("main").replaceChildren(
    h(
      "section",
      { class: "first", id: "state", "aria-label": "State" },
      parts.title,
      parts.lead,
      parts.facts,
      parts.over,
      parts.lost,
      parts.problems,
      parts.faults,
    ),
    section(
      "map",
      "Map",
      null,
      h(
        "div",
        { class: "player" },
        h("div", { class: "tools" }, parts.legend),
        h(
          "div",
          { class: "replay" },
          h("div", { class: "stage-column" }, parts.map.root, parts.happened),
          h(
            "div",
            { class: "side" },
            h("div", { class: "pickers" }, parts.nodeList, parts.instanceList),
            parts.details.element,
          ),
        ),
        parts.details.below,
      ),
    ),
    section("applications", "Applications", null, parts.applications.element),
    section("links", "Links", "Round trips as the nodes measure them.", parts.links),
    section("log", "Log", null, parts.log.element),
  );
  byId("about").replaceChildren(
    h(
      "p",
      { class: "hint" },
      "The page shows what the nodes report to an operator, and stores nothing. ",
      h("a", { href: "snapshot.json" }, "snapshot.json"),
      " has all of it. Escape clears the selection.",
    ),
  );
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && view.picked) pick(null);
  });
}

/** @param {Picked | null} picked */
function pick(picked) {
  view.picked = picked;
  parts.map.select(picked);
  parts.nodeList.value = picked?.node ?? "";
  parts.instanceList.value = picked?.instance ?? "";
  if (view.picture) parts.details.choose(picked);
  // On a narrow screen, the details are below the map.
  if (picked && window.innerWidth <= 900) parts.details.element.scrollIntoView({ block: "nearest" });
}

/** @param {Snapshot} picture */
function showPicture(picture) {
  picture.applications.sort((one, other) => compareIds(one.id, other.id));
  picture.nodes.sort((one, other) => compareIds(one.id, other.id));
  view.picture = picture;
  const title = typeof picture.title === "string" ? picture.title : "Colony";
  parts.title.textContent = title;
  showEnd(picture);
  document.title = `${picture.problems.length ? `(${picture.problems.length}) ` : ""}${title} \u2013 mario`;
  const rate = sum(picture.nodes.map((node) => node.requests_per_s ?? 0));
  const users = sum(picture.nodes.map((node) => Number(node.users ?? 0)));
  parts.lead.textContent = `${picture.outcome ? "At its end: " : ""}${plural(picture.nodes.length, "node")}, ${
    picture.answering === picture.watched
      ? picture.watched === 1
        ? "one of which is polled and answers"
        : picture.watched === picture.nodes.length
          ? "all of which answer"
          : `${picture.watched} of which are polled and answer`
      : `${picture.answering} of the ${picture.watched} that are polled answer`
  }; ${plural(picture.instances.length, "instance")} of ${plural(picture.applications.length, "application")}; ${(perSecond(rate) ?? "").replace("/s", "")} client requests per second${users ? `; ${plural(users, "user")}` : ""}.`;
  const facts = picture.facts && typeof picture.facts === "object" ? Object.entries(picture.facts) : [];
  parts.facts.textContent = facts.map(([name, value]) => `${name} ${value}`).join(" · ");
  showProblems(picture);
  showLegend(picture);
  parts.details.picture = picture;
  parts.map.show(picture);
  parts.applications.show(picture);
  showLinks(picture);
  fillList(
    parts.nodeList,
    "Node…",
    picture.nodes.map(({ id }) => [id, id]),
    view.picked?.node,
  );
  fillList(
    parts.instanceList,
    "Instance…",
    picture.instances.map(({ id, application, node }) => [id, `${brief(id)}, ${application}, ${node}`]),
    view.picked?.instance,
  );
  if (!view.isRefreshing) {
    view.isRefreshing = true;
    parts.details.refresh();
    setTimeout(() => {
      view.isRefreshing = false;
    }, 400);
  }
}

/**
 * Says that the run is over, and how it ended, if so.
 * @param {Snapshot} picture
 */
function showEnd({ outcome }) {
  view.isOver = outcome !== null;
  document.documentElement.classList.toggle("over", view.isOver);
  parts.over.hidden = !view.isOver;
  parts.over.replaceChildren(h("strong", {}, "The run is over."), ` ${outcome ?? ""} The page shows its last state.`);
  if (view.isOver) {
    byId("connection").textContent = "over";
    parts.details.keepAll();
  } else parts.details.last = null;
}

/** @param {Snapshot} picture */
function showProblems({ problems, faults, watched, answering, outcome }) {
  const text = JSON.stringify([
    problems.map(({ text: words, severity, parts: nodes = [] }) => [
      words.replace(/for \d+ s/, ""),
      severity,
      nodes.map(({ node }) => node),
    ]),
    watched,
    answering,
    outcome,
  ]);
  if (text !== view.problems) {
    view.problems = text;
    const about = (/** @type {Problem} */ { node, instance }) => (instance ? { instance } : node ? { node } : null);
    parts.problems.replaceChildren(
      ...(problems.length
        ? problems.map((problem) =>
            h(
              "li",
              { class: problem.severity },
              h("strong", {}, problem.severity === "bad" ? "Wrong" : "Note"),
              h(
                "span",
                {},
                problem.parts ? foldedProblem(problem) : brief(problem.text),
                about(problem)
                  ? [
                      " ",
                      h(
                        "button",
                        { type: "button", class: "link-button", onclick: () => pick(about(problem)) },
                        "show",
                      ),
                    ]
                  : null,
              ),
            ),
          )
        : answering
          ? [
              h(
                "li",
                { class: "well" },
                outcome === null ? "Nothing is wrong with the nodes that are polled." : "Nothing was wrong at the end.",
              ),
            ]
          : []),
    );
  }
  const list = Array.isArray(faults) ? faults.map(String) : [];
  parts.faults.hidden = !list.length;
  parts.faults.textContent = list.length ? `Caused on purpose: ${list.join("; ")}.` : "";
}

/**
 * A problem of several nodes as one line, which expands to the list of nodes.
 * @param {Problem} problem
 */
function foldedProblem({ text, parts: nodes = [] }) {
  const kind = text.replace(/\d+/, "");
  const toggled = (/** @type {any} */ event) => {
    view.unfolded[event.target.open ? "add" : "delete"](kind);
  };
  return h(
    "details",
    { class: "folded", ontoggle: toggled, open: view.unfolded.has(kind) || null },
    h("summary", {}, brief(text)),
    h(
      "ul",
      {},
      nodes.map(({ text: words, node }) =>
        h(
          "li",
          {},
          brief(words),
          " ",
          h("button", { type: "button", class: "link-button", onclick: () => pick({ node }) }, "show"),
        ),
      ),
    ),
  );
}

/** @param {Snapshot} picture */
function showLegend(picture) {
  const names = picture.applications.map(({ id }) => id);
  const hasUsers = picture.nodes.some(({ users }) => users);
  const text = JSON.stringify([names, hasUsers]);
  if (text === view.legend) return;
  view.legend = text;
  parts.legend.replaceChildren(
    ...names
      .slice(0, 12)
      .map((name) =>
        h(
          "span",
          { class: "key" },
          h("span", { class: "swatch", style: `background:${colourOf(picture, name)}` }),
          name,
        ),
      ),
    ...(hasUsers ? [h("span", { class: "key" }, h("span", { class: "ring" }), "user")] : []),
    ...[...OPERATION_KINDS.filter((kind) => Object.hasOwn(OPERATION_TARGETS, kind)), "inhibited"].map((name) =>
      h("span", { class: `key mark-key ${name}` }, name),
    ),
  );
}

/** @param {Snapshot} picture */
function showLinks({ links }) {
  parts.links.replaceChildren(
    links.length
      ? h(
          "table",
          { class: "plain" },
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              ["between", "round trip", "state"].map((head) => h("th", { scope: "col" }, head)),
            ),
          ),
          h(
            "tbody",
            {},
            links.map(({ ends, is_up: isUp, has_data: hasData, round_trip_ms: trip }) =>
              h(
                "tr",
                {},
                h("th", { scope: "row" }, ends.join(" – ")),
                h("td", {}, trip === null ? "–" : milliseconds(trip)),
                h(
                  "td",
                  { class: isUp === false || hasData === false ? "late" : null },
                  isUp === null ? "not known" : isUp ? (hasData ? "up" : "passes no client requests") : "down",
                ),
              ),
            ),
          ),
        )
      : h("p", { class: "hint" }, "No link is known yet."),
  );
}

/**
 * Replaces the options of a list only if they have changed, so that an open list stays open.
 * @param {HTMLSelectElement} list
 * @param {string} label
 * @param {[value: string, words: string][]} options
 * @param {string} [chosen]
 */
function fillList(list, label, options, chosen) {
  const text = JSON.stringify(options);
  if (text !== list.dataset.text) {
    list.dataset.text = text;
    list.replaceChildren(
      h("option", { value: "" }, label),
      ...options.map(([value, words]) => h("option", { value }, words)),
    );
  }
  const wanted = chosen ?? "";
  if (list.value !== wanted) list.value = wanted;
}

/**
 * @param {Happening} happening
 * @param {string} id
 */
function happened(happening, id) {
  view.lastId = id;
  parts.log.add(happening);
  // The events sent when the page opens are in the past: drawing all of them at once would cover the map.
  if (!happening.is_fresh || Date.now() - view.openedAt < 1000) return;
  parts.map.happened(happening);
  if ([...OPERATION_KINDS, "inhibited"].includes(happening.kind))
    parts.happened.textContent = `${clock(happening.time_ms)} ${brief(happening.text)}`;
}

/** @param {boolean} isThere */
function showConnection(isThere) {
  // The server ends soon after the run. A new run on the same port is shown when it begins.
  if (view.isOver && !isThere) return;
  const pill = byId("connection");
  document.documentElement.classList.toggle("lost", !isThere);
  const since = view.lostSince ?? Date.now();
  view.lostSince = isThere ? null : since;
  pill.textContent = isThere ? "live" : "no connection";
  parts.lost.hidden = isThere;
  parts.lost.textContent = isThere
    ? ""
    : `The connection to the dashboard was lost at ${clock(since)}. The page shows the state at that time, and tries to reconnect every second.`;
}

// Follows the event stream of the server. A stream that fails, or is silent for 12 seconds, is reopened, and resumes
// after the last event.
function follow() {
  view.openedAt = Date.now();
  const stream = new EventSource(`events${view.lastId ? `?last=${view.lastId}` : ""}`);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let alive;
  const again = () => {
    stream.close();
    clearTimeout(alive);
    showConnection(false);
    setTimeout(follow, view.isOver ? 5000 : 1000);
  };
  const isAlive = () => {
    clearTimeout(alive);
    alive = setTimeout(again, 12000);
  };
  const on = (/** @type {string} */ name, /** @type {(told: any, id: string) => void} */ act) =>
    stream.addEventListener(name, (event) => {
      isAlive();
      act(JSON.parse(event.data), event.lastEventId);
    });
  isAlive();
  stream.onerror = again;
  on("hello", ({ is_resumed: isResumed }) => {
    showConnection(true);
    if (!isResumed) parts.log.clear();
  });
  on("picture", showPicture);
  on("sample", () => parts.applications.refresh());
  on("happened", happened);
  on("alive", () => {});
}

setUpTheme();
build();
follow();
