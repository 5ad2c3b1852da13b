// What there is over time, stacked: instances by application, and by tier.

// `parts` are `{ name, colour, values }`, lowest first; values hold from their time on.
function stackedSteps({ times, parts: all, end, label, width }) {
  const parts = fewParts(all);
  const longest = Math.max(4, ...parts.map((part) => part.name.length));
  const totals = times.map((_, place) => sum(parts.map((part) => part.values[place])));
  const top = Math.max(1, ...totals);
  const { svg, box } = canvas(width, 236, {
    left: leftRoom(top, 34),
    right: Math.min(width * 0.4, 28 + longest * 6.4),
    top: 30,
    bottom: 36,
  });
  if (!times.length) return nothing(width, "No cycle has happened.");
  const last = times.length > 1 ? times[times.length - 1] + (times[1] - times[0]) : end;
  const x = linear([0, end], [box.left, box.right]);
  const y = linear([0, top], [box.bottom, box.top]);
  yAxis(svg, box, y, ticks(0, top, 4, true), { label });
  const base = times.map(() => 0);
  const middles = [];
  for (const part of parts) {
    let upper = "";
    let lower = "";
    times.forEach((time, place) => {
      const from = x(time).toFixed(1);
      const to = x(Math.min(end, times[place + 1] ?? last)).toFixed(1);
      upper += `${upper ? "L" : "M"}${from} ${y(base[place] + part.values[place]).toFixed(1)}H${to}`;
      lower = `L${to} ${y(base[place]).toFixed(1)}H${from}` + lower;
    });
    svg.append(s("path", { d: `${upper}${lower}Z`, style: `fill:${part.colour}`, class: "area" }));
    const final = times.length - 1;
    middles.push(y(base[final] + part.values[final] / 2));
    part.values.forEach((value, place) => {
      base[place] += value;
    });
  }
  const places = spread(middles, 13, box.top + 4, box.bottom - 2);
  const edge = x(Math.min(end, last));
  parts.forEach((part, place) => {
    const final = part.values[part.values.length - 1];
    svg.append(
      s("rect", { x: edge + 8, y: places[place] - 4, width: 8, height: 8, rx: 2, style: `fill:${part.colour}` }),
      s("text", { x: edge + 20, y: places[place] + 4, class: final ? "direct" : "direct faint" }, part.name),
    );
  });
  timeAxis(svg, box, x, end);
  hover(
    svg,
    box,
    (place) => {
      let found = times.findIndex((time) => x(time) > place);
      found = found < 0 ? times.length - 1 : found - 1;
      return found < 0 ? null : { place: found, x: x(times[found]) };
    },
    (place) => [
      `time ${amount(times[place])}: ${totals[place]} in all`,
      ...[...parts]
        .reverse()
        .filter((part) => part.values[place])
        .map((part) => `${part.name} ${part.values[place]}`),
    ],
  );
  return svg;
}

// More parts than can be labelled: the smallest become one.
const PARTS_MAX = 12;

function fewParts(parts) {
  if (parts.length <= PARTS_MAX) return parts;
  const order = parts.map((part, place) => [sum(part.values), place]).sort((one, other) => other[0] - one[0]);
  const kept = new Set(order.slice(0, PARTS_MAX - 1).map(([, place]) => place));
  const rest = parts.filter((_, place) => !kept.has(place));
  const others = {
    name: `${whole(rest.length)} others`,
    colour: "var(--nop)",
    values: parts[0].values.map((_, nth) => sum(rest.map((part) => part.values[nth]))),
  };
  return [...parts.filter((_, place) => kept.has(place)), others];
}

function stackedRows(times, parts) {
  return [
    ["time", ...parts.map((part) => part.name)],
    ...times.map((time, place) => [time, ...parts.map((part) => part.values[place])]),
  ];
}

function applicationParts(run) {
  return run.applications.map((application, place) => ({
    name: application.id,
    colour: applicationColour(place),
    values: run.instances.values.map((counts) => counts[place]),
  }));
}

function asleepParts(run) {
  return run.applications.map((application, place) => ({
    name: application.id,
    colour: applicationColour(place),
    values: run.asleep.values.map((counts) => counts[place]),
  }));
}

function ownerParts(run) {
  return [
    ["evicted", "var(--evicted)"],
    ["shrunk", "var(--shrunk)"],
  ].map(([name, colour], place) => ({ name, colour, values: run.owners.values.map((counts) => counts[place]) }));
}

// The top tier lies lowest: what is far from the users is the ground.
function tierParts(run) {
  const count = run.tiers.values.length ? run.tiers.values[0].length : 0;
  return Array.from({ length: count }, (_, tier) => ({
    name: tierName(run, tier),
    colour: tierColour(tier, count),
    values: run.tiers.values.map((counts) => counts[tier]),
  }));
}
