// Where nodes are drawn: in rows by tier, or by their distance from the centre of the colony if tiers are not known.

const CELL = 16;
// The maximum number of units of a node that are drawn.
const UNITS_MAX = 12;
const UNBOUNDED_UNITS = 8;

/** @param {ShownNode} node */
function unitsOf(node) {
  const capacity = node.capacity;
  const units = typeof capacity === "object" ? capacity?.units : capacity;
  if (typeof units === "number") return Math.max(1, Math.min(UNITS_MAX, units));
  return node.reach === "answers" ? UNBOUNDED_UNITS : 4;
}

/**
 * @param {string} one
 * @param {string} other
 */
function compareIds(one, other) {
  return one.localeCompare(other, "en", { numeric: true });
}

/**
 * The row of each node: its tier, or if tiers are not known, its distance in links from the centre of the colony.
 * @param {ShownNode[]} nodes
 * @param {ShownLink[]} links
 * @returns {{ row: Map<string, number>, neighbours: Map<string, string[]> }}
 */
function rowsOf(nodes, links) {
  /** @type {Map<string, string[]>} */
  const neighbours = new Map(nodes.map(({ id }) => [id, []]));
  for (const {
    ends: [one, other],
  } of links) {
    neighbours.get(one)?.push(other);
    neighbours.get(other)?.push(one);
  }
  /** @type {Map<string, number>} */
  const row = new Map();
  if (nodes.some((node) => typeof node.tier === "number")) {
    const last = Math.max(...nodes.map((node) => Number(node.tier ?? 0)));
    for (const node of nodes) row.set(node.id, Number(node.tier ?? last + 1));
    return { row, neighbours };
  }
  const distances = (/** @type {string} */ start) => {
    const found = new Map([[start, 0]]);
    for (const id of found.keys()) {
      for (const next of lookUp(neighbours, id)) if (!found.has(next)) found.set(next, lookUp(found, id) + 1);
    }
    return found;
  };
  // Each connected component of the colony, from its centre. A component of more than 200 nodes starts at its first
  // node, because finding its centre would take too long.
  let left = nodes.map(({ id }) => id).sort(compareIds);
  while (left.length) {
    const part = [...distances(left[0]).keys()];
    const candidates = part.length > 200 ? part.slice(0, 1) : part;
    const ranked = candidates.map((id) => ({
      id,
      farthest: Math.max(...distances(id).values()),
      links: lookUp(neighbours, id).length,
    }));
    ranked.sort(
      (one, other) => one.farthest - other.farthest || other.links - one.links || compareIds(one.id, other.id),
    );
    const middle = ranked[0].id;
    distances(middle).forEach((distance, id) => row.set(id, distance));
    left = left.filter((id) => !row.has(id));
  }
  return { row, neighbours };
}

/**
 * A box for each node, for a drawing of this width in pixels.
 * @param {ShownNode[]} nodes
 * @param {ShownLink[]} links
 * @param {number} width
 * @returns {MapLayout}
 */
function layoutOf(nodes, links, width) {
  const { row, neighbours } = rowsOf(nodes, links);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const ids = [...byId.keys()].sort(compareIds);
  /** @type {Map<string, string>} */
  const parent = new Map();
  for (const id of ids) {
    const above = lookUp(neighbours, id)
      .filter((other) => lookUp(row, other) < lookUp(row, id))
      .sort((one, other) => lookUp(row, other) - lookUp(row, one) || compareIds(one, other));
    if (above.length) parent.set(id, above[0]);
  }
  /** @type {Map<string, string[]>} */
  const children = new Map(ids.map((id) => [id, []]));
  ids.forEach((id) => {
    if (parent.has(id)) lookUp(children, lookUp(parent, id)).push(id);
  });
  const size = (/** @type {string} */ id) => {
    const units = unitsOf(lookUp(byId, id));
    const columns = units <= 2 ? units : Math.min(4, Math.max(2, Math.ceil(units / 2)));
    return { columns, units, width: Math.max(2, columns) * CELL + 6, height: Math.ceil(units / columns) * CELL + 6 };
  };
  const widest = (/** @type {string[]} */ among) => Math.max(40, ...among.map((id) => size(id).width));
  const roots = ids.filter((id) => !parent.has(id));
  const isLeaf = (/** @type {string} */ id) => !lookUp(children, id).length;
  const leafSlot = Math.max(widest(ids.filter(isLeaf)) + 8, 48);
  const most = Math.max(1, ...ids.map((id) => lookUp(children, id).filter(isLeaf).length));
  // If the leaves do not fit side by side, the leaves of each parent are stacked in fewer columns.
  let columns = most;
  while (columns > 1 && lanesOf(roots, children, columns).lanes * leafSlot > width) columns -= 1;
  const { lanes, places, order, lines } = lanesOf(roots, children, columns);
  const isTree = lanes * leafSlot <= width;
  const laneWidth = width / lanes;
  const slot = Math.max(widest(ids) + 12, 60);
  const boxes = new Map();
  const rows = [...new Set(row.values())].sort((one, other) => one - other);
  const labels = [];
  let top = 24;
  for (const number of rows) {
    const members = ids
      .filter((id) => lookUp(row, id) === number)
      .sort((one, other) => lookUp(order, one) - lookUp(order, other));
    const tierName = members.map((id) => lookUp(byId, id).tier_name).find(Boolean);
    if (tierName) labels.push({ text: String(tierName), y: top - (isTree && labels.length ? 32 : 12) });
    const perLine = Math.max(1, Math.floor(width / slot));
    const even = Math.ceil(members.length / Math.ceil(members.length / perLine));
    const lineOf = (/** @type {string} */ id) =>
      isTree ? (lines.get(id) ?? 0) : Math.floor(members.indexOf(id) / even);
    const lineCount = 1 + Math.max(...members.map(lineOf));
    for (let line = 0; line < lineCount; line += 1) {
      const inLine = members.filter((id) => lineOf(id) === line);
      const tallest = Math.max(...inLine.map((id) => size(id).height));
      const middles = inLine.map((id, place) =>
        isTree ? lookUp(places, id) * laneWidth : ((place + 0.5) / inLine.length) * width,
      );
      inLine.forEach((id, place) => {
        const own = size(id);
        const x = middles[place];
        // The width that its texts can have: up to the middle between neighbours.
        const room = Math.min(
          2 * Math.min(x, width - x),
          x - (middles[place - 1] ?? -width),
          (middles[place + 1] ?? 2 * width) - x,
        );
        const under = isTree && lines.get(id) ? boxes.get(lookUp(parent, id)) : null;
        const [middleX, middleY] = [x, top + own.height / 2];
        boxes.set(id, { ...own, x: x - own.width / 2, y: top, middleX, middleY, room, under });
      });
      // Below the box: its name, its requests, its users.
      top += tallest + 44 + (isTree && lineCount > 1 ? 12 : 0);
    }
    top += isTree ? 52 : 22;
  }
  return { boxes, labels, width, height: Math.max(120, top - 20), isTree };
}

