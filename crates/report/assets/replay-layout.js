// Where nodes are drawn: on the map by position, or as a tree with one row for each tier.

// The maximum number of cells of a node. A node with more units also has a text with the units in use.
const CELLS_MAX = 12;

/** @param {number} capacity */
function cellCount(capacity) {
  return capacity < 0 ? CELLS_MAX : Math.min(capacity, CELLS_MAX);
}

/**
 * Places nodes by position, and users in rows below their access point.
 * @param {Replayed} run
 * @returns {StageLayout}
 */
function mapLayout(run) {
  const { capacities, positions } = run.nodes;
  const size = 760;
  const at = (positions ?? []).map(projection(positions ?? [], [26, 22, size - 26, size - 44]));
  // Boxes have a minimum size, so those of nodes that are very close overlap.
  const gap = Math.min(96, Math.max(nearest(at), 0.55 * Math.sqrt((size * size) / at.length)));
  const cell = Math.max(3, Math.min(16, gap * 0.182));
  const boxes = capacities.map((capacity, node) => {
    const cells = Math.max(1, cellCount(capacity));
    const columns = capacity < 0 ? 4 : Math.ceil(Math.sqrt(cells));
    const [width, height] = [columns * cell + 4, Math.ceil(cells / columns) * cell + 4];
    return { x: at[node][0] - width / 2, y: at[node][1] - height / 2, width, height, columns, cell };
  });
  /** @type {StageLayout["users"]} */
  const users = (node, place, count) => {
    const perRow = 5;
    const row = Math.floor(place / perRow);
    const inRow = Math.min(perRow, count - row * perRow);
    const step = cell * 0.62;
    return [
      at[node][0] + ((place % perRow) - (inRow - 1) / 2) * step,
      boxes[node].y + boxes[node].height + cell * 0.55 + row * step,
    ];
  };
  return { width: size, height: size - 10, cell, boxes, users, radius: cell * 0.26 };
}

/** @param {Place[]} points */
function nearest(points) {
  let least = Infinity;
  const step = Math.max(1, Math.floor(points.length / 400));
  for (let one = 0; one < points.length; one += step) {
    for (let other = 0; other < points.length; other += 1) {
      if (one !== other)
        least = Math.min(least, Math.hypot(points[one][0] - points[other][0], points[one][1] - points[other][1]));
    }
  }
  // In a tree over a grid, the closest nodes are an access point and its parent, half a diagonal apart. 1.42 times that
  // is the distance between access points.
  return Number.isFinite(least) ? least * 1.42 : 90;
}

/**
 * @param {Replayed} run
 * @returns {StageLayout}
 */
function treeLayout(run) {
  const { capacities, tiers, parents, is_access_point: isAccessPoint } = run.nodes;
  /** @type {number[][]} */
  const children = tiers.map(() => []);
  /** @type {number[]} */
  const roots = [];
  parents.forEach((parent, node) => (parent >= 0 ? children[parent] : roots).push(node));
  const tierCount = Math.max(...tiers) + 1;
  const width = 1000;
  /** @type {[from: number, to: number][]} */
  const span = tiers.map(() => [0, 0]);
  let leaves = 0;
  const visit = (/** @type {number} */ node) => {
    const start = leaves;
    children[node].forEach(visit);
    if (!children[node].length) leaves += 1;
    span[node] = [start, leaves];
  };
  roots.forEach(visit);
  const unit = (width - 16) / Math.max(1, leaves);
  const cell = Math.max(2, Math.min(13, unit * 0.8));
  const rowHeights = Array.from({ length: tierCount }, () => cell + 6);
  const boxes = tiers.map((tier, node) => {
    const room = (span[node][1] - span[node][0]) * unit - Math.min(3, unit * 0.15);
    const cells = Math.max(1, cellCount(capacities[node]));
    const [columns, side] = roomiest(cells, room - 3, cell);
    const height = Math.ceil(cells / columns) * side + 4;
    rowHeights[tier] = Math.max(rowHeights[tier], height);
    return { x: 8 + span[node][0] * unit, y: 0, width: room, height, columns, cell: side };
  });
  let top = 26;
  const tops = rowHeights.map((height) => {
    const place = top;
    top += height + 52;
    return place;
  });
  boxes.forEach((box, node) => {
    box.y = tops[tiers[node]];
  });
  const radius = Math.max(1.4, Math.min(3.4, unit * 0.22));
  /** @type {StageLayout["users"]} */
  const users = (node, place) => {
    const box = boxes[node];
    return [box.x + box.width / 2, box.y + box.height + 9 + place * (radius * 2 + 1.6)];
  };
  const crowd = isAccessPoint.some(Boolean) ? 46 : 0;
  return { width, height: top - 44 + crowd, cell, boxes, users, radius, tops };
}

