// The details of an instance, with its last decision and the reasons, of a node, with its verdicts, and of a time.

/**
 * Describes the demand in the facts, independently of the policy.
 * @param {Replayed} run
 * @param {ApplicationRow} application
 * @param {Decision} decision
 */
function demandWords(run, application, { requests, free }) {
  const total = sum(requests.map(({ rate }) => rate));
  const { max_rate: handles, max_latency: tolerates } = application;
  if (!requests.length) return ["No client request reached it in the last period."];
  const words = [
    `${amount(total)} client requests reached it in the last period; one instance handles ${amount(handles)}${total > handles ? ": it is overloaded" : ""}.`,
  ];
  const late = sum(requests.filter(({ latency }) => latency > tolerates).map(({ rate }) => rate));
  words.push(
    late
      ? `${late === total ? "All" : amount(late)} of them were later than the tolerated ${amount(tolerates)}.`
      : `None was later than the tolerated ${amount(tolerates)}.`,
  );
  const through = new Map();
  for (const { neighbour, rate } of requests) through.set(neighbour, (through.get(neighbour) || 0) + rate);
  const [[busiest, rate]] = [...through].sort((one, other) => other[1] - one[1]);
  const where = busiest === undefined ? "clients on its own node" : run.nodes.ids[busiest];
  words.push(
    through.size === 1
      ? `All came ${busiest === undefined ? "from" : "through"} ${where}.`
      : `Most came ${busiest === undefined ? "from" : "through"} ${where} (${amount(rate)}).`,
  );
  words.push(
    free === undefined
      ? "Its node has no bound."
      : `${plural(free, "unit")} of its node ${free === 1 ? "was" : "were"} free.`,
  );
  return words;
}

/**
 * @param {RunHistory} history
 * @param {number} instance
 * @param {number} moment
 * @param {Choose} pick
 */
function instanceDetails(history, instance, moment, pick) {
  const { run } = history;
  const [id, application] = run.replay.instances[instance];
  const app = run.applications[application];
  const state = history.at(moment);
  const node = state.node[instance];
  const decision = history.decision(instance, moment);
  const judgements = history.before(history.ofInstance[instance], moment).reverse();
  return [
    h(
      "h3",
      {},
      h("span", { class: "swatch", style: `background:${applicationColour(firstDescription(run, application))}` }),
      `Instance ${id}`,
    ),
    h(
      "p",
      { class: "where" },
      `${app.id}${app.kind ? `, ${app.kind}` : ""}, ${history.flavourName(state, instance) ? `running as ${history.flavourName(state, instance)}, ` : ""}${state.asleep.has(instance) ? "asleep, " : ""}`,
      node < 0
        ? judgements.length
          ? "gone"
          : "not there yet"
        : [
            "on ",
            h("button", { type: "button", class: "link-button", onclick: () => pick({ node }) }, run.nodes.ids[node]),
          ],
    ),
    decision
      ? decisionDetails(run, app, run.policies[decision.policy], decision, history.moments[moment])
      : h("p", { class: "hint" }, noDecision(run)),
    judgements.length ? judgementList(history, judgements, "What became of it", instance) : null,
  ];
}

/** @param {Replayed} run */
function noDecision(run) {
  if (run.about.detail !== "full")
    return "This trace was kept without evaluations, so the facts and the clause behind each decision are not in it. Run with --trace full to see them.";
  return run.replay.has_all_decisions
    ? "It has not evaluated its policy yet."
    : "This run has too many decisions to keep them all in a page.";
}

/**
 * How often an agent has repeated a decision up to now, and when it last made it. Assumes that evaluations are evenly
 * spaced.
 * @param {Decision} decision
 * @param {number} now
 */
function repeats({ first, last, count }, now) {
  const spacing = count > 1 ? (last - first) / (count - 1) : Infinity;
  const more = Math.min(count - 1, Math.floor((now - first) / spacing));
  return [more, more ? first + more * spacing : first];
}

/**
 * @param {Replayed} run
 * @param {ApplicationRow} app
 * @param {PolicyText} policy
 * @param {Decision} decision
 * @param {number} now
 */
