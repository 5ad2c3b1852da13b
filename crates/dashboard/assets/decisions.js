// Decisions of agents, verdicts of managers, and explanations, as lists.

/** @param {Verdict[]} verdicts */
function verdictList(verdicts) {
  const accepted = verdicts.filter(({ is_accepted: is }) => is).length;
  if (!verdicts.length) return h("p", { class: "hint" }, "Its manager has not been heard of yet.");
  return [
    h("h4", {}, "Its last verdicts"),
    h("p", {}, `${accepted} accepted, ${verdicts.length - accepted} inhibited of the last ${verdicts.length}.`),
    h(
      "ol",
      { class: "judgements" },
      repeated(verdicts.map((verdict) => ({ ...verdict, kind: verdict.is_accepted ? "migrate" : "inhibited" })))
        .slice(0, 20)
        .map(({ first, count }) =>
          h(
            "li",
            { class: first.kind },
            h("span", { class: "time" }, clock(first.time_ms)),
            h("span", {}, brief(first.text), count > 1 ? h("span", { class: "times" }, ` ${count} times`) : null),
          ),
        ),
    ),
  ];
}

/**
 * The decisions that a node remembers, newest first: evaluations and verdicts.
 * @param {Operators.Report[]} decisions
 */
function decisionList(decisions) {
  // A node keeps an anchor each time its policy proposes to undeploy it: one entry for both.
  /** @param {Operators.Report | undefined} decision */
  const keepsAnchor = (decision) => decision?.kind === "judged" && decision.rule === "anchor" && !decision.is_accepted;
  /** @param {Operators.Report} decision @param {number} at */
  const isTold = (decision, at) =>
    decision.kind !== "evaluated" || decision.operation !== "undeploy" || !keepsAnchor(decisions[at - 1]);
  const words = decisions.filter(isTold).map((decision) => {
    if (keepsAnchor(decision)) return { kind: "nop", text: "asked to undeploy, and stays: it is an anchor" };
    if (decision.kind === "evaluated") {
      if (decision.has_failed) return { kind: "inhibited", text: "its policy had no valid answer" };
      return decision.operation
        ? { kind: "nop", text: `asked to ${askedWords(decision.operation, decision.target)}` }
        : { kind: "nop", text: "asked for nothing" };
    }
    if (decision.kind !== "judged") {
      return { kind: "nop", text: `unknown report ${decision.kind} (from a newer version)` };
    }
    const { operation, target } = decision.request;
    return decision.is_accepted
      ? { kind: operation, text: `${askedWords(operation, target)} accepted` }
      : { kind: "inhibited", text: `${askedWords(operation, target)} inhibited: ${decision.reason}` };
  });
  return h(
    "ol",
    { class: "judgements plain-list" },
    repeated(words).map(({ first, count }) =>
      h(
        "li",
        { class: first.kind },
        h("span", {}, first.text, count > 1 ? h("span", { class: "times" }, ` ${count} times`) : null),
      ),
    ),
  );
}

/**
 * @param {string} operation
 * @param {Operators.RequestTarget | null | undefined} target
 */
function askedWords(operation, target) {
  if (!target || operation === "undeploy") return operation;
  const name = typeof target === "object" ? target.flavour : target;
  return `${operation} ${name === "self" ? "on its own node" : `to ${name}`}`;
}

/**
 * Merges consecutive items with the same text, and counts them.
 * @template {{ text: string }} T
 * @param {T[]} items
 * @returns {{ first: T, count: number }[]}
 */
function repeated(items) {
  /** @type {{ first: T, count: number }[]} */
  const lines = [];
  for (const item of items) {
    const last = lines[lines.length - 1];
    if (last && last.first.text === item.text) last.count += 1;
    else lines.push({ first: item, count: 1 });
  }
  return lines;
}

/**
 * The lines of an explanation with shortened ids.
 * @param {ExplanationLine[]} lines
 * @returns {ExplanationLine[]}
 */
function briefLines(lines) {
  return lines.map((line) => ({
    ...line,
    text: brief(line.text),
    before: line.before && brief(line.before),
    after: line.after && brief(line.after),
  }));
}