/**
 * The number of columns and the size of the cells of a box, so that they are large in at most three rows. If they would
 * be smaller than 2, they have the size `least` in as many rows as needed.
 * @param {number} cells
 * @param {number} room
 * @param {number} least
 * @returns {[columns: number, side: number]}
 */
function roomiest(cells, room, least) {
  /** @type {[columns: number, side: number]} */
  let best = [cells, 0];
  for (let rows = 1; rows <= Math.min(3, cells); rows += 1) {
    const columns = Math.ceil(cells / rows);
    const side = Math.min(22, room / columns);
    if (side > best[1] + 0.5) best = [columns, side];
  }
  return best[1] >= 2 ? best : [Math.max(1, Math.floor(room / least)), least];
}

/**
 * The centre and the scale of the cell of an instance. Instances beyond `CELLS_MAX` share the last cell.
 * @param {StageLayout} layout
 * @param {number} node
 * @param {number} slot
 * @returns {[x: number, y: number, scale: number]}
 */
function cellPlace(layout, node, slot) {
  const box = layout.boxes[node];
  const shown = Math.min(slot, CELLS_MAX - 1);
  const left = box.x + (box.width - box.columns * box.cell) / 2;
  return [
    left + ((shown % box.columns) + 0.5) * box.cell,
    box.y + 2 + (Math.floor(shown / box.columns) + 0.5) * box.cell,
    box.cell / layout.cell,
  ];
}

/**
 * @param {StageLayout} layout
 * @param {number} node
 * @returns {Place}
 */
function boxMiddle(layout, node) {
  const box = layout.boxes[node];
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/**
 * Returns the projection of positions into a box, with north up. Longitudes are scaled by the cosine of the middle
 * latitude.
 * @param {Place[]} positions
 * @param {[left: number, top: number, right: number, bottom: number]} box
 * @returns {(position: Place) => Place}
 */
function projection(positions, [left, top, right, bottom]) {
  const ends = (/** @type {0 | 1} */ axis) => [
    Math.min(...positions.map((position) => position[axis])),
    Math.max(...positions.map((position) => position[axis])),
  ];
  const [west, east] = ends(0);
  const [south, north] = ends(1);
  const shrink = Math.cos((((south + north) / 2) * Math.PI) / 180);
  const scale = Math.min((right - left) / ((east - west) * shrink || 1e-9), (bottom - top) / (north - south || 1e-9));
  const shift = [(right - left - (east - west) * shrink * scale) / 2, (bottom - top - (north - south) * scale) / 2];
  const single = positions.length === 1;
  return ([longitude, latitude]) =>
    single
      ? [(left + right) / 2, (top + bottom) / 2]
      : [left + shift[0] + (longitude - west) * shrink * scale, top + shift[1] + (north - latitude) * scale];
}

/**
 * The path of a link. Links between inner nodes are curved: straight ones would cross the access points between them.
 * @param {Replayed} run
 * @param {Place[]} at
 * @param {number} from
 * @param {number} to
 */
function linkPath(run, at, from, to) {
  const isLeaf = run.nodes.is_access_point[from] || run.nodes.is_access_point[to];
  return bend(at[from], at[to], isLeaf ? 0 : 0.16);
}

/**
 * @param {number} tier
 * @param {number} count
 */
function tierColour(tier, count) {
  return `var(--tier-${Math.round((tier / Math.max(1, count - 1)) * 6)})`;
}

/**
 * @param {Run} run
 * @param {number} tier
 */
function tierName(run, tier) {
  return run.tier_names[tier] ?? `tier ${tier}`;
}
