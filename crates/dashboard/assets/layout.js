// Where nodes are drawn: in rows by tier, or by their distance from the centre of the colony if tiers are not known.

const CELL = 16;
// The maximum number of units of a node that are drawn.
const UNITS_MAX = 12;
const UNBOUNDED_UNITS = 8;

/** @param {ShownNode} node */
function unitsOf(node) {
  const capacity = node.capacity;
  const units = typeof capacity === "object" ? /** @type {Told | null} */ (capacity)?.units : capacity;
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
  // In depth-first order, so that the nodes of a subtree are adjacent in each row.
  const order = new Map();
  const span = new Map();
  let leaves = 0;
  const visit = (/** @type {string} */ id) => {
    order.set(id, order.size);
    const from = leaves;
    lookUp(children, id).forEach(visit);
    if (leaves === from) leaves += 1;
    span.set(id, (from + leaves) / 2);
  };
  ids.filter((id) => !parent.has(id)).forEach(visit);
  const size = (/** @type {string} */ id) => {
    const units = unitsOf(lookUp(byId, id));
    const columns = units <= 2 ? units : Math.min(4, Math.max(2, Math.ceil(units / 2)));
    return { columns, units, width: Math.max(2, columns) * CELL + 6, height: Math.ceil(units / columns) * CELL + 6 };
  };
  const widest = (/** @type {string[]} */ among) => Math.max(40, ...among.map((id) => size(id).width));
  const leafSlot = Math.max(widest(ids.filter((id) => !lookUp(children, id).length)) + 8, 48);
  const isTree = leaves * leafSlot <= width;
  const slot = isTree ? leafSlot : Math.max(widest(ids) + 12, 60);
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
    const perLine = isTree ? members.length : Math.max(1, Math.floor(width / slot));
    const lineCount = Math.ceil(members.length / perLine);
    const even = Math.ceil(members.length / lineCount);
    for (let line = 0; line < lineCount; line += 1) {
      const inLine = members.slice(line * even, (line + 1) * even);
      const tallest = Math.max(...inLine.map((id) => size(id).height));
      inLine.forEach((id, place) => {
        const own = size(id);
        const x = isTree ? (lookUp(span, id) / leaves) * width : ((place + 0.5) / inLine.length) * width;
        boxes.set(id, { ...own, x: x - own.width / 2, y: top, middleX: x, middleY: top + own.height / 2 });
      });
      // Below the box: its name, its requests, its users.
      top += tallest + 44;
    }
    top += isTree ? 52 : 22;
  }
  return { boxes, labels, width, height: Math.max(120, top - 20), slot, isTree };
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
