// The explanations of decisions in the page. The program that wrote the page supplies the table LOOKS.

/**
 * The parts of the explanation of a case, each a list of lines; null if it is not in the page.
 * @param {Replayed} run
 * @param {number} place
 * @returns {ExplanationLine[][] | null}
 */
function explanationParts(run, place) {
  const { explanations } = run.replay;
  const parts = explanations?.all[place];
  if (!explanations || !parts?.length) return null;
  const { texts, lines } = explanations;
  return parts.map((part) =>
    explanations.parts[part].map((line) => {
      const [depth = 0, look = 0, text = 0, before = 0, after = 0, where = 0] = lines[line];
      return {
        depth,
        look: LOOKS[look],
        text: texts[text],
        before: texts[before],
        after: texts[after],
        place: texts[where],
      };
    }),
  );
}

/**
 * Why there is no explanation of a case.
 * @param {Replayed} run
 * @param {number} place
 */
function explanationMissing(run, place) {
  const { explanations } = run.replay;
  if (!explanations) return "Decisions are explained when the run is complete.";
  return place >= explanations.all.length
    ? "This run has too many different decisions to explain them all in a page; mario policy explain explains any of them."
    : null;
}