/**
 * The lanes of a forest, side by side from left to right, with the leaves of each parent in at most `columns` columns.
 * @param {string[]} roots
 * @param {Map<string, string[]>} children
 * @param {number} columns
 * @returns {{ lanes: number, places: Map<string, number>, order: Map<string, number>, lines: Map<string, number> }}
 * how many lanes there are, the middle of each node in lanes, its place in depth-first order, and the line of each
 * stacked leaf among the leaves of its parent
 */
function lanesOf(roots, children, columns) {
  let lanes = 0;
  const places = new Map();
  const order = new Map();
  const lines = new Map();
  const visit = (/** @type {string} */ id) => {
    order.set(id, order.size);
    const from = lanes;
    const below = lookUp(children, id);
    const leaves = below.filter((child) => !lookUp(children, child).length);
    below.filter((child) => lookUp(children, child).length).forEach(visit);
    const lineCount = Math.ceil(leaves.length / columns);
    const perLine = Math.ceil(leaves.length / Math.max(1, lineCount));
    leaves.forEach((leaf, nth) => {
      const line = Math.floor(nth / perLine);
      const inLine = Math.min(perLine, leaves.length - line * perLine);
      order.set(leaf, order.size);
      lines.set(leaf, line);
      places.set(leaf, lanes + (perLine - inLine) / 2 + (nth % perLine) + 0.5);
    });
    lanes += perLine;
    if (lanes === from) lanes += 1;
    places.set(id, (from + lanes) / 2);
  };
  roots.forEach(visit);
  return { lanes, places, order, lines };
}

/**
 * Names for labels of at most `fits` characters, all different. The part in which long names differ is kept; `…` stands
 * for the rest.
 * @param {string[]} names
 * @param {number} fits
 * @returns {Map<string, string>}
 */
function shortNames(names, fits) {
  const long = names.filter((name) => name.length > fits);
  const shown = new Map(names.map((name) => [name, name]));
  if (!long.length) return shown;
  const kept = fits - 1;
  const cut = (/** @type {string} */ name, /** @type {number} */ head) =>
    `${name.slice(0, head)}…${kept > head ? name.slice(head - kept) : ""}`;
  // The split into beginning and end that tells the most names apart; of equals, the one with the longest end, because
  // names of nodes often differ in the number at their end.
  let best = { head: 0, count: 0 };
  for (let head = 0; head <= kept; head += 1) {
    const count = new Set(long.map((name) => cut(name, head))).size;
    if (count > best.count) best = { head, count };
  }
  long.forEach((name) => shown.set(name, cut(name, best.head)));
  // Names that are still alike differ between what is kept: each gets the first part of it that no other label has.
  /** @type {Map<string, number>} */
  const uses = new Map();
  for (const label of shown.values()) uses.set(label, (uses.get(label) ?? 0) + 1);
  const taken = new Set(uses.keys());
  for (const name of long.filter((one) => (uses.get(lookUp(shown, one)) ?? 0) > 1)) {
    const inner = Math.max(1, fits - 2);
    for (let start = 1; start + inner < name.length; start += 1) {
      const label = `…${name.slice(start, start + inner)}…`;
      if (taken.has(label)) continue;
      taken.add(label);
      shown.set(name, label);
      break;
    }
  }
  return shown;
}

/**
 * @param {NodeBox} box
 * @param {number} slot
 * @returns {Place}
 */
function unitPlace(box, slot) {
  const shown = Math.min(slot, box.units - 1);
  const left = box.x + (box.width - box.columns * CELL) / 2;
  return [left + ((shown % box.columns) + 0.5) * CELL, box.y + 3 + (Math.floor(shown / box.columns) + 0.5) * CELL];
}
