// Which nodes inhibited how much, and why.

const RULES = {
  capacity: ["too little free hardware", "var(--inhibited)"],
  neighbourhood: ["no neighbour", "#4477AA"],
  leaving: ["about to leave", "#CCBB44"],
  down: ["down", "#AA3377"],
  acceptance: ["not accepted by its policy", "#66CCEE"],
  flavour: ["no other flavour", "#228833"],
  asleep: ["asleep already", "#332288"],
  awake: ["awake already", "#88CCEE"],
  sleepless: ["does not sleep", "#999933"],
  "acceptance-failed": ["its policy gave no answer", "#BBBBBB"],
};
const INHIBITING_SHOWN = 10;

function inhibitedBars(run) {
  const { nodes, other_nodes: otherNodes, others } = run.inhibited;
  const shown = nodes.slice(0, INHIBITING_SHOWN).map(([id, tier, counts]) => ({ name: id, tier, counts }));
  const rest = nodes.slice(INHIBITING_SHOWN);
  const count = rest.length + otherNodes;
  if (count) {
    const counts = run.inhibited.rules.map((_, rule) => sum(rest.map((row) => row[2][rule])) + others[rule]);
    shown.push({ name: plural(count, "other node"), tier: null, counts });
  }
  return shown;
}

function inhibitedChart(run, width) {
  const bars = inhibitedBars(run);
  if (!bars.length) return nothing(width, "Nothing was inhibited.");
  const { rules } = run.inhibited;
  const label = 104;
  const legend = 22 * Math.ceil((rules.length * 190) / width);
  const { svg, box } = canvas(width, legend + bars.length * 21 + 6, { left: label, right: 44, top: legend, bottom: 6 });
  const x = linear([0, Math.max(...bars.map((bar) => sum(bar.counts)))], [box.left, box.right]);
  rules.forEach((rule, place) => {
    const [words, colour] = RULES[rule];
    const perRow = Math.max(1, Math.floor(width / 190));
    const [left, top] = [(place % perRow) * 190, Math.floor(place / perRow) * 20];
    svg.append(
      s("rect", { x: left, y: top + 2, width: 9, height: 9, rx: 2, style: `fill:${colour}` }),
      s("text", { x: left + 14, y: top + 10.5, class: "direct" }, words),
    );
  });
  bars.forEach((bar, place) => {
    const top = box.top + place * 21;
    svg.append(
      s("text", { x: label - 8, y: top + 13.5, class: bar.tier === null ? "tick end" : "direct end" }, bar.name),
    );
    let base = 0;
    bar.counts.forEach((count, rule) => {
      if (!count) return;
      svg.append(
        s("rect", {
          x: x(base),
          width: Math.max(1, x(base + count) - x(base)),
          y: top + 3,
          height: 15,
          rx: 1.5,
          style: `fill:${RULES[rules[rule]][1]}`,
        }),
      );
      base += count;
    });
    svg.append(s("text", { x: x(base) + 6, y: top + 14, class: "tick" }, whole(base)));
  });
  return svg;
}

function inhibitedRows(run) {
  const { rules, nodes, other_nodes: otherNodes, others } = run.inhibited;
  const rows = [["node", "tier", ...rules], ...nodes.map(([id, tier, counts]) => [id, tier, ...counts])];
  if (otherNodes) rows.push([`${otherNodes} other nodes`, "", ...others]);
  return rows;
}
