// Shows why an agent decided as it did, in the words of `mario policy explain`.

/**
 * The elements for the lines of an explanation. Consecutive lines of code are one element.
 * @param {ExplanationLine[]} lines
 */
function explanationLines(lines) {
  /** @type {(ExplanationLine & { code: string[] | null })[]} */
  const shown = [];
  for (const line of lines) {
    const previous = shown[shown.length - 1];
    if (line.look === "code" && previous && previous.code) {
      previous.code.push(line.text);
      continue;
    }
    const code = line.look === "code" ? [line.text] : null;
    shown.push({ ...line, code });
  }
  const where = (/** @type {ExplanationLine} */ line) =>
    line.place ? [" ", h("small", {}, line.place.split("/").pop())] : null;
  return shown.map((line) =>
    line.code
      ? h(
          "div",
          { class: "line code", style: `--depth:${line.depth}` },
          line.code.length > 1 ? h("pre", { tabindex: 0 }, line.code.join("\n")) : h("code", {}, line.code[0]),
          where(line),
        )
      : h(
          "p",
          { class: `line ${line.look}`, style: `--depth:${line.depth}` },
          line.before ? `${line.before} ` : null,
          line.look === "met" || line.look === "failed" || line.look === "fact" ? h("code", {}, line.text) : line.text,
          line.after ? `, ${line.after}` : null,
          where(line),
        ),
  );
}

/**
 * The proof of the proposal, further answers, then each operation that was not proposed with the goal that failed.
 * @param {ExplanationLine[][]} parts
 */
function explanationDetails(parts) {
  const asked = parts.filter(([first]) => first.look === "proposed");
  const missed = parts.filter(([first]) => first.look === "missed");
  const isNothing = asked.length === 1 && asked[0].length === 1;
  const [chosen, ...others] = isNothing ? [] : asked;
  const folded = (/** @type {ExplanationLine[]} */ [first, ...rest], /** @type {boolean} */ isOpen) =>
    h(
      "details",
      { class: `part ${first.look}`, open: isOpen },
      h("summary", {}, capital(first.text), first.place ? h("small", {}, ` ${first.place.split("/").pop()}`) : null),
      explanationLines(rest),
    );
  return [
    chosen ? h("div", { class: "part" }, explanationLines(chosen.slice(1))) : null,
    others.length
      ? h(
          "details",
          { class: "part" },
          h("summary", {}, plural(others.length, "more answer")),
          others.map((part) => explanationLines(part)),
        )
      : null,
    missed.length
      ? [h("h4", {}, isNothing ? "Why not" : "Why nothing else"), missed.map((part) => folded(part, isNothing))]
      : null,
  ];
}