function decisionDetails(run, app, policy, decision, now) {
  const { first, requests, inhibited, solutions, ending, random, explanation } = decision;
  const [more, last] = repeats(decision, now);
  const chosen = solutions[0];
  const clause = chosen ? policy.clauses[chosen.clause] : null;
  const asked = !chosen
    ? "It asked for nothing"
    : chosen.operation === undefined
      ? `Its answer was no operation: ${chosen.invalid}`
      : `It asked to ${wantedText(run, { operation: chosen.operation, target: chosen.target })}`;
  const when = more
    ? `at time ${amount(first)}, and on the same facts ${plural(more, "time")} more until ${amount(last)}`
    : `at time ${amount(first)}`;
  const parts = explanationParts(run, explanation);
  return h(
    "div",
    { class: "decision" },
    h("p", { class: "asked" }, h("strong", {}, asked), ` ${when}.`),
    ending ? h("p", { class: "hint" }, `Its policy was stopped: ${ending}.`) : null,
    h("h4", {}, "What it saw"),
    h(
      "ul",
      { class: "why" },
      demandWords(run, app, decision).map((words) => h("li", {}, words)),
      inhibited.length
        ? h("li", {}, `It remembers as inhibited: ${list(inhibited.map((wanted) => wantedText(run, wanted)))}.`)
        : null,
      random === undefined ? null : h("li", {}, `${whole(random)} was drawn for it.`),
    ),
    requests.length ? h("details", {}, h("summary", {}, "All facts"), factsTable(run, app, requests)) : null,
    chosen
      ? [
          h("h4", {}, "Why"),
          h(
            "p",
            { class: "rule" },
            `The first answer came from clause ${chosen.clause + 1} of ${policy.name}${clause ? ` (${clause.place})` : ""}${parts || !clause ? "." : ":"}`,
          ),
          clause && !parts ? h("pre", { tabindex: 0 }, clause.text) : null,
          clause?.words.length
            ? h(
                "dl",
                { class: "words" },
                clause.words.map(([name, meaning]) => [h("dt", {}, name), h("dd", {}, meaning)]),
              )
            : null,
        ]
      : h("p", { class: "rule" }, `No clause of ${policy.name} had an answer.`),
    parts ? explanationDetails(parts) : hint(explanationMissing(run, decision)),
    policy.clauses.length
      ? h(
          "details",
          {},
          h("summary", {}, "All clauses of the policy"),
          policy.clauses.map(({ text }) => h("pre", { tabindex: 0 }, text)),
        )
      : null,
  );
}

/** @param {string | null} words */
function hint(words) {
  return words ? h("p", { class: "hint" }, words) : null;
}

/**
 * @param {Replayed} run
 * @param {ApplicationRow} app
 * @param {SeenRequests[]} requests
 */
function factsTable(run, app, requests) {
  return h(
    "table",
    { class: "facts" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ["through", "rate", "latency"].map((head) => h("th", { scope: "col" }, head)),
      ),
    ),
    h(
      "tbody",
      {},
      requests.map(({ neighbour, rate, latency }) =>
        h(
          "tr",
          {},
          h("td", {}, neighbour === undefined ? "self" : run.nodes.ids[neighbour]),
          h("td", {}, amount(rate)),
          h(
            "td",
            { class: latency > app.max_latency ? "late" : null },
            amount(latency),
            latency > app.max_latency ? " late" : "",
          ),
        ),
      ),
    ),
  );
}

/**
 * A list of judgements. Consecutive equal ones share a line, and at most 40 lines are shown.
 * @param {RunHistory} history
 * @param {Judgement[]} judgements
 * @param {string} title
 * @param {number} [instance]
 */
function judgementList(history, judgements, title, instance) {
  /** @type {{ kind: string, text: string, time: number, from: number, count: number }[]} */
  const lines = [];
  for (const judgement of judgements) {
    const [kind, text] = judgementText(history, judgement, instance);
    const { event } = judgement;
    const time = history.moments[event.moment];
    const who =
      instance === undefined && isOfPlacedInstance(event) ? `${history.run.replay.instances[event.instance][0]}: ` : "";
    const previous = lines[lines.length - 1];
    if (previous && previous.text === who + text) {
      previous.count += 1;
      previous.from = time;
    } else lines.push({ kind, text: who + text, time, from: time, count: 1 });
  }
  const shown = lines.slice(0, 40);
  return [
    h("h4", {}, title),
    h(
      "ol",
      { class: "judgements" },
      shown.map((line) =>
        h(
          "li",
          { class: line.kind },
          h("span", { class: "time" }, amount(line.time)),
          h(
            "span",
            {},
            line.text,
            line.count > 1 ? h("span", { class: "times" }, ` ${line.count} times since ${amount(line.from)}`) : null,
          ),
        ),
      ),
    ),
    lines.length > shown.length
      ? h("p", { class: "hint" }, `and ${plural(lines.length - shown.length, "line")} before.`)
      : null,
  ];
}

/**
 * @param {RunHistory} history
 * @param {number} node
 * @param {number} moment
 * @param {Choose} pick
 */
