// Draws the state at one time: nodes with their units, instances, users, and the events of that time.

class Stage {
  /**
   * @param {RunHistory} history
   * @param {string} kind
   * @param {Choose} pick
   */
  constructor(history, kind, pick) {
    this.history = history;
    this.run = history.run;
    this.kind = kind;
    this.pick = pick;
    this.shortNames = shortNames(this.run.applications.map(({ id }) => id));
    this.layout = kind === "map" ? mapLayout(this.run) : treeLayout(this.run);
    const { width, height } = this.layout;
    this.svg = s("svg", {
      viewBox: `0 0 ${width} ${height}`,
      class: `stage ${kind}`,
      role: "img",
      "aria-label": "What is where",
    });
    /** @type {Map<string, SVGPathElement>} */
    this.links = new Map();
    /** @type {SVGGElement[]} */
    this.nodes = [];
    // The units in use as text, for nodes with more units than cells. Drawn above instances and users.
    /** @type {Map<number, SVGTextElement>} */
    this.crowds = new Map();
    this.svg.append(this.drawLinks(), this.drawNodes());
    this.marks = s("g", { class: "marks" });
    this.userLayer = s("g", { class: "users" });
    this.chipLayer = s("g", { class: "chips" });
    this.svg.append(this.userLayer, this.chipLayer, s("g", { class: "crowds" }, [...this.crowds.values()]), this.marks);
    /** @type {Map<number, SVGGElement>} */
    this.chips = new Map();
    /** @type {Map<number, SVGCircleElement>} */
    this.users = new Map();
  }

  drawLinks() {
    const { nodes } = this.run;
    const layer = s("g", { class: "links" });
    const middles = nodes.ids.map((_, node) => boxMiddle(this.layout, node));
    const link = (/** @type {number} */ one, /** @type {number} */ other) => {
      const [a, b] = [this.layout.boxes[one], this.layout.boxes[other]];
      const path = this.kind === "tree" && a.y !== b.y ? elbow(a, b) : linkPath(this.run, middles, one, other);
      const line = s("path", { d: path, class: "link" });
      this.links.set(`${Math.min(one, other)} ${Math.max(one, other)}`, line);
      layer.append(line);
    };
    nodes.parents.forEach((parent, node) => {
      if (parent >= 0) link(node, parent);
    });
    nodes.other_links.forEach(([one, other]) => link(one, other));
    return layer;
  }

  drawNodes() {
    const { nodes } = this.run;
    const layer = s("g", { class: "nodes" });
    if (this.layout.tops) {
      this.layout.tops.forEach((top, tier) =>
        layer.append(s("text", { x: 8, y: top - 8, class: "tier-label" }, tierName(this.run, tier))),
      );
    }
    this.nodes = nodes.ids.map((id, node) => {
      const box = this.layout.boxes[node];
      const capacity = nodes.capacities[node];
      const group = s(
        "g",
        { class: "node", "data-node": node, onclick: () => this.pick({ node }) },
        s("title", {}, id),
        s("rect", { x: box.x, y: box.y, width: box.width, height: box.height, rx: 3, class: "box" }),
      );
      for (let cell = 0; cell < (capacity < 0 ? 0 : cellCount(capacity)); cell += 1) {
        const [x, y] = cellPlace(this.layout, node, cell);
        const side = cellSide(box.cell);
        group.append(s("rect", { x: x - side / 2, y: y - side / 2, width: side, height: side, rx: 2, class: "cell" }));
      }
      if (capacity < 0 || capacity > CELLS_MAX)
        this.crowds.set(node, s("text", { x: box.x + box.width - 3, y: box.y - 3, class: "crowd" }));
      layer.append(group);
      return group;
    });
    return layer;
  }

  /** @param {number} instance */
  chip(instance) {
    const known = this.chips.get(instance);
    if (known) return known;
    const [id, application] = this.run.replay.instances[instance];
    const colour = applicationColour(firstDescription(this.run, application));
    const side = cellSide(this.layout.cell);
    const chip = s(
      "g",
      {
        class: "chip",
        "data-instance": instance,
        onclick: (event) => {
          event.stopPropagation();
          this.pick({ instance });
        },
      },
      s("title", {}, `instance ${id} of ${this.run.applications[application].id}`),
      s("rect", {
        x: -side / 2,
        y: -side / 2,
        width: side,
        height: side,
        rx: Math.min(3, side * 0.28),
        style: `fill:${colour}`,
      }),
      s(
        "text",
        { y: side * 0.29, "font-size": side * 0.78, style: `fill:${applicationInk(application)}` },
        this.shortNames[application],
      ),
    );
    this.chipLayer.append(chip);
    this.chips.set(instance, chip);
    return chip;
  }

