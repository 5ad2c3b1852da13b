// The colours of applications, which are defined in the style sheet of the palette.

const APPLICATION_COLOURS = 6;

/** @param {number} place */
function applicationColour(place) {
  return `var(--application-${place % APPLICATION_COLOURS})`;
}

/**
 * Black or white, whichever has more contrast on the colour of an application.
 * @param {number} place
 */
function applicationInk(place) {
  return `var(--on-application-${place % APPLICATION_COLOURS})`;
}
