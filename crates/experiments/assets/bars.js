// Operations over time: stacked bars, with handovers on a second axis; and the cycles to the steady state.

// The bars of a group: `{ at, until, counts }`, one for each cycle (or few cycles) or one for each step.
function barsOf(run, group, by) {
  const { step, duration } = run.about;
  if (by === "step") {
    return run.figures[group].steps.map(([, counts], place) => ({
      at: place * step,
      until: Math.min(duration, (place + 1) * step),
      counts,
    }));
  }
  const { times, counts, cycles_per_bar: width } = run.bars;
  const period = run.about.evaluation_period * width;
  return times.map((at, place) => ({
    at,
    until: Math.min(times[place + 1] ?? at + period, at + period * 1.5),
    counts: counts[place][group],
  }));
}

function barHeight(bar, visible) {
  return sum(STACK.map((outcome) => (visible.has(outcome) ? bar.counts[outcome] : 0)));
}

// `view` is what the controls say: group, by, visible outcomes.
function operationsChart(run, view, width, highest) {
  const bars = barsOf(run, view.group, view.by);
  const mostHandovers = Math.max(1, ...run.figures[view.group].steps.slice(1).map(([count]) => count));
  const { svg, box } = canvas(width, 236, {
    left: leftRoom(highest, 40),
    right: 20 + whole(mostHandovers).length * 7,
    top: 30,
    bottom: 36,
  });
  if (!bars.length) return nothing(width, "No cycle has happened.");
  const x = linear([0, run.about.duration], [box.left, box.right]);
  const top = Math.max(1, highest);
  const y = linear([0, top], [box.bottom, box.top]);
  yAxis(svg, box, y, ticks(0, top, 4, true), { label: view.by === "step" ? "agents per step" : "agents per cycle" });
  const group = s("g", { class: "bars" });
  for (const bar of bars) {
    const left = x(bar.at);
    const room = Math.max(0.6, x(bar.until) - left);
    const breadth = Math.max(0.6, room - (room > 6 ? Math.min(4, room * 0.2) : room > 2.5 ? 0.8 : 0));
    const one = s("g", { class: "bar" });
    let base = 0;
    for (const outcome of STACK) {
      const count = view.visible.has(outcome) ? bar.counts[outcome] : 0;
      if (!count) continue;
      one.append(
        s("rect", {
          x: left.toFixed(2),
          width: breadth.toFixed(2),
          y: y(base + count).toFixed(2),
          height: (y(base) - y(base + count)).toFixed(2),
          style: `fill:${outcomeColour(outcome)}`,
        }),
      );
      base += count;
    }
    group.append(one);
  }
  svg.append(group);
  handoverLine(svg, box, run, view, x);
  timeAxis(svg, box, x, run.about.duration);
  hover(
    svg,
    box,
    (place) => {
      const found = bars.findIndex((bar) => x(bar.until) > place);
      return found < 0 ? null : { place: found, x: (x(bars[found].at) + x(bars[found].until)) / 2 };
    },
    (place) => {
      const bar = bars[place];
      const step = Math.floor(bar.at / run.about.step);
      const counts = STACK.filter((outcome) => bar.counts[outcome]).map(
        (outcome) => `${OUTCOMES[outcome]} ${bar.counts[outcome]}`,
      );
      return [
        `time ${amount(bar.at)}, step ${step}`,
        ...counts,
        `handovers in the step ${run.figures[view.group].steps[step]?.[0] ?? 0}`,
      ];
    },
  );
  return svg;
}

// The first connections of users, in step 0, are so many that the rest would not be seen.
function handoverLine(svg, box, run, view, x) {
  const movements = run.figures[view.group].steps.map(([count]) => count);
  const most = Math.max(1, ...movements.slice(1));
  const top = most * 2.4;
  const y = linear([0, top], [box.bottom, box.top]);
  rightAxis(svg, box, y, ticks(0, most, 2, true), "handovers per step");
  const { step, duration } = run.about;
  let path = "";
  movements.forEach((count, place) => {
    if (place === 0) return;
    const height = y(count).toFixed(1);
    path += `${path ? "L" : "M"}${x(place * step).toFixed(1)} ${height}H${x(Math.min(duration, (place + 1) * step)).toFixed(1)}`;
  });
  if (path) svg.append(s("path", { d: path, class: "handovers halo" }), s("path", { d: path, class: "handovers" }));
}

function operationsRows(run, view) {
  const rows = [["time", "group", ...OUTCOMES, "handovers_in_step"]];
  run.groups.forEach((name, group) => {
    for (const bar of barsOf(run, group, view.by)) {
      const step = Math.floor(bar.at / run.about.step);
      rows.push([bar.at, name, ...bar.counts, run.figures[group].steps[step]?.[0] ?? 0]);
    }
  });
  return rows;
}

// For each step, how many cycles had an operation. Steps in which nobody moved are drawn pale.
function steadyChart(run, group, width) {
  const { steps, cycles_to_steady_state: steady } = run.figures[group];
  const { svg, box } = canvas(width, 180, { left: 30, right: 12, top: 30, bottom: 36 });
  if (steps.length < 2) return nothing(width, "The run has one step only.");
  const top = Math.max(2, ...steps.slice(1).map(([, , active]) => active));
  const y = linear([0, top], [box.bottom, box.top]);
  const x = linear([0.5, steps.length - 0.5], [box.left, box.right]);
  yAxis(svg, box, y, ticks(0, top, 3, true), { label: "cycles with an operation" });
  const breadth = Math.max(1, (x(1) - x(0)) * 0.62);
  steps.forEach(([movements, , active], place) => {
    if (place === 0 || !active) return;
    svg.append(
      s("rect", {
        x: x(place) - breadth / 2,
        width: breadth,
        y: y(active),
        height: y(0) - y(active),
        class: movements ? "steady" : "steady pale",
      }),
    );
  });
  if (steady) {
    const [mean] = steady;
    svg.append(
      s("line", { x1: box.left, x2: box.right, y1: y(mean), y2: y(mean), class: "mean" }),
      s("text", { x: box.right, y: box.top - 12, class: "direct end" }, `mean ${fixed(mean, 2)}`),
    );
  }
  xAxis(svg, box, x, ticks(1, steps.length - 1, Math.min(8, Math.floor(width / 55)), true), { label: "step" });
  return svg;
}

function steadyRows(run) {
  const rows = [["step", "group", "movements", "cycles_with_an_operation"]];
  run.groups.forEach((name, group) => {
    run.figures[group].steps.forEach(([movements, , active], step) => rows.push([step, name, movements, active]));
  });
  return rows;
}
