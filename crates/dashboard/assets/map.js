// The map: nodes with their units, the instances on them, links, users, and events.

// How long a mark is drawn. Inhibited requests may come many times a second, so their marks are short.
const MARK_MS = 5000;
const INHIBITED_MS = 1600;
// The position of the label along a link, as a share of its length.
const LABEL_AT = 0.84;
// The distance between the rings of users.
const RING = 8;
// The width of a letter of a name, on average.
const LETTER = 6.2;

class ColonyMap {
  /** @param {Choose} pick */
  constructor(pick) {
    this.pick = pick;
    this.svg = s("svg", { class: "stage live", role: "img", "aria-label": "Nodes, links and instances" });
    this.layers = Object.fromEntries(
      // Arrows are below nodes, so that they cover no instance and no number.
      ["links", "arrows", "nodes", "chips", "labels", "marks"].map((name) => [name, s("g", { class: name })]),
    );
    this.svg.append(...Object.values(this.layers));
    this.root = h("div", { class: "stage-root" }, this.svg);
    /** @type {Map<string, SVGGElement>} */
    this.chips = new Map();
    /** @type {Map<string, { node: string, slot: number }>} */
    this.slots = new Map();
    /** @type {Map<string, { group: SVGGElement, title: SVGTitleElement, rate: SVGTextElement, users: SVGGElement, box: NodeBox }>} */
    this.nodes = new Map();
    /** @type {Map<string, { line: SVGPathElement, label: SVGTextElement, title: SVGTitleElement }>} */
    this.links = new Map();
    this.shape = "";
    this.width = 0;
    /** @type {Snapshot | null} */
    this.picture = null;
    /** @type {MapLayout | null} */
    this.layout = null;
    /** @type {Picked | null} */
    this.picked = null;
    new ResizeObserver(() => {
      const width = Math.floor(this.root.clientWidth);
      if (width && Math.abs(width - this.width) > 4)
        requestAnimationFrame(() => {
          this.shape = "";
          if (this.picture) this.show(this.picture);
        });
    }).observe(this.root);
  }

  /** @param {Snapshot} picture */
  show(picture) {
    this.picture = picture;
    const width = Math.floor(this.root.clientWidth);
    if (!width) return;
    this.width = width;
    const shape = JSON.stringify([
      width,
      picture.nodes.map((node) => [node.id, unitsOf(node), node.tier, node.tier_name]),
      picture.links.map((link) => link.ends),
    ]);
    const isNew = shape !== this.shape;
    if (isNew) this.arrange(picture, shape);
    this.svg.classList.toggle("moving", !isNew);
    picture.nodes.forEach((node) => this.showNode(node));
    picture.links.forEach((link) => this.showLink(link));
    if (this.layout) this.showInstances(picture, this.layout.boxes);
    if (this.picked) this.select(this.picked);
  }

  /**
   * Computes the layout, and draws nodes, links and the names of tiers.
   * @param {Snapshot} picture
   * @param {string} shape
   */
  arrange(picture, shape) {
    this.shape = shape;
    const layout = layoutOf(picture.nodes, picture.links, this.width);
    this.layout = layout;
    const { width, height, boxes, labels } = layout;
    const names = namesOf(boxes);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.style.height = `${height}px`;
    this.svg.classList.toggle("wrapped", !layout.isTree);
    this.nodes.clear();
    this.links.clear();
    const nodes = picture.nodes.map((node) => {
      const box = lookUp(boxes, node.id);
      const cells = Array.from({ length: box.units }, (_, slot) => {
        const [x, y] = unitPlace(box, slot);
        return s("rect", {
          x: x - CELL / 2 + 1,
          y: y - CELL / 2 + 1,
          width: CELL - 2,
          height: CELL - 2,
          rx: 2,
          class: "cell",
        });
      });
      const title = s("title", {});
      const name = s(
        "text",
        { x: box.middleX, y: box.y + box.height + 12, class: "node-name" },
        lookUp(names, node.id),
      );
      const rate = s("text", { x: box.middleX, y: box.y + box.height + 23, class: "node-rate" });
      const users = s("g", { class: "node-users" });
      const group = s(
        "g",
        { class: "node", "data-node": node.id, onclick: () => this.pick({ node: node.id }) },
        title,
        s("rect", { x: box.x, y: box.y, width: box.width, height: box.height, rx: 4, class: "box" }),
        cells,
        name,
        rate,
        users,
      );
      this.nodes.set(node.id, { group, title, rate, users, box });
      return group;
    });
    const links = picture.links.map((link) => {
      const [one, other] = link.ends.map((id) => lookUp(boxes, id)).sort((a, b) => a.y - b.y);
      const line = s("path", { class: "link", d: this.linkPath(one, other) });
      // Near the lower end, where the links of one node are apart.
      const [x, y] =
        other.under === one
          ? [other.middleX, other.y - 7]
          : [
              one.middleX + (other.middleX - one.middleX) * LABEL_AT,
              one.y === other.y ? one.middleY : one.y + one.height + (other.y - one.y - one.height) * LABEL_AT,
            ];

      const label = s("text", { x, y: one.y === other.y ? y - 5 : y + 3, class: "link-label" });
      const title = s("title", {});
      line.append(title);
      this.links.set(link.ends.join(" "), { line, label, title });
      return [line, label];
    });
    const showsLabels = picture.links.length <= 40 && layout.isTree;
    this.layers.links.replaceChildren(...links.flatMap(([line]) => line));
    this.layers.labels.replaceChildren(
      ...labels.map(({ text, y }) => s("text", { x: 2, y, class: "tier-label" }, text)),
      ...(showsLabels ? links.map(([, label]) => label) : []),
    );
    this.layers.nodes.replaceChildren(...nodes);
    this.layers.marks.replaceChildren();
    this.layers.arrows.replaceChildren();
  }

