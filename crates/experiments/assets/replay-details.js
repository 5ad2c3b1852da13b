// The details of an instance, with its last decision and the reasons, and of a node, with its verdicts.

/**
 * The name of a flavour of an instance.
 * @param {Replayed} run
 * @param {number} instance
 * @param {number} flavour
 */
function flavourOf(run, instance, flavour) {
  return run.applications[run.replay.instances[instance][1]].flavours?.[flavour]?.[0] ?? "another flavour";
}

/**
 * @param {Replayed} run
 * @param {number | string | null} target
 */
function targetName(run, target) {
  if (target === -1) return "its own node";
  return typeof target === "number" ? run.nodes.ids[target] : `${target}, which no node is called`;
}

/**
 * @param {Replayed} run
 * @param {[operation: number, target: number | string | null]} wish
 */
function wishText(run, [operation, target]) {
  const word = OPERATIONS[operation];
  if (word === "adapt") return `adapt to ${target}`;
  return ["undeploy", "sleep", "wake"].includes(word)
    ? word
    : `${word} ${word === "replicate" && target === -1 ? "on" : "to"} ${targetName(run, target)}`;
}

/**
 * A judgement in words: `[kind, text]`.
 * @param {RunHistory} history
 * @param {Judgement} judgement
 * @param {number} [instance]
 * @returns {[kind: string, text: string]}
 */
function judgementText(history, { event, from }, instance) {
  const { run } = history;
  const [, code, first, second, third, fourth] = event;
  const name = (/** @type {number} */ place) => run.replay.instances[place][0];
  const node = (/** @type {number} */ place) => run.nodes.ids[place];
  switch (code) {
    case EVENT.deployed:
      return ["deploy", `deployed on ${node(second)}`];
    case EVENT.migrate:
      return [
        "migrate",
        `migrate from ${node(from)} to ${node(second)} accepted${third >= 0 ? `, as ${name(third)}` : ""}`,
      ];
    case EVENT.replicate:
      return instance === third
        ? ["replicate", `appeared on ${node(second)} as a replica of ${name(first)}`]
        : ["replicate", `replicate to ${node(second)} accepted: ${name(third)} appeared`];
    case EVENT.adapt:
      return ["adapt", `runs as ${flavourOf(run, first, second)}`];
    case EVENT.undeploy:
      return ["undeploy", `undeploy from ${node(from)} accepted`];
    case EVENT.evicted:
      return ["evicted", `evicted by the owner of ${node(from)}: ${run.replay.reasons[second][2]}`];
    case EVENT.shrunk:
      return [
        "shrunk",
        `shrunk to ${flavourOf(run, first, second)} by the owner of ${node(from)}: ${run.replay.reasons[third][2]}`,
      ];
    case EVENT.announced:
      return [
        "evicted",
        `told to leave ${node(from)} within ${plural(second, "evaluation")}: ${run.replay.reasons[third][2]}`,
      ];
    case EVENT.sleep:
      return ["sleep", `sleeps on ${node(from)}`];
    case EVENT.wake:
      return ["wake", `wakes on ${node(from)}`];
    case EVENT.woken:
      return ["wake", `woken on ${node(from)} by a client request`];
    case EVENT.notWoken: {
      const [manager, , words] = run.replay.reasons[second];
      return ["inhibited", `a client request was not let wake it by ${manager}: ${words}`];
    }
    case EVENT.inhibited: {
      const [manager, , words] = run.replay.reasons[fourth];
      return ["inhibited", `${wishText(run, [second, third])} inhibited by ${manager}: ${words}`];
    }
    case EVENT.deployInhibited: {
      const [manager, , words] = run.replay.reasons[third];
      return ["inhibited", `deploy of ${run.applications[first].id} inhibited by ${manager}: ${words}`];
    }
    case EVENT.nodeDown:
      return ["undeploy", `${node(first)} went down`];
    case EVENT.nodeUp:
      return ["deploy", `${node(first)} came up`];
    case EVENT.nodeLeaving:
      return ["undeploy", `${node(first)} announced that it will leave`];
    default:
      return ["nop", ""];
  }
}

/**
 * Describes the demand in the facts, independently of the policy.
 * @param {Replayed} run
 * @param {ApplicationRow} application
 * @param {RequestFact[]} requests
 * @param {number} free
 */
