// How far the placement was from the best: what was, what could have been, and the regret between them.

const REGRETS = {
  satisfied: { name: "Satisfied users", place: 1, digits: 2, sign: -1, label: "satisfied users" },
  latency: { name: "Latency", place: 2, digits: 3, sign: 1, label: "mean latency of users who reach an instance, ms" },
  instances: { name: "Instances", place: 3, digits: 2, sign: 1, label: "instances" },
};

// How much worse what was is than the best, on average; null when that is not defined.
function meanRegret(run, measure) {
  if (!run.regret) return null;
  const [actual, best] = run.regret[measure];
  return actual === null || best === null ? null : (actual - best) * REGRETS[measure].sign;
}

function regretChart(run, measure, width) {
  const { samples, against } = run.regret;
  const { place, digits, label } = REGRETS[measure];
  const end = run.about.duration;
  const times = samples.times;
  const pairs = samples.values.map((moment) => moment[place]);
  const top = Math.max(1, ...pairs.flat().filter((value) => value !== null));
  const { svg, box } = canvas(width, 220, { left: leftRoom(top, 34), right: 52, top: 30, bottom: 36 });
  const x = linear([0, end], [box.left, box.right]);
  const y = linear([0, top], [box.bottom, box.top]);
  yAxis(svg, box, y, ticks(0, top, 4, measure !== "latency"), { label });
  const until = (nth) => x(times[nth + 1] ?? Math.min(end, times[nth] + (times[1] - times[0] || 0)));
  const line = (side) =>
    pairs
      .map((pair, nth) =>
        pair[side] === null
          ? ""
          : `${nth && pairs[nth - 1][side] !== null ? "L" : "M"}${x(times[nth]).toFixed(1)} ${y(pair[side]).toFixed(1)}H${until(nth).toFixed(1)}`,
      )
      .join("");
  const between = pairs
    .map(([actual, best], nth) =>
      actual === null || best === null || actual === best
        ? ""
        : `M${x(times[nth]).toFixed(1)} ${y(actual).toFixed(1)}H${until(nth).toFixed(1)}V${y(best).toFixed(1)}H${x(times[nth]).toFixed(1)}Z`,
    )
    .join("");
  svg.append(
    s("path", { d: between, class: "regret-between" }),
    s("path", { d: line(1), class: "regret-best" }),
    s("path", { d: line(0), class: "regret-actual" }),
  );
  const final = [...pairs].reverse().find(([actual, best]) => actual !== null && best !== null);
  if (final) {
    const names = ["actual", against === "exact" ? "best" : "best known"];
    spread(
      final.map((value) => y(value)),
      13,
      box.top,
      box.bottom,
    ).forEach((height, side) => {
      const words = names[side].split(" ");
      words.forEach((word, nth) =>
        svg.append(
          s(
            "text",
            {
              x: until(times.length - 1) + 6,
              y: height + 4 + nth * 12,
              class: side ? "direct faint" : "direct strong",
            },
            word,
          ),
        ),
      );
    });
  }
  const mean = meanRegret(run, measure);
  svg.append(
    s(
      "text",
      { x: box.right, y: box.top - 12, class: "direct end" },
      mean === null ? "regret n/a" : `mean regret ${fixed(mean, digits)}`,
    ),
  );
  timeAxis(svg, box, x, end);
  hover(
    svg,
    box,
    (at) => {
      let found = times.findIndex((time) => x(time) > at);
      found = found < 0 ? times.length - 1 : found - 1;
      return found < 0 ? null : { place: found, x: x(times[found]) };
    },
    (nth) => [
      `time ${amount(times[nth])}, ${plural(samples.values[nth][0], "user")}`,
      `actual ${pairs[nth][0] === null ? "n/a" : amount(pairs[nth][0])}`,
      `best ${pairs[nth][1] === null ? "n/a" : amount(pairs[nth][1])}`,
    ],
  );
  return svg;
}

function regretRows({ regret: { samples } }) {
  return [
    ["time", "users", "satisfied", "satisfied_best", "latency", "latency_best", "instances", "instances_best"],
    ...samples.times.map((time, nth) => {
      const [users, satisfied, latency, instances] = samples.values[nth];
      return [time, users, ...satisfied, ...latency, ...instances];
    }),
  ];
}

// Runs that nobody compared with the best are left out; without any, so is the section.
function regretSection(report) {
  const runs = report.runs.filter((run) => run.regret);
  if (!runs.length) return null;
  const view = { measure: "satisfied" };
  const figures = grid(
    runs.map((run) =>
      figure({
        name: fileName("regret", run.label),
        title: run.label,
        draw: (width) => regretChart(run, view.measure, width),
        rows: () => regretRows(run),
        caption: `As good as the ${run.regret.against === "exact" ? "best" : "best known"} at ${whole(run.regret.optimal)} of ${plural(run.regret.activations, "activation")} of the managers; at most ${plural(run.regret.satisfied_regret_max, "user")} more could have been satisfied.`,
      }),
    ),
  );
  return section(
    "regret",
    "Regret",
    "What the placement came to at each activation of the managers (solid), and what the best placement for the same users, nodes and links would have come to (dashed). The best satisfies users first, so its latency and its instances need not be the least.",
    h(
      "div",
      { class: "controls" },
      choice({
        name: "regret-measure",
        label: "Regret of",
        value: view.measure,
        options: Object.entries(REGRETS).map(([key, { name }]) => [key, name]),
        change: (measure) => {
          view.measure = measure;
          redrawWithin(figures);
        },
      }),
    ),
    figures,
  );
}
