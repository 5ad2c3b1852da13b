// The state at each time of a run, computed from its events and from checkpoints.

const CHECKPOINT_EVERY = 48;

class RunHistory {
  /** @param {Replayed} run */
  constructor(run) {
    this.run = run;
    const { replay } = run;
    this.moments = replay.moments;
    /** @type {ReplayEvent[][]} */
    this.eventsAt = this.moments.map(() => []);
    /** @type {Judgement[][]} */
    this.ofInstance = replay.instances.map(() => []);
    /** @type {Judgement[][]} */
    this.ofNode = run.nodes.ids.map(() => []);
    this.places = new Map(run.nodes.ids.map((id, place) => [id, place]));
    this.checkpoints = [this.blank()];
    const state = this.blank();
    eventsOf(replay.events).forEach((event) => this.eventsAt[event.moment].push(event));
    /** @type {Decision[][]} */
    this.decisions = replay.instances.map(() => []);
    recordsOf(replay.decisions).forEach((decision) => this.decisions[decision.instance].push(decision));
    this.eventsAt.forEach((events, moment) => {
      if (moment && moment % CHECKPOINT_EVERY === 0) this.checkpoints.push(this.copy(state));
      for (const event of events) {
        this.index(event, state);
        this.apply(state, event);
      }
    });
  }

  get last() {
    return this.moments.length - 1;
  }

  /**
   * @returns {ReplayState}
   */
  blank() {
    const { run } = this;
    return {
      node: new Int32Array(run.replay.instances.length).fill(-1),
      slot: new Int32Array(run.replay.instances.length).fill(-1),
      flavour: new Int32Array(run.replay.instances.length),
      user: new Int32Array(run.users.length).fill(-1),
      on: run.nodes.ids.map(() => []),
      asleep: new Set(),
      down: new Set(),
      leaving: new Set(),
      broken: new Set(),
    };
  }

  /**
   * @param {ReplayState} state
   * @returns {ReplayState}
   */
  copy(state) {
    return {
      node: state.node.slice(),
      slot: state.slot.slice(),
      flavour: state.flavour.slice(),
      user: state.user.slice(),
      on: state.on.map((instances) => [...instances]),
      asleep: new Set(state.asleep),
      down: new Set(state.down),
      leaving: new Set(state.leaving),
      broken: new Set(state.broken),
    };
  }

  /**
   * The state after all events of a time, given by its index.
   * @param {number} moment
   */
  at(moment) {
    const start = Math.min(Math.floor(moment / CHECKPOINT_EVERY), this.checkpoints.length - 1);
    const state = this.copy(this.checkpoints[start]);
    for (let place = start * CHECKPOINT_EVERY; place <= moment; place += 1) {
      this.eventsAt[place].forEach((event) => this.apply(state, event));
    }
    return state;
  }

  /**
   * @param {ReplayState} state
   * @param {number} instance
   * @param {number} node
   */
  settle(state, instance, node) {
    const taken = new Set(state.on[node].map((other) => state.slot[other]));
    let slot = 0;
    while (taken.has(slot)) slot += 1;
    state.node[instance] = node;
    state.slot[instance] = slot;
    state.on[node].push(instance);
  }

  /**
   * @param {ReplayState} state
   * @param {number} instance
   */
  leave(state, instance) {
    const node = state.node[instance];
    if (node < 0) return;
    state.on[node] = state.on[node].filter((other) => other !== instance);
    state.node[instance] = -1;
  }

  /**
   * Copies the flavour and the sleep state of an instance to the one that its operation created.
   * @param {ReplayState} state
   * @param {number} instance
   * @param {number} of
   */
  inherit(state, instance, of) {
    state.flavour[instance] = state.flavour[of];
    if (state.asleep.has(of)) state.asleep.add(instance);
  }

