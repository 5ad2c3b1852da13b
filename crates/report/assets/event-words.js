// What the page says of events and operations, by kind. The type checker asks for a row for each kind of event.

/**
 * The operations that change which instances are on a node, in the order in which they are counted.
 * @type {(AgentOperation & keyof OperationCounts)[]}
 */
const PLACEMENT_OPERATIONS = ["replicate", "migrate", "undeploy"];

/**
 * The kinds of events in the order of summaries and legends.
 * @type {{ [K in EventKind]: WordsOfKind<K> }}
 */
const EVENT_WORDS = {
  deployed: {
    look: "deploy",
    counted: ["deployed"],
    text: ({ node }, names) => `deployed on ${names.node(node)}`,
  },
  handover: { counted: ["handover", "handovers"] },
  migrate: {
    counted: ["migrate"],
    legend: "always",
    mark: "migrate",
    text: ({ node, renamed }, names) => {
      const as = renamed === undefined ? "" : `, as ${names.instance(renamed)}`;
      return `migrate from ${names.from} to ${names.node(node)} accepted${as}`;
    },
  },
  replicate: {
    counted: ["replicate"],
    legend: "always",
    mark: "replicate",
    onOwnNode: "on",
    text: ({ instance, node, replica }, names, seenBy) =>
      seenBy === replica
        ? `appeared on ${names.node(node)} as a replica of ${names.instance(instance)}`
        : `replicate to ${names.node(node)} accepted: ${names.instance(replica)} appeared`,
  },
  undeploy: {
    counted: ["undeploy"],
    legend: "always",
    mark: "undeploy",
    text: (_event, names) => `undeploy from ${names.from} accepted`,
  },
  adapt: {
    counted: ["adapt"],
    column: ["adapts", "adapt"],
    legend: "flavours",
    mark: "adapt",
    text: ({ instance, flavour }, names) => `runs as ${names.flavour(instance, flavour)}`,
  },
  evicted: {
    counted: ["evicted"],
    column: ["evicted by owners", "evicted"],
    legend: "found",
    mark: "evicted",
    text: ({ reason }, names) => `evicted by the owner of ${names.from}: ${names.reason(reason)}`,
  },
  announced: {
    look: "evicted",
    counted: ["eviction notices"],
    legend: "found",
    mark: "announced",
    text: ({ evaluations, reason }, names) =>
      `will be evicted from ${names.from} within ${plural(evaluations, "evaluation")}: ${names.reason(reason)}`,
  },
  shrunk: {
    counted: ["shrunk"],
    column: ["shrunk by owners", "shrunk"],
    legend: "found",
    mark: "shrunk",
    text: ({ instance, flavour, reason }, names) =>
      `shrunk to ${names.flavour(instance, flavour)} by the owner of ${names.from}: ${names.reason(reason)}`,
  },
  sleep: {
    counted: ["sleep"],
    column: ["sleeps", "sleep"],
    legend: "found",
    mark: "sleep",
    text: (_event, names) => `sleeps on ${names.from}`,
  },
  wake: {
    counted: ["wake"],
    column: ["wakes", "wake"],
    legend: "found",
    mark: "wake",
    text: (_event, names) => `wakes on ${names.from}`,
  },
  woken: {
    look: "wake",
    counted: ["woken by a request", "woken by requests"],
    column: ["woken by requests", "woken"],
    legend: "found",
    mark: "wake",
    text: (_event, names) => `woken on ${names.from} by a client request`,
  },
  notWoken: {
    look: "inhibited",
    counted: ["wake-ups inhibited"],
    column: ["wake-ups inhibited", "not_woken"],
    text: ({ reason }, names) => `wake-up for a client request inhibited by ${names.refusal(reason)}`,
  },
  inhibited: {
    counted: ["inhibited"],
    legend: "always",
    mark: "inhibited",
    text: (event, names) => {
      // Without a target, the operation has no node as target, but for example a flavour.
      const wanted = event.target === undefined ? OPERATIONS[event.operation] : names.wanted(event);
      return `${wanted} inhibited by ${names.refusal(event.reason)}`;
    },
  },
  deployInhibited: {
    look: "inhibited",
    counted: ["deploy inhibited"],
    text: ({ application, reason }, names) =>
      `deploy of ${names.application(application)} inhibited by ${names.refusal(reason)}`,
  },
  nodeDown: {
    look: "undeploy",
    counted: ["node down"],
    text: ({ node }, names) => `${names.node(node)} went down`,
  },
  nodeUp: {
    look: "deploy",
    counted: ["node up"],
    text: ({ node }, names) => `${names.node(node)} came up`,
  },
  nodeLeaving: {
    look: "undeploy",
    text: ({ node }, names) => `${names.node(node)} announced that it will leave`,
  },
  linkDown: { counted: ["link down"] },
  linkUp: { counted: ["link up"] },
};

const EVENT_KINDS = /** @type {EventKind[]} */ (Object.keys(EVENT_WORDS));

/**
 * The name of a flavour of an instance; "another flavour" if it is unknown.
 * @param {Replayed} run
 * @param {number} instance
 * @param {number} flavour
 */
function flavourOf(run, instance, flavour) {
  return run.applications[run.replay.instances[instance][1]].flavours?.[flavour]?.[0] ?? "another flavour";
}

/**
 * @param {Replayed} run
 * @param {number | string | undefined} target
 */
function targetName(run, target) {
  if (target === undefined) return "its own node";
  return typeof target === "number" ? run.nodes.ids[target] : `${target}, which no node is called`;
}

/**
 * An operation and its target in words.
 * @param {Replayed} run
 * @param {Wanted} wanted
 */
function wantedText(run, { operation, target }) {
  const word = OPERATIONS[operation];
  const kind = OPERATION_TARGETS[word];
  if (kind === null) return word;
  if (kind === "flavour") return `${word} to ${target}`;
  return `${word} ${target === undefined ? (EVENT_WORDS[word].onOwnNode ?? "to") : "to"} ${targetName(run, target)}`;
}

/**
 * A judgement in words, with its style class. With `instance`, from the point of view of that instance.
 * @param {RunHistory} history
 * @param {Judgement} judgement
 * @param {number} [instance]
 * @returns {[look: string, text: string]}
 */
function judgementText({ run }, { event, from }, instance) {
  /** @type {EventNames} */
  const names = {
    from: run.nodes.ids[from],
    instance: (place) => `${run.replay.instances[place][0]}`,
    application: (place) => run.applications[place].id,
    node: (place) => run.nodes.ids[place],
    flavour: (instance, flavour) => flavourOf(run, instance, flavour),
    wanted: (wanted) => wantedText(run, wanted),
    reason: (place) => run.replay.reasons[place][2],
    refusal: (place) => `${run.replay.reasons[place][0]}: ${run.replay.reasons[place][2]}`,
  };
  const { look, text } = /** @type {WordsOfKind<any>} */ (EVENT_WORDS[event.kind]);
  return text ? [look ?? event.kind, text(event, names, instance)] : ["nop", ""];
}