  /**
   * @param {NodeBox} one
   * @param {NodeBox} other
   */
  linkPath(one, other) {
    if (one.y === other.y) {
      const [left, right] = one.middleX < other.middleX ? [one, other] : [other, one];
      return `M${left.x + left.width} ${left.middleY}H${right.x}`;
    }
    if (other.under === one) {
      const x = Math.max(1, other.x - 5);
      return `M${one.middleX} ${one.middleY}L${x} ${one.y + one.height + 40}V${other.middleY}H${other.x}`;
    }
    return `M${one.middleX} ${one.middleY}L${other.middleX} ${other.y}`;
  }

  /** @param {ShownNode} node */
  showNode(node) {
    const { group, title, rate, users, box } = lookUp(this.nodes, node.id);
    const state = { answers: "", silent: ", does not answer", unwatched: ", not asked", unknown: ", not heard yet" }[
      node.reach
    ];
    const toggle = (/** @type {string} */ name, /** @type {unknown} */ is) => group.classList.toggle(name, Boolean(is));
    toggle("down", node.reach === "silent");
    toggle("unwatched", node.reach === "unwatched" || node.reach === "unknown");
    toggle("going", node.is_draining);
    toggle("faulty", node.journal_fault);
    toggle("full", node.free === 0);
    title.textContent = `${node.id}${state}${node.is_draining ? ", drains" : ""}${node.journal_fault ? ", its journal fails" : ""}`;
    rate.textContent = node.reach === "silent" ? "no answer" : (perSecond(node.requests_per_s) ?? "");
    const count = Number(node.users ?? 0);
    if (users.dataset.count === String(count)) return;
    users.dataset.count = String(count);
    // A ring for each user, or if they do not fit between the neighbours, one ring and the number.
    const areRings = count <= Math.min(7, Math.floor((box.room - 4) / RING));
    const y = box.y + box.height + 32;
    const ring = (/** @type {number} */ cx) => s("circle", { cx, cy: y, r: 2.8 });
    users.replaceChildren(
      s("title", {}, plural(count, "user")),
      ...(areRings
        ? Array.from({ length: count }, (_, place) => ring(box.middleX + (place - (count - 1) / 2) * RING))
        : [
            ring(box.middleX - 8),
            s("text", { x: box.middleX - 2, y: y + 3.5, class: "node-rate start" }, whole(count)),
          ]),
    );
  }

  /** @param {ShownLink} link */
  showLink(link) {
    const { line, label, title } = lookUp(this.links, link.ends.join(" "));
    const isDown = link.is_up === false;
    line.classList.toggle("down", isDown);
    line.classList.toggle("unknown", link.is_up === null);
    const trip = link.round_trip_ms === null ? "" : `${milliseconds(link.round_trip_ms)}`;
    label.textContent = isDown ? "down" : trip;
    label.classList.toggle("bad", isDown);
    title.textContent = `${link.ends.join(" – ")}: ${isDown ? "down" : link.is_up === null ? "not known" : trip ? `round trip ${trip}` : "up"}`;
  }

