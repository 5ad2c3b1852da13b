// The replay of a run that is too large to show single instances, or whose trace has only counts: the number of
// instances in each area, by application.

/**
 * @param {AreaRun} run
 * @param {number} frame
 * @param {number} width
 */
function areaStage(run, frame, width) {
  const { parts: areas, frames, by } = run.areas;
  /** @type {[application: number, count: number][][]} */
  const counts = areas.map(() => []);
  for (const [area, application, count] of frames.values[frame]) counts[area].push([application, count]);
  const most = Math.max(
    1,
    ...frames.values.map((rows) => {
      const totals = areas.map(() => 0);
      rows.forEach(([area, , count]) => {
        totals[area] += count;
      });
      return Math.max(...totals);
    }),
  );
  return by === "map" ? areaMap(run, counts, most, width) : areaRows(run, counts, most, width);
}

/**
 * One square for each area. Its size is proportional to the number of instances, and its stripes are applications.
 * @param {AreaRun} run
 * @param {[application: number, count: number][][]} counts
 * @param {number} most
 * @param {number} width
 */
function areaMap(run, counts, most, width) {
  const { parts: areas } = run.areas;
  const columns = Math.max(...areas.map((area) => area.cell[0])) + 1;
  const rows = Math.max(...areas.map((area) => area.cell[1])) + 1;
  const room = Math.min(60, (width - 8) / columns);
  const svg = s("svg", {
    viewBox: `0 0 ${width} ${rows * room + 8}`,
    class: "stage areas",
    role: "img",
    "aria-label": "Instances by area",
  });
  const shift = (width - columns * room) / 2;
  areas.forEach((area, place) => {
    const [x, y] = [shift + area.cell[0] * room, 4 + (rows - 1 - area.cell[1]) * room];
    const total = sum(counts[place].map(([, count]) => count));
    const side = (room - 3) * Math.sqrt(total / most);
    const group = s(
      "g",
      {
        onpointermove: (event) =>
          tooltip.show(event, [
            plural(total, "instance"),
            `${plural(area.nodes, "node")}, ${plural(area.units, "unit")}`,
            ...counts[place].map(([application, count]) => `${run.applications[application].id} ${whole(count)}`),
          ]),
        onpointerleave: tooltip.hide,
      },
      s("rect", { x: x + 1, y: y + 1, width: room - 2, height: room - 2, rx: 3, class: "box" }),
    );
    let left = x + (room - side) / 2;
    for (const [application, count] of counts[place]) {
      const breadth = (side * count) / total;
      group.append(
        s("rect", {
          x: left,
          y: y + (room - side) / 2,
          width: breadth,
          height: side,
          style: `fill:${applicationColour(application)}`,
        }),
      );
      left += breadth;
    }
    svg.append(group);
  });
  return svg;
}

/**
 * @param {AreaRun} run
 * @param {[application: number, count: number][][]} counts
 * @param {number} most
 * @param {number} width
 */
function areaRows(run, counts, most, width) {
  const { parts: areas } = run.areas;
  const svg = s("svg", {
    viewBox: `0 0 ${width} ${areas.length * 30 + 8}`,
    class: "stage areas",
    role: "img",
    "aria-label": "Instances by tier",
  });
  const start = 16 + 7 * Math.max(...areas.map((area) => tierName(run, area.cell[1]).length));
  areas.forEach((area, place) => {
    const y = 6 + place * 30;
    svg.append(s("text", { x: 0, y: y + 15, class: "direct" }, tierName(run, area.cell[1])));
    let left = start;
    for (const [application, count] of counts[place]) {
      const breadth = ((width - start - 60) * count) / most;
      svg.append(
        s("rect", { x: left, y, width: breadth, height: 20, style: `fill:${applicationColour(application)}` }),
      );
      left += breadth;
    }
    svg.append(
      s("text", { x: left + 6, y: y + 15, class: "tick" }, whole(sum(counts[place].map(([, count]) => count)))),
    );
  });
  return svg;
}

/**
 * @param {AreaRun} run
 * @param {number} frame
 */
function areaDetails(run, frame) {
  const totals = run.applications.map(() => 0);
  run.areas.frames.values[frame].forEach(([, application, count]) => {
    totals[application] += count;
  });
  return [
    h("h3", {}, plural(sum(totals), "instance")),
    h(
      "p",
      { class: "hint" },
      run.about.detail === "summary"
        ? "The trace of this run has only counts: how many instances of each application there are in each tier, cycle by cycle."
        : "This run is too large to show instance by instance. Each square is a part of the map; it grows with the instances in it, and its stripes are their applications.",
    ),
    h(
      "ul",
      { class: "totals" },
      run.applications
        .slice(0, 30)
        .map((application, place) =>
          h(
            "li",
            {},
            h("span", { class: "swatch", style: `background:${applicationColour(place)}` }),
            `${application.id} `,
            h("span", { class: "number" }, whole(totals[place])),
          ),
        ),
    ),
  ];
}
