// Colours that people with any kind of colour vision can tell apart. Applications have the palette of Okabe and Ito, cool
// colours first; what becomes of agents has the palette "bright" of Tol; tiers go from dark to light in one hue.

const APPLICATION_COLOURS = ["#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00", "#CC79A7"];
const OUTCOMES = ["undeploy", "nop", "migrate", "replicate", "inhibited"];
// The order in which outcomes are stacked: what changed something first.
const STACK = [3, 2, 0, 4, 1];

function outcomeColour(outcome) {
  return `var(--${OUTCOMES[outcome]})`;
}

function applicationColour(place) {
  return APPLICATION_COLOURS[place % APPLICATION_COLOURS.length];
}

// Black or white, whichever is read better on a colour.
function inkOn(colour) {
  const [red, green, blue] = [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16) / 255);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.55 ? "#111" : "#fff";
}

function tierColour(tier, count) {
  return `var(--tier-${Math.round((tier / Math.max(1, count - 1)) * 6)})`;
}

function tierName(run, tier) {
  return run.tier_names[tier] ?? `tier ${tier}`;
}

function groupName(group) {
  return group === "all" ? "All" : group || "Other";
}
