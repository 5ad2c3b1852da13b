// The state at each time of a run, computed from its events.

// EVENT and OPERATIONS, the numbers of events and operations, are tables of the program that wrote the page.
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
    replay.events.forEach((event) => this.eventsAt[event[0]].push(event));
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
   * The state after all events of a time.
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
   * @param {ReplayState} state
   * @param {ReplayEvent} event
   */
  apply(state, [, code, first, second, third]) {
    switch (code) {
      case EVENT.deployed:
        this.settle(state, first, second);
        break;
      case EVENT.handover:
        state.user[first] = second;
        break;
      case EVENT.migrate:
        this.leave(state, first);
        this.settle(state, third >= 0 ? third : first, second);
        break;
      case EVENT.replicate:
        this.settle(state, third, second);
        break;
      case EVENT.adapt:
        state.flavour[first] = second;
        break;
      case EVENT.shrunk:
        state.flavour[first] = second;
        break;
      case EVENT.sleep:
        state.asleep.add(first);
        break;
      case EVENT.wake:
      case EVENT.woken:
        state.asleep.delete(first);
        break;
      case EVENT.undeploy:
      case EVENT.evicted:
        this.leave(state, first);
        break;
      case EVENT.nodeDown:
        state.down.add(first);
        [...state.on[first]].forEach((instance) => this.leave(state, instance));
        break;
      case EVENT.nodeUp:
        state.down.delete(first);
        state.leaving.delete(first);
        break;
      case EVENT.nodeLeaving:
        state.leaving.add(first);
        break;
      case EVENT.linkDown:
        state.broken.add(`${Math.min(first, second)} ${Math.max(first, second)}`);
        break;
      case EVENT.linkUp:
        state.broken.delete(`${Math.min(first, second)} ${Math.max(first, second)}`);
        break;
      default:
    }
  }

  /**
   * Stores the instances and nodes that an event concerns; `state` is the state before it.
   * @param {ReplayEvent} event
   * @param {ReplayState} state
   */
  index(event, state) {
    const [, code, first, second, third, fourth] = event;
    const concernsOwnNode = code >= EVENT.evicted && code <= EVENT.notWoken;
    const own = concernsOwnNode || (code >= EVENT.migrate && code <= EVENT.inhibited) ? state.node[first] : -1;
    const nodes = new Set();
    const judged = { event, from: own };
    if (code === EVENT.deployed || code === EVENT.migrate || code === EVENT.replicate) nodes.add(second);
    if (concernsOwnNode || (code >= EVENT.migrate && code <= EVENT.undeploy)) nodes.add(own);
    if (code === EVENT.inhibited) nodes.add(this.places.get(this.run.replay.reasons[fourth][0]));
    if (code === EVENT.deployInhibited) nodes.add(this.places.get(this.run.replay.reasons[third][0]));
    if (code >= EVENT.nodeDown && code <= EVENT.nodeLeaving) nodes.add(first);
    nodes.forEach((node) => {
      if (node >= 0) this.ofNode[node].push(judged);
    });
    if (concernsOwnNode || code === EVENT.deployed || (code >= EVENT.migrate && code <= EVENT.inhibited))
      this.ofInstance[first].push(judged);
    if (code === EVENT.replicate || (code === EVENT.migrate && third >= 0)) this.ofInstance[third].push(judged);
    if (code === EVENT.nodeDown) event.slice(3).forEach((instance) => this.ofInstance[instance].push(judged));
  }

  /**
   * The last facts and decision of an agent up to a time; null if it has not evaluated, or nothing is recorded.
   * @param {number} instance
   * @param {number} moment
   */
  decision(instance, moment) {
    const time = this.moments[moment];
    const decisions = this.run.replay.decisions[instance] || [];
    /** @type {Decision | null} */
    let found = null;
    for (const decision of decisions) if (decision[0] <= time) found = decision;
    return found;
  }

  /**
   * @param {Judgement[]} judgements
   * @param {number} moment
   */
  before(judgements, moment) {
    return judgements.filter(({ event }) => event[0] <= moment);
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
