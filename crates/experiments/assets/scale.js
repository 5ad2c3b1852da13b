// What runs cost, by the size of their world: one line for each file of measurements.

const MEASURES = [
  {
    name: "cpu",
    title: "CPU time",
    label: "ns for each agent and cycle",
    unit: "ns for each agent and cycle",
    value: (point) => point.cpu_ns_per_agent_cycle,
  },
  {
    name: "memory",
    title: "Memory",
    label: "MB at most, on a logarithmic axis",
    isLogarithmic: true,
    unit: "MB at most",
    value: (point) => point.peak_bytes / 1e6,
  },
  {
    name: "evaluated",
    title: "Decisions evaluated",
    label: "% of those asked",
    unit: "% of those asked",
    value: (point) => (100 * point.evaluated) / Math.max(1, point.asked),
  },
];

function scaleChart(scales, measure, width) {
  const named = scales.length > 1;
  const longest = Math.min(20, Math.max(...scales.map((scale) => scale.name.length)));
  const { svg, box } = canvas(width, 236, {
    left: 48,
    right: named ? Math.min(width * 0.35, 14 + longest * 6.4) : 22,
    top: 36,
    bottom: 38,
  });
  const points = scales.flatMap((scale) => scale.points);
  const sizes = [...new Set(points.map((point) => point.nodes))].sort((one, other) => one - other);
  const x = linear([Math.log10(sizes[0]) - 0.06, Math.log10(sizes[sizes.length - 1]) + 0.06], [box.left, box.right]);
  const values = points.map(measure.value);
  const y = measure.isLogarithmic
    ? logarithmic(values, [box.bottom, box.top])
    : linear([0, Math.max(...values) || 1], [box.bottom, box.top]);
  yAxis(svg, box, y, measure.isLogarithmic ? roundPowers(values) : ticks(0, Math.max(...values) || 1, 4), {
    label: measure.label,
  });
  scales.forEach((scale, place) => {
    const colour = applicationColour(place * 4);
    const at = (point) => [x(Math.log10(point.nodes)), y(measure.value(point))];
    svg.append(
      s("path", {
        d: `M${scale.points
          .map((point) =>
            at(point)
              .map((value) => value.toFixed(1))
              .join(" "),
          )
          .join("L")}`,
        class: "scale-line",
        style: `stroke:${colour}`,
      }),
    );
    scale.points.forEach((point) => {
      const [cx, cy] = at(point);
      svg.append(
        s("circle", {
          cx,
          cy,
          r: 4,
          class: "scale-point",
          style: `fill:${colour}`,
          onpointermove: (event) =>
            tooltip.show(
              event,
              [
                named ? scale.name : null,
                `${plural(point.nodes, "node")}, ${plural(point.users, "user")}, ${plural(point.agents, "agent")}`,
                `${amount(measure.value(point))} ${measure.unit}`,
                `${plural(point.cycles, "cycle")} in ${amount(point.wall_s)} s`,
              ].filter(Boolean),
            ),
          onpointerleave: tooltip.hide,
        }),
      );
    });
  });
  if (named) {
    const heights = spread(
      scales.map((scale) => y(measure.value(scale.points[scale.points.length - 1]))),
      13,
      box.top,
      box.bottom,
    );
    scales.forEach((scale, place) =>
      svg.append(
        s(
          "text",
          { x: box.right + 8, y: heights[place] + 4, class: "direct", style: `fill:${applicationColour(place * 4)}` },
          scale.name.length > 20 ? `${scale.name.slice(0, 19)}\u2026` : scale.name,
        ),
      ),
    );
  }
  // Sizes whose numbers would touch are left without one.
  let free = -Infinity;
  const shown = sizes.filter((size) => {
    const room = whole(size).length * 3.6 + 6;
    if (x(Math.log10(size)) - room < free) return false;
    free = x(Math.log10(size)) + room;
    return true;
  });
  xAxis(svg, box, (size) => x(Math.log10(size)), shown, { label: "nodes", format: whole });
  return svg;
}

// From the power of ten below all values to the greatest value.
function logarithmic(values, range) {
  const [low, ...higher] = roundPowers(values);
  const scale = linear([Math.log10(low), Math.log10(Math.max(...values, ...higher))], range);
  return (value) => scale(Math.log10(Math.max(value, low)));
}

// Powers of ten around values.
function roundPowers(values) {
  const positive = values.filter((value) => value > 0);
  const first = Math.floor(Math.log10(Math.min(...positive, 1e9)));
  const last = Math.ceil(Math.log10(Math.max(...positive, 10 ** first * 1.01)));
  return Array.from({ length: last - first + 1 }, (_, place) => 10 ** (first + place));
}

function scaleRows(scales) {
  const keys = [
    "nodes",
    "users",
    "agents",
    "cycles",
    "asked",
    "evaluated",
    "cpu_ns_per_agent_cycle",
    "peak_bytes",
    "wall_s",
  ];
  return [
    ["measurements", ...keys],
    ...scales.flatMap((scale) => scale.points.map((point) => [scale.name, ...keys.map((key) => point[key])])),
  ];
}

function scaleSection({ scale }) {
  if (!scale.length) return null;
  return section(
    "scale",
    "Scale",
    "What a run costs as its world grows, as mario bench scale measured it. The axis of nodes is logarithmic.",
    grid(
      MEASURES.map((measure) =>
        figure({
          name: `scale-${measure.name}`,
          title: measure.title,
          draw: (width) => scaleChart(scale, measure, width),
          rows: () => scaleRows(scale),
        }),
      ),
    ),
  );
}