  /**
   * @param {ReplayState} state
   * @param {ReplayEvent} event
   */
  apply(state, event) {
    switch (event.kind) {
      case "deployed":
        this.settle(state, event.instance, event.node);
        break;
      case "handover":
        state.user[event.user] = event.to ?? -1;
        break;
      case "migrate":
        this.leave(state, event.instance);
        this.settle(state, event.renamed ?? event.instance, event.node);
        if (event.renamed !== undefined) this.inherit(state, event.renamed, event.instance);
        break;
      case "replicate":
        this.settle(state, event.replica, event.node);
        this.inherit(state, event.replica, event.instance);
        break;
      case "adapt":
      case "shrunk":
        state.flavour[event.instance] = event.flavour;
        break;
      case "sleep":
        state.asleep.add(event.instance);
        break;
      case "wake":
      case "woken":
        state.asleep.delete(event.instance);
        break;
      case "undeploy":
      case "evicted":
        this.leave(state, event.instance);
        break;
      case "nodeDown":
        state.down.add(event.node);
        [...state.on[event.node]].forEach((instance) => this.leave(state, instance));
        break;
      case "nodeUp":
        state.down.delete(event.node);
        state.leaving.delete(event.node);
        break;
      case "nodeLeaving":
        state.leaving.add(event.node);
        break;
      case "linkDown":
        state.broken.add(linkKey(event.nodes));
        break;
      case "linkUp":
        state.broken.delete(linkKey(event.nodes));
        break;
      default:
    }
  }

  /**
   * Adds an event to the lists of the instances and nodes that it concerns. `state` is the state before it.
   * @param {ReplayEvent} event
   * @param {ReplayState} state
   */
  index(event, state) {
    const own = isOfPlacedInstance(event) ? state.node[event.instance] : -1;
    const judged = { event, from: own };
    /** @type {Set<number | undefined>} */
    const nodes = new Set();
    if (event.kind === "inhibited" || event.kind === "deployInhibited")
      nodes.add(this.places.get(this.run.replay.reasons[event.reason][0]));
    else {
      if ("node" in event) nodes.add(event.node);
      nodes.add(own);
    }
    nodes.forEach((node) => {
      if (node !== undefined && node >= 0) this.ofNode[node].push(judged);
    });
    if ("instance" in event) this.ofInstance[event.instance].push(judged);
    if (event.kind === "replicate") this.ofInstance[event.replica].push(judged);
    if (event.kind === "migrate" && event.renamed !== undefined) this.ofInstance[event.renamed].push(judged);
    if (event.kind === "nodeDown") event.instances.forEach((instance) => this.ofInstance[instance].push(judged));
  }

  /**
   * The last facts and decision of an agent up to a time; null if there is none, or if decisions are not recorded.
   * @param {number} instance
   * @param {number} moment
   */
  decision(instance, moment) {
    const time = this.moments[moment];
    return this.decisions[instance].findLast(({ first }) => first <= time) ?? null;
  }

  /**
   * @param {Judgement[]} judgements
   * @param {number} moment
   */
  before(judgements, moment) {
    return judgements.filter(({ event }) => event.moment <= moment);
  }

  /**
   * The name of an instance's flavour; empty if its application has none.
   * @param {ReplayState} state
   * @param {number} instance
   */
  flavourName(state, instance) {
    const { flavours } = this.run.applications[this.run.replay.instances[instance][1]];
    return flavours ? flavours[state.flavour[instance]][0] : "";
  }

  /**
   * @param {ReplayState} state
   * @param {number} node
   */
  used(state, node) {
    return sum(
      state.on[node].map((instance) => {
        const application = this.run.applications[this.run.replay.instances[instance][1]];
        if (state.asleep.has(instance)) return application.keeps || 0;
        return application.flavours ? application.flavours[state.flavour[instance]][1] : application.hardware;
      }),
    );
  }
}

/**
 * Whether a description of an application is its first one: a live trace has each description.
 * @param {Run["applications"][number]} application
 */
function isFirstDescription(application) {
  return application.first_description === undefined;
}

/**
 * The first description of the application with this one: both have one colour.
 * @param {Run} run
 * @param {number} application
 */
function firstDescription(run, application) {
  return run.applications[application].first_description ?? application;
}

/**
 * Whether an event is about an instance that was on a node before it.
 * @param {ReplayEvent} event
 * @returns {event is Extract<ReplayEvent, { instance: number }>}
 */
function isOfPlacedInstance(event) {
  return "instance" in event && event.kind !== "deployed";
}

/**
 * Whether an event is an accepted operation of an agent.
 * @param {ReplayEvent} event
 */
function isAccepted({ kind }) {
  return Object.hasOwn(OPERATION_TARGETS, kind);
}

/**
 * The key of a link, in either direction.
 * @param {[number, number]} nodes
 */
function linkKey([one, other]) {
  return `${Math.min(one, other)} ${Math.max(one, other)}`;
}
