// Numbers as people read them.

// A narrow space between thousands, which no locale reads as a decimal sign and no line is broken at.
function whole(value) {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

function amount(value) {
  return Number.isInteger(value) ? whole(value) : String(Math.round(value * 1000) / 1000);
}

function fixed(value, digits) {
  return value === null || value === undefined ? "n/a" : value.toFixed(digits).replace("-", "\u2212");
}

function plural(count, one, many) {
  return `${whole(count)} ${count === 1 ? one : many || one + "s"}`;
}

function list(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

// Round numbers between two ends, about as many as asked, never fractions where only whole numbers make sense.
function ticks(low, high, count, isWhole) {
  const span = Math.max(high - low, 1e-9);
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const gaps = [0.5, 1, 2, 5, 10].map((factor) => factor * power);
  const place = gaps.findIndex((candidate) => candidate >= rough);
  const spaced = (gap) => {
    const found = [];
    for (let value = Math.ceil(low / gap) * gap; value <= high + gap * 1e-6; value += gap)
      found.push(Math.round(value / gap) * gap);
    return found;
  };
  const least = (gap) => (isWhole ? Math.max(1, gap) : gap);
  const found = spaced(least(gaps[place]));
  // One number alone tells nothing about an axis.
  return found.length < 2 ? spaced(least(gaps[Math.max(0, place - 1)])) : found;
}

function linear([low, high], [start, end]) {
  const scale = (end - start) / (high - low || 1);
  return (value) => start + (value - low) * scale;
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
