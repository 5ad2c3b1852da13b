// Formats numbers for people.

/**
 * Rounds to a whole number. Thousands are separated by a narrow no-break space, which no locale reads as a decimal
 * point.
 * @param {number} value
 */
function whole(value) {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** @param {number} value */
function amount(value) {
  return Number.isInteger(value) ? whole(value) : String(Math.round(value * 1000) / 1000);
}

/**
 * @param {number | null | undefined} value
 * @param {number} digits
 */
function fixed(value, digits) {
  return value === null || value === undefined ? "n/a" : value.toFixed(digits).replace("-", "\u2212");
}

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
function plural(count, one, many) {
  return `${whole(count)} ${count === 1 ? one : many || `${one}s`}`;
}

/** @param {string[]} words */
function list(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/** @param {number[]} values */
function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

/** @param {string} text */
function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