  /**
   * Draws the instances. Each keeps its unit as long as it is on the same node.
   * @param {Snapshot} picture
   * @param {Map<string, NodeBox>} boxes
   */
  showInstances(picture, boxes) {
    const present = new Set();
    /** @type {Map<string, Set<number>>} */
    const taken = new Map();
    const place = (/** @type {string} */ node, /** @type {number} */ slot, /** @type {number} */ size) => {
      for (let unit = slot; unit < slot + size; unit += 1) lookUp(taken, node).add(unit);
    };
    const instances = picture.instances.filter((instance) => boxes.has(instance.node));
    instances.forEach((instance) => taken.set(instance.node, taken.get(instance.node) ?? new Set()));
    for (const instance of instances) {
      const kept = this.slots.get(instance.id);
      if (kept && kept.node === instance.node) place(kept.node, kept.slot, sizeOf(instance));
    }
    for (const instance of instances) {
      present.add(instance.id);
      const kept = this.slots.get(instance.id);
      if (kept && kept.node === instance.node) continue;
      let slot = 0;
      while (lookUp(taken, instance.node).has(slot)) slot += 1;
      place(instance.node, slot, sizeOf(instance));
      this.slots.set(instance.id, { node: instance.node, slot });
    }
    for (const instance of instances) this.showChip(instance, picture, boxes);
    for (const [id, chip] of this.chips) {
      if (present.has(id)) continue;
      this.chips.delete(id);
      this.slots.delete(id);
      chip.classList.add("leaving");
      setTimeout(() => chip.remove(), 450);
    }
  }

  /**
   * @param {ShownInstance} instance
   * @param {Snapshot} picture
   * @param {Map<string, NodeBox>} boxes
   */
  showChip(instance, picture, boxes) {
    let chip = this.chips.get(instance.id);
    if (!chip) {
      const colour = colourOf(picture, instance.application);
      const side = CELL - 2;
      chip = s(
        "g",
        {
          class: "chip",
          "data-instance": instance.id,
          onclick: (event) => {
            event.stopPropagation();
            this.pick({ instance: instance.id });
          },
        },
        s("title", {}),
        s("rect", { x: -side / 2, y: -side / 2, width: side, height: side, rx: 3, style: `fill:${colour}` }),
        s(
          "text",
          { y: 4, "font-size": 11, style: `fill:${applicationInk(colourIndexOf(picture, instance.application))}` },
          shortName(instance.application ?? "?"),
        ),
      );
      this.layers.chips.append(chip);
      this.chips.set(instance.id, chip);
    }
    const { node, slot } = lookUp(this.slots, instance.id);
    const [x, y] = unitPlace(lookUp(boxes, node), slot);
    chip.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    chip.dataset.on = node;
    chip.classList.toggle("starting", instance.state !== "healthy" && !instance.is_moving);
    chip.classList.toggle("moves", Boolean(instance.is_moving));
    chip.classList.toggle("doubtful", Boolean(instance.is_silent) || instance.state === "elsewhere");
    chip.classList.toggle("unanswered", Boolean(instance.has_no_answer));
    const title = chip.querySelector("title");
    if (title) title.textContent = `instance ${brief(instance.id)} of ${instance.application}, ${stateWords(instance)}`;
  }

  /**
   * Marks an event for a few seconds: a line between two nodes below the instances, and a frame around the target, or a
   * cross beside the target for an inhibited request.
   * @param {Happening} happening
   */
  happened({ kind, instance, from, to }) {
    const boxes = this.layout?.boxes;
    const [start, end] = [boxes?.get(from ?? ""), boxes?.get(to ?? "")];
    if (![...OPERATION_KINDS, "inhibited", "arrived"].includes(kind)) return;
    const looks = kind === "arrived" ? "migrate" : kind;
    // Both the source and the target of a migration report it; it is drawn once.
    // Of inhibited requests between the same nodes, one is drawn at a time.
    const key = kind === "inhibited" ? `inhibited ${from} ${to}` : `${looks} ${instance} ${to}`;
    if ([...this.layers.marks.children].some((mark) => mark.getAttribute("data-key") === key)) return;
    /** @type {(box: NodeBox) => Place} */
    const at = (box) => [box.middleX, box.middleY];
    const where = end ?? start;
    if (!where) return;
    const lasts = kind === "inhibited" ? INHIBITED_MS : MARK_MS;
    const given = { class: `happening ${looks}`, style: `animation-duration:${lasts}ms` };
    const arrow = s("g", given);
    if (start && end && start !== end) {
      arrow.append(s("path", { d: bowed(at(start), at(end)), class: `mark ${looks}` }));
    }
    const mark = s("g", { ...given, "data-key": key }, kind === "inhibited" ? cross(where) : frame(where, looks));
    this.layers.arrows.append(arrow);
    this.layers.marks.append(mark);
    setTimeout(() => [arrow, mark].forEach((drawn) => drawn.remove()), lasts);
  }