function nodeDetails(history, node, moment, pick) {
  const { run } = history;
  const state = history.at(moment);
  const capacity = run.nodes.capacities[node];
  const used = history.used(state, node);
  const users = state.user.filter((place) => place === node).length;
  const judgements = history.before(history.ofNode[node], moment).reverse();
  const inhibited = judgements.filter(
    ({ event }) => event.kind === "inhibited" || event.kind === "deployInhibited",
  ).length;
  const accepted = judgements.filter(({ event }) => isAccepted(event)).length;
  return [
    h("h3", {}, run.nodes.ids[node]),
    h(
      "p",
      { class: "where" },
      `${capital(tierName(run, run.nodes.tiers[node]))}. ${capacity < 0 ? `${used} units in use, no bound` : `${used} of ${plural(capacity, "unit")} in use`}${users ? `. ${plural(users, "user")} here` : ""}${state.down.has(node) ? ". Down" : ""}.`,
    ),
    state.on[node].length
      ? h(
          "p",
          { class: "tenants" },
          state.on[node].map((instance) => {
            const [id, application] = run.replay.instances[instance];
            return h(
              "button",
              { type: "button", class: "tenant", onclick: () => pick({ instance }) },
              h("span", {
                class: "swatch",
                style: `background:${applicationColour(firstDescription(run, application))}`,
              }),
              `${id}, ${run.applications[application].id}${history.flavourName(state, instance) ? `, ${history.flavourName(state, instance)}` : ""}${state.asleep.has(instance) ? ", asleep" : ""}`,
            );
          }),
        )
      : h("p", { class: "hint" }, "No instance is here."),
    judgements.length
      ? [
          h("p", {}, `${accepted} accepted, ${inhibited} inhibited so far.`),
          judgementList(history, judgements, "Its verdicts"),
        ]
      : h("p", { class: "hint" }, "Its manager has not been asked yet."),
  ];
}

/**
 * The events that are counted up to a time; counts of rare ones are shown only if they are not zero.
 * @type {[kind: EventKind, isRare?: true][]}
 */
const SO_FAR = [
  ...PLACEMENT_OPERATIONS.map((operation) => /** @type {[EventKind]} */ ([operation])),
  ...OPERATIONS.filter((operation) => !PLACEMENT_OPERATIONS.some((other) => other === operation)).map(
    (operation) => /** @type {[EventKind, true]} */ ([operation, true]),
  ),
  ["woken", true],
  ["shrunk", true],
  ["evicted", true],
  ["inhibited"],
];

/**
 * A summary of the current time, shown when nothing is selected.
 * @param {RunHistory} history
 * @param {number} moment
 */
function momentDetails(history, moment) {
  const { run } = history;
  const state = history.at(moment);
  /** @type {[application: number, tier: number][]} */
  const alive = [];
  state.node.forEach((node, instance) => {
    if (node >= 0) alive.push([run.replay.instances[instance][1], run.nodes.tiers[node]]);
  });
  const soFar = (/** @type {EventKind} */ kind) =>
    sum(history.eventsAt.slice(0, moment + 1).map((events) => events.filter((event) => event.kind === kind).length));
  const row = (/** @type {string} */ name, /** @type {number} */ count, /** @type {string} */ colour) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, colour ? h("span", { class: "swatch", style: `background:${colour}` }) : null, name),
      h("td", {}, whole(count)),
      h(
        "td",
        { class: "meter" },
        h("span", {
          style: `width:${(100 * count) / Math.max(1, alive.length)}%;background:${colour || "var(--soft)"}`,
        }),
      ),
    );
  const tiers = [...new Set(run.nodes.tiers)].sort((one, other) => one - other);
  return [
    h(
      "p",
      { class: "hint" },
      "Choose an instance to see what it decided last and why, or a node to see what its manager said.",
    ),
    h("h3", {}, plural(alive.length, "instance")),
    h(
      "table",
      { class: "now" },
      h(
        "tbody",
        {},
        run.applications
          .map((application, place) => ({ application, place }))
          .filter(({ application }) => isFirstDescription(application))
          .slice(0, 24)
          .map(({ application, place }) =>
            row(
              application.id,
              alive.filter(([other]) => firstDescription(run, other) === place).length,
              applicationColour(place),
            ),
          ),
      ),
    ),
    h("h4", {}, "By tier"),
    h(
      "table",
      { class: "now" },
      h(
        "tbody",
        {},
        tiers
          .slice(0, 12)
          .map((tier) =>
            row(
              tierName(run, tier),
              alive.filter(([, other]) => other === tier).length,
              tierColour(tier, tiers.length),
            ),
          ),
      ),
    ),
    h("h4", {}, "So far"),
    h(
      "table",
      { class: "now" },
      h(
        "tbody",
        {},
        SO_FAR.filter(([kind, isRare]) => !isRare || soFar(kind)).map(([kind]) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, h("span", { class: "swatch", style: `background:var(--${kind})` }), kind),
            h("td", {}, whole(soFar(kind))),
            h("td", { class: "meter" }),
          ),
        ),
      ),
    ),
  ];
}
