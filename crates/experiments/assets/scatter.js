// Whether operations follow movements: one point for each step.

function stepPoints(run, group) {
  return run.figures[group].steps.map(([movements, counts], step) => ({
    step,
    movements,
    operations: counts[0] + counts[2] + counts[3],
  }));
}

function scatterChart(run, group, width) {
  const points = stepPoints(run, group).slice(1);
  if (!points.length) return nothing(width, "The run has one step only.");
  const most = (key) => Math.max(1, ...points.map((point) => point[key]));
  const { svg, box } = canvas(width, 250, { left: leftRoom(most("operations"), 34), right: 14, top: 30, bottom: 38 });
  const [right, top] = [most("movements") * 1.06, most("operations") * 1.06];
  const x = linear([0, right], [box.left + 8, box.right]);
  const y = linear([0, top], [box.bottom, box.top]);
  yAxis(svg, box, y, ticks(0, top, 4, true), { label: "operations in the step" });
  xAxis(svg, box, x, ticks(0, right, 6, true), { label: "movements in the step" });
  const { pearson_r: r } = run.figures[group];
  if (r !== null) svg.append(trend(points, x, y, right, top));
  const cells = new Map();
  for (const point of points) {
    const key = `${point.movements} ${point.operations}`;
    cells.set(key, [...(cells.get(key) || []), point]);
  }
  for (const same of cells.values()) {
    const { movements, operations } = same[0];
    svg.append(
      s("circle", {
        cx: x(movements),
        cy: y(operations),
        r: 3.6 * Math.sqrt(same.length),
        class: "point",
        onpointermove: (event) =>
          tooltip.show(event, [
            `${plural(movements, "movement")}, ${plural(operations, "operation")}`,
            `${same.length === 1 ? "step" : "steps"} ${list(same.map((point) => point.step))}`,
          ]),
        onpointerleave: tooltip.hide,
      }),
    );
  }
  svg.append(
    s(
      "text",
      { x: box.right, y: box.bottom - 10, class: "statistic end halo-text" },
      r === null ? "r n/a" : `r = ${fixed(r, 3)}`,
    ),
  );
  return svg;
}

// The line of least squares, inside the box.
function trend(points, x, y, right, top) {
  const mean = (key) => sum(points.map((point) => point[key])) / points.length;
  const [middle, height] = [mean("movements"), mean("operations")];
  const across = sum(points.map((point) => (point.movements - middle) ** 2));
  const slope = sum(points.map((point) => (point.movements - middle) * (point.operations - height))) / across;
  const at = (value) => height + slope * (value - middle);
  const clamp = (value) => Math.min(right, Math.max(0, value));
  const ends =
    slope === 0
      ? [0, right]
      : [(0 - at(0)) / slope, (top - at(0)) / slope].sort((one, other) => one - other).map(clamp);
  return s("line", { x1: x(ends[0]), y1: y(at(ends[0])), x2: x(ends[1]), y2: y(at(ends[1])), class: "trend" });
}

function scatterRows(run) {
  const rows = [["step", "group", "movements", "operations"]];
  run.groups.forEach((name, group) => {
    for (const point of stepPoints(run, group)) rows.push([point.step, name, point.movements, point.operations]);
  });
  return rows;
}