  /** @param {Picked | null} picked */
  select(picked) {
    this.picked = picked;
    this.svg.querySelectorAll(".picked").forEach((element) => element.classList.remove("picked"));
    if (picked?.instance) this.chips.get(picked.instance)?.classList.add("picked");
    if (picked?.node) this.nodes.get(picked.node)?.group.classList.add("picked");
  }
}

/**
 * A frame around a node.
 * @param {NodeBox} box
 * @param {string} looks
 */
function frame({ x, y, width, height }, looks) {
  return s("rect", { x: x - 2, y: y - 2, width: width + 4, height: height + 4, rx: 5, class: `mark ${looks}` });
}

/** @param {ShownInstance} instance */
function sizeOf(instance) {
  const units = typeof instance.hardware === "object" ? instance.hardware?.units : instance.hardware;
  return Math.max(1, Number(units) || 1);
}

/**
 * @param {Place} from
 * @param {Place} to
 */
function bowed([x0, y0], [x1, y1]) {
  const [x, y] = [(x0 + x1) / 2 - (y1 - y0) * 0.14, (y0 + y1) / 2 + (x1 - x0) * 0.14];
  return `M${x0.toFixed(1)} ${y0.toFixed(1)}Q${x.toFixed(1)} ${y.toFixed(1)} ${x1.toFixed(1)} ${y1.toFixed(1)}`;
}

/**
 * A cross outside the upper right corner of a node, where it covers no instance.
 * @param {NodeBox} box
 */
function cross(box) {
  const [x, y] = [box.x + box.width + 1, box.y - 1];
  const size = 4;
  return s("path", {
    d: `M${x - size} ${y - size}L${x + size} ${y + size}M${x + size} ${y - size}L${x - size} ${y + size}`,
    class: "mark cross",
  });
}

/**
 * Shortens the ids of instances in a text: keeps six digits of the journal id that they begin with.
 * @param {unknown} text
 */
function brief(text) {
  return String(text).replace(/\b([0-9a-f]{6})[0-9a-f]{26}(?=-\d)/g, "$1\u2026");
}

/**
 * The labels of nodes: their ids, shortened to the room that each row has, and told apart within it.
 * @param {Map<string, NodeBox>} boxes
 * @returns {Map<string, string>}
 */
function namesOf(boxes) {
  /** @type {Map<number, string[]>} */
  const rows = new Map();
  for (const [id, { y }] of boxes) rows.set(y, [...(rows.get(y) ?? []), id]);
  /** @type {Map<string, string>} */
  const names = new Map();
  for (const ids of rows.values()) {
    const room = Math.min(...ids.map((id) => lookUp(boxes, id).room));
    const fits = Math.max(4, Math.floor((room - 4) / LETTER));
    shortNames(ids, fits).forEach((label, id) => names.set(id, label));
  }
  return names;
}

/**
 * The label of a chip: up to two digits from the end of a name, or else its first letter.
 * @param {string} id
 */
function shortName(id) {
  const number = /(\d{1,2})$/.exec(id);
  return number ? number[1] : id.charAt(0);
}

/**
 * The index of an application's colour; 0 if the application is unknown.
 * @param {Snapshot} picture
 * @param {string | null} application
 */
function colourIndexOf(picture, application) {
  return picture.applications.find(({ id }) => id === application)?.colour ?? 0;
}

/**
 * @param {Snapshot} picture
 * @param {string | null} application
 */
function colourOf(picture, application) {
  return applicationColour(colourIndexOf(picture, application));
}

/** @param {unknown} rate */
function perSecond(rate) {
  return typeof rate === "number" ? `${rate >= 10 ? whole(rate) : fixed(rate, 1)}/s` : null;
}

/** @param {number} value */
function milliseconds(value) {
  return `${value >= 10 ? whole(value) : fixed(value, value >= 1 ? 1 : 2)} ms`;
}

/** @param {ShownInstance} instance */
function stateWords(instance) {
  if (instance.state === "elsewhere") return `went to ${instance.node}, says ${instance.told_by}`;
  if (instance.is_silent) return `last seen on ${instance.node}, which does not answer`;
  if (instance.state === "in-custody") return `handed over from ${instance.node} to ${instance.target}`;
  return `${instance.is_moving ? "moves from" : "on"} ${instance.node}, its copy is ${instance.state ?? "not there"}`;
}