function demandWords(run, application, requests, free) {
  const total = sum(requests.map(([, rate]) => rate));
  const { max_rate: handles, max_latency: tolerates } = application;
  if (!requests.length) return ["No client request reached it in the last period."];
  const words = [
    `${amount(total)} client requests reached it in the last period; one instance handles ${amount(handles)}${total > handles ? ": it is overloaded" : ""}.`,
  ];
  const late = sum(requests.filter(([, , latency]) => latency > tolerates).map(([, rate]) => rate));
  words.push(
    late
      ? `${late === total ? "All" : amount(late)} of them were later than the tolerated ${amount(tolerates)}.`
      : `None was later than the tolerated ${amount(tolerates)}.`,
  );
  const through = new Map();
  for (const [neighbour, rate] of requests) through.set(neighbour, (through.get(neighbour) || 0) + rate);
  const [[busiest, rate]] = [...through].sort((one, other) => other[1] - one[1]);
  const where = busiest === -1 ? "clients on its own node" : run.nodes.ids[busiest];
  words.push(
    through.size === 1
      ? `All came ${busiest === -1 ? "from" : "through"} ${where}.`
      : `Most came ${busiest === -1 ? "from" : "through"} ${where} (${amount(rate)}).`,
  );
  words.push(
    free < 0 ? "Its node has no bound." : `${plural(free, "unit")} of its node ${free === 1 ? "was" : "were"} free.`,
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
      h("span", { class: "swatch", style: `background:${applicationColour(application)}` }),
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
      ? decisionDetails(run, app, run.policies[decision[7]], decision, history.moments[moment])
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
 * How often an agent has made this decision up to now, and when last: consecutive evaluations are evenly spaced.
 * @param {Decision} decision
 * @param {number} now
 */
function repeats([first, last, count], now) {
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
  const [first, , , , free, seen, place] = decision;
  const [more, last] = repeats(decision, now);
  const [requests = [], inhibited = [], solutions = [], ending = null, random = null] = seen;
  const chosen = solutions[0];
  const clause = chosen ? policy.clauses[chosen[2]] : null;
  const asked = !chosen
    ? "It asked for nothing"
    : typeof chosen[0] === "number"
      ? `It asked to ${wishText(run, [chosen[0], chosen[1]])}`
      : `Its answer was no operation: ${chosen[0]}`;
  const when = more
    ? `at time ${amount(first)}, and on the same facts ${plural(more, "time")} more until ${amount(last)}`
    : `at time ${amount(first)}`;
  const parts = explanationParts(run, place);
  return h(
    "div",
    { class: "decision" },
    h("p", { class: "asked" }, h("strong", {}, asked), ` ${when}.`),
    ending ? h("p", { class: "hint" }, `Its policy was stopped: ${ending}.`) : null,
    h("h4", {}, "What it saw"),
    h(
      "ul",
      { class: "why" },
      demandWords(run, app, requests, free).map((words) => h("li", {}, words)),
      inhibited.length
        ? h("li", {}, `It remembers as inhibited: ${list(inhibited.map((wish) => wishText(run, wish)))}.`)
        : null,
      random === null ? null : h("li", {}, `${whole(random)} was drawn for it.`),
    ),
    requests.length ? h("details", {}, h("summary", {}, "All facts"), factsTable(run, app, requests)) : null,
    chosen
      ? [
          h("h4", {}, "Why"),
          h(
            "p",
            { class: "rule" },
            `The first answer came from clause ${chosen[2] + 1} of ${policy.name}${clause ? ` (${clause.place})` : ""}${parts || !clause ? "." : ":"}`,
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
    parts ? explanationDetails(parts) : hint(explanationMissing(run, place)),
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
 * @param {RequestFact[]} requests
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
      requests.map(([neighbour, rate, latency]) =>
        h(
          "tr",
          {},
          h("td", {}, neighbour === -1 ? "self" : run.nodes.ids[neighbour]),
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
 * Consecutive equal verdicts share a line.
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
    const time = history.moments[judgement.event[0]];
    const code = judgement.event[1];
    const isOfInstance =
      (code >= EVENT.migrate && code <= EVENT.inhibited) || (code >= EVENT.evicted && code <= EVENT.notWoken);
    const who =
      instance === undefined && isOfInstance ? `${history.run.replay.instances[judgement.event[2]][0]}: ` : "";
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
    ({ event }) => event[1] === EVENT.inhibited || event[1] === EVENT.deployInhibited,
  ).length;
  const accepted = judgements.filter(({ event }) => event[1] >= EVENT.migrate && event[1] <= EVENT.undeploy).length;
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
              h("span", { class: "swatch", style: `background:${applicationColour(application)}` }),
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
 * The counts up to a time; rare ones are shown only if they are not zero.
 * @type {[name: string, code: number, isRare?: true][]}
 */
const SO_FAR = [
  ["replicate", EVENT.replicate],
  ["migrate", EVENT.migrate],
  ["undeploy", EVENT.undeploy],
  ["adapt", EVENT.adapt, true],
  ["sleep", EVENT.sleep, true],
  ["wake", EVENT.wake, true],
  ["woken", EVENT.woken, true],
  ["shrunk", EVENT.shrunk, true],
  ["evicted", EVENT.evicted, true],
  ["inhibited", EVENT.inhibited],
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
  const soFar = (/** @type {number} */ code) =>
    sum(history.eventsAt.slice(0, moment + 1).map((events) => events.filter((event) => event[1] === code).length));
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
          .slice(0, 24)
          .map((application, place) =>
            row(application.id, alive.filter(([other]) => other === place).length, applicationColour(place)),
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
        SO_FAR.filter(([, code, isRare]) => !isRare || soFar(code)).map(([name, code]) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, h("span", { class: "swatch", style: `background:var(--${name})` }), name),
            h("td", {}, whole(soFar(code))),
            h("td", { class: "meter" }),
          ),
        ),
      ),
    ),
  ];
}
