// The map: access points, the tree above them, and the way of each user from access point to access point.

// Puts positions into a box, north up, with a degree of longitude as long as it is there.
function projection(positions, [left, top, right, bottom]) {
  const ends = (axis) => [
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

function mapChart(run, width) {
  if (!run.nodes || !run.nodes.positions)
    return nothing(width, "The nodes of this run have no positions, or are too many to draw.");
  const size = Math.min(width, 560);
  const { svg } = canvas(width, size);
  const inset = (width - size) / 2;
  const place = projection(run.nodes.positions, [inset + 22, 22, inset + size - 22, size - 22]);
  const at = run.nodes.positions.map(place);
  const line = (from, to, name) => s("path", { d: linkPath(run, at, from, to), class: name });
  run.nodes.parents.forEach((parent, node) => {
    if (parent >= 0) svg.append(line(node, parent, `link tier-link-${Math.min(3, run.nodes.tiers[node])}`));
  });
  for (const [one, other] of run.nodes.other_links) svg.append(line(one, other, "link"));
  const ways = s("g", { class: "ways" });
  for (const [user, track] of run.tracks) {
    const [id, application] = run.users[user];
    const style = `stroke:${applicationColour(application)}`;
    const way = wayOf(track, at, user);
    if (way)
      ways.append(s("path", { d: way, style }, s("title", {}, `user ${id}, ${run.applications[application].id}`)));
    if (track.length) {
      const [cx, cy] = besides(at[track[0]], user);
      ways.append(s("circle", { cx, cy, r: 2.6, style }));
    }
  }
  svg.append(ways);
  const most = Math.max(...run.nodes.tiers);
  run.nodes.tiers.forEach((tier, node) => {
    const [x, y] = at[node];
    const size = run.nodes.is_access_point[node] ? 6 : 8 + 3 * (most - tier);
    svg.append(
      s(
        "rect",
        {
          x: x - size / 2,
          y: y - size / 2,
          width: size,
          height: size,
          rx: 2,
          class: "place",
          style: `fill:${tierColour(tier, most + 1)}`,
        },
        s("title", {}, `${run.nodes.ids[node]}, ${tierName(run, tier)}`),
      ),
    );
  });
  return svg;
}

// Links between nodes that are no access points are bent: straight ones would run through the access points between them.
function linkPath(run, at, from, to) {
  const isLeaf = run.nodes.is_access_point[from] || run.nodes.is_access_point[to];
  return bend(at[from], at[to], isLeaf ? 0 : 0.16);
}

// A place near an access point, another for each user; by the golden angle, so that neighbours in the list are far apart.
function besides([x, y], user) {
  const turn = user * 2.399963;
  return [x + 7 * Math.cos(turn), y + 7 * Math.sin(turn)];
}

// A smooth line through access points, a little beside them so that users do not hide each other.
function wayOf(track, at, user) {
  const points = track.map((node) => besides(at[node], user));
  if (points.length < 2) return null;
  let path = `M${points[0].map((value) => value.toFixed(1)).join(" ")}`;
  for (let place = 1; place < points.length; place += 1) {
    const [[x0, y0], [x1, y1]] = [points[place - 1], points[place]];
    const [middleX, middleY] = [(x0 + x1) / 2 - (y1 - y0) * 0.12, (y0 + y1) / 2 + (x1 - x0) * 0.12];
    path += `Q${middleX.toFixed(1)} ${middleY.toFixed(1)} ${x1.toFixed(1)} ${y1.toFixed(1)}`;
  }
  return path;
}

function mapRows(run) {
  const rows = [["user", "application", "visit", "access_point", "longitude", "latitude"]];
  for (const [user, track] of run.tracks) {
    track.forEach((node, visit) => {
      const position = run.nodes?.positions?.[node] ?? ["", ""];
      rows.push([
        run.users[user][0],
        run.applications[run.users[user][1]].id,
        visit,
        run.nodes ? run.nodes.ids[node] : node,
        ...position,
      ]);
    });
  }
  return rows;
}