  /** @param {number} user */
  user(user) {
    const known = this.users.get(user);
    if (known) return known;
    const [id, application] = this.run.users[user];
    const dot = s(
      "circle",
      { r: this.layout.radius, style: `stroke:${applicationColour(firstDescription(this.run, application))}` },
      s("title", {}, `user ${id}, ${this.run.applications[application].id}`),
    );
    this.userLayer.append(dot);
    this.users.set(user, dot);
    return dot;
  }

  /**
   * Shows a state; with `before`, the previous state, changes are animated.
   * @param {ReplayState} state
   * @param {ReplayEvent[]} events
   * @param {ReplayState | null} before
   */
  show(state, events, before) {
    this.svg.classList.toggle("moving", Boolean(before));
    const place = (/** @type {SVGElement} */ element, /** @type {Place} */ [x, y, scale = 1]) => {
      element.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px) scale(${scale.toFixed(3)})`;
    };
    const cameFrom = new Map();
    for (const event of events) {
      if (event.kind === "replicate") cameFrom.set(event.replica, event.instance);
      if (event.kind === "migrate" && event.renamed !== undefined) cameFrom.set(event.renamed, event.instance);
    }
    state.node.forEach((node, instance) => {
      if (node < 0) return this.removeChip(instance, before);
      const isNew = !this.chips.has(instance);
      const chip = this.chip(instance);
      const parent = cameFrom.get(instance);
      if (isNew && before && parent !== undefined && before.node[parent] >= 0) {
        place(chip, cellPlace(this.layout, before.node[parent], before.slot[parent]));
        chip.getBoundingClientRect();
      }
      place(chip, cellPlace(this.layout, node, state.slot[instance]));
      chip.classList.toggle("asleep", state.asleep.has(instance));
      chip.classList.toggle("tiny", this.layout.boxes[node].cell < 8);
    });
    this.showUsers(state, place);
    this.showNodes(state);
    this.showMarks(state, events, before);
  }

  /**
   * @param {number} instance
   * @param {ReplayState | null} before
   */
  removeChip(instance, before) {
    const chip = this.chips.get(instance);
    if (!chip) return;
    this.chips.delete(instance);
    if (!before) return chip.remove();
    chip.classList.add("leaving");
    setTimeout(() => chip.remove(), 450);
  }

  /**
   * @param {ReplayState} state
   * @param {(element: SVGElement, at: Place) => void} place
   */
  showUsers(state, place) {
    /** @type {Map<number, number[]>} */
    const at = new Map();
    state.user.forEach((node, user) => {
      if (node >= 0) at.set(node, [...(at.get(node) ?? []), user]);
    });
    this.users.forEach((dot, user) => {
      if (state.user[user] < 0) {
        dot.remove();
        this.users.delete(user);
      }
    });
    at.forEach((users, node) =>
      users.forEach((user, index) => place(this.user(user), this.layout.users(node, index, users.length))),
    );
  }

  /** @param {ReplayState} state */
  showNodes(state) {
    this.nodes.forEach((group, node) => {
      const capacity = this.run.nodes.capacities[node];
      const used = this.history.used(state, node);
      group.classList.toggle("down", state.down.has(node));
      group.classList.toggle("going", state.leaving.has(node));
      group.classList.toggle("full", capacity >= 0 && used >= capacity && capacity > 0);
      const crowd = this.crowds.get(node);
      if (crowd) crowd.textContent = capacity < 0 ? `${used} in use` : `${used} of ${capacity}`;
    });
    this.links.forEach((line, key) => line.classList.toggle("down", state.broken.has(key)));
  }

  /**
   * @param {ReplayState} state
   * @param {ReplayEvent[]} events
   * @param {ReplayState | null} before
   */
  showMarks(state, events, before) {
    this.marks.replaceChildren();
    const earlier = before || this.history.at(Math.max(0, (events[0]?.moment ?? 1) - 1));
    for (const event of events) {
      const from =
        "instance" in event && earlier.node[event.instance] >= 0
          ? cellPlace(this.layout, earlier.node[event.instance], earlier.slot[event.instance])
          : null;
      if (from) this.markInstance(state, event, from);
      if (event.kind === "deployInhibited") this.cross(boxMiddle(this.layout, event.node));
      if (event.kind === "handover" && earlier.user[event.user] >= 0 && event.to !== undefined) {
        const [start, end] = [boxMiddle(this.layout, earlier.user[event.user]), boxMiddle(this.layout, event.to)];
        this.marks.append(s("path", { d: bend(start, end, 0.18), class: "mark handover" }));
      }
    }
  }

  /**
   * Marks what became of an instance.
   * @param {ReplayState} state
   * @param {ReplayEvent} event
   * @param {Place} from where the instance was
   */
  markInstance(state, event, from) {
    const ring = (/** @type {string} */ kind) => {
      const radius = this.layout.cell * 0.8;
      this.marks.append(s("circle", { cx: from[0], cy: from[1], r: radius, class: `mark ${kind}` }));
    };
    switch (event.kind) {
      case "migrate":
        this.arrow("migrate", from, cellPlace(this.layout, event.node, state.slot[event.renamed ?? event.instance]));
        break;
      case "replicate":
        this.arrow("replicate", from, cellPlace(this.layout, event.node, state.slot[event.replica]));
        break;
      case "notWoken":
        this.refuse(from, from);
        break;
      case "inhibited": {
        const isElsewhere = event.target !== undefined && OPERATIONS[event.operation] !== "undeploy";
        this.refuse(from, isElsewhere ? boxMiddle(this.layout, event.target ?? 0) : from);
        break;
      }
      default: {
        const { mark } = EVENT_WORDS[event.kind];
        if (mark) ring(mark);
      }
    }
  }

  /**
   * @param {string} kind
   * @param {Place} from
   * @param {Place} to
   */
  arrow(kind, from, to) {
    const path = bend(from, to, 0.12);
    const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
    const back = this.layout.cell * 0.62;
    const [x, y] = [to[0] - Math.cos(angle) * back, to[1] - Math.sin(angle) * back];
    const size = Math.max(4, this.layout.cell * 0.5);
    const wing = (/** @type {number} */ turn) =>
      `${(x - size * Math.cos(angle + turn)).toFixed(1)} ${(y - size * Math.sin(angle + turn)).toFixed(1)}`;
    this.marks.append(s("path", { d: path, class: `mark ${kind}` }));
    if (kind === "migrate")
      this.marks.append(
        s("path", { d: `M${wing(0.5)}L${x.toFixed(1)} ${y.toFixed(1)}L${wing(-0.5)}`, class: `mark ${kind}` }),
      );
    else this.marks.append(s("circle", { cx: to[0], cy: to[1], r: this.layout.cell * 0.72, class: `mark ${kind}` }));
  }

  /**
   * @param {Place} from
   * @param {Place} to
   */
  refuse(from, to) {
    this.marks.append(s("path", { d: bend(from, to, 0.12), class: "mark inhibited" }));
    this.cross(to);
  }

  /** @param {Place} at */
  cross([x, y]) {
    const size = Math.max(2.5, this.layout.cell * 0.36);
    this.marks.append(
      s("path", {
        d: `M${x - size} ${y - size}L${x + size} ${y + size}M${x + size} ${y - size}L${x - size} ${y + size}`,
        class: "mark cross",
      }),
    );
  }

  /** @param {Picked} picked */
  select({ instance, node }) {
    this.svg.querySelectorAll(".picked").forEach((element) => element.classList.remove("picked"));
    if (instance !== undefined) this.chips.get(instance)?.classList.add("picked");
    if (node !== undefined) this.nodes[node].classList.add("picked");
  }
}

/**
 * The size of a square in a cell, slightly smaller than the cell.
 * @param {number} cell
 */
function cellSide(cell) {
  return cell - Math.min(2, cell * 0.15);
}

/**
 * @param {NodeBox} a
 * @param {NodeBox} b
 */
function elbow(a, b) {
  const [low, high] = a.y > b.y ? [a, b] : [b, a];
  const [x, y] = [low.x + low.width / 2, low.y];
  const upperX = Math.min(high.x + high.width, Math.max(high.x, x));
  return `M${x.toFixed(1)} ${y.toFixed(1)}L${upperX.toFixed(1)} ${(high.y + high.height).toFixed(1)}`;
}

/**
 * @param {Place} from
 * @param {Place} to
 * @param {number} by
 */
function bend([x0, y0], [x1, y1], by) {
  const [x, y] = [(x0 + x1) / 2 - (y1 - y0) * by, (y0 + y1) / 2 + (x1 - x0) * by];
  return `M${x0.toFixed(1)} ${y0.toFixed(1)}Q${x.toFixed(1)} ${y.toFixed(1)} ${x1.toFixed(1)} ${y1.toFixed(1)}`;
}

/**
 * The labels of chips: the last one or two digits of a name, or else its first letter. An application whose label is that
 * of an earlier one has its first letter and a later one, or else its number.
 * @param {string[]} ids
 */
function shortNames(ids) {
  /** @type {Set<string>} */
  const used = new Set();
  return ids.map((id, place) => {
    const letters = [...id];
    const pairs = letters.slice(1).map((letter) => letters[0] + letter);
    const names = [/(\d{1,2})$/.exec(id)?.[1] ?? letters[0], ...pairs, `${place + 1}`];
    const name = names.find((one) => !used.has(one)) ?? `${place + 1}`;
    used.add(name);
    return name;
  });
}
