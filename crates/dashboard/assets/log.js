// The log of events, newest first, with filters.

const KEPT = 2000;
const SHOWN = 200;
/** The kinds of events that are accepted operations, in the order of the legend. Other operations have the kind `node`. */
const OPERATION_KINDS = ["migrate", "replicate", "undeploy", "deploy"];
/** @type {[key: string, label: string, kinds: string[]][]} */
const GROUPS = [
  ["operations", "operations", [...OPERATION_KINDS, "arrived"]],
  ["inhibited", "inhibited", ["inhibited"]],
  ["proposed", "proposals", ["proposed"]],
  ["copies", "copies", ["copy"]],
  ["links", "links", ["link"]],
  ["faults", "faults", ["fault", "journal", "policy", "node"]],
];

class Log {
  /** @param {Choose} pick */
  constructor(pick) {
    this.pick = pick;
    /** @type {Happening[]} */
    this.happenings = [];
    // Proposals are hidden at first: operations and inhibitions repeat them.
    this.hidden = new Set(["proposed"]);
    this.words = "";
    this.search = h("input", {
      type: "search",
      placeholder: "Filter by node, instance or text",
      "aria-label": "Filter the log",
      oninput: () => {
        this.words = this.search.value.trim().toLowerCase();
        this.draw();
      },
    });
    const toggles = GROUPS.map(([key, label]) =>
      h(
        "label",
        { class: "toggle" },
        h("input", {
          type: "checkbox",
          value: key,
          checked: !this.hidden.has(key),
          onchange: (event) => {
            this.hidden[event.target.checked ? "delete" : "add"](key);
            this.draw();
          },
        }),
        label,
      ),
    );
    this.list = h("ol", { class: "judgements log-list panel", tabindex: 0, "aria-label": "What happened" });
    this.more = h("p", { class: "hint" });
    this.element = h(
      "div",
      {},
      h(
        "div",
        { class: "controls" },
        this.search,
        h("fieldset", { class: "toggles" }, h("legend", {}, "Shown"), toggles),
      ),
      this.list,
      this.more,
    );
  }

  clear() {
    this.happenings = [];
    this.later();
  }

  /** @param {Happening} happening */
  add(happening) {
    // Inserted by time: a node that is polled for the first time reports past events.
    let place = this.happenings.length;
    while (place > 0 && this.happenings[place - 1].time_ms > happening.time_ms) place -= 1;
    this.happenings.splice(place, 0, happening);
    if (this.happenings.length > KEPT) this.happenings.shift();
    this.later();
  }

  // Redraws once for all events within a tenth of a second.
  later() {
    if (this.isDue) return;
    this.isDue = true;
    setTimeout(() => {
      this.isDue = false;
      this.draw();
    }, 100);
  }

  /** @param {Happening} happening */
  isShown({ kind, node, text, application }) {
    const group = GROUPS.find(([, , kinds]) => kinds.includes(kind));
    return (
      !(group && this.hidden.has(group[0])) &&
      (!this.words || `${node} ${text} ${application ?? ""} ${kind}`.toLowerCase().includes(this.words))
    );
  }

  draw() {
    const found = this.happenings.filter((happening) => this.isShown(happening)).reverse();
    const focused = document.activeElement;
    const key = this.list.contains(focused) ? focused?.getAttribute("data-key") : null;
    this.list.replaceChildren(...found.slice(0, SHOWN).map((happening) => this.line(happening)));
    focusOn(this.list, key);
    this.more.textContent =
      found.length > SHOWN
        ? `and ${whole(found.length - SHOWN)} earlier`
        : found.length
          ? ""
          : this.happenings.length
            ? "Nothing of this kind has happened."
            : "Nothing has happened yet.";
  }

  /** @param {Happening} happening */
  line({ number, time_ms: time, node, kind, text, instance }) {
    const button = (/** @type {string} */ instance) =>
      h(
        "button",
        { type: "button", class: "link-button", "data-key": `log ${number}`, onclick: () => this.pick({ instance }) },
        brief(instance),
      );
    const place = instance ? text.indexOf(instance) : -1;
    const words =
      instance && place >= 0
        ? [brief(text.slice(0, place)), button(instance), brief(text.slice(place + instance.length))]
        : brief(text);
    const isBad = ["fault", "journal", "policy"].includes(kind);
    return h(
      "li",
      { class: isBad ? "bad" : kind === "arrived" ? "migrate" : kind === "node" ? null : kind, "data-kind": kind },
      h("span", { class: "time" }, clock(time)),
      h("span", { class: "origin" }, node),
      h("span", { class: "what" }, words),
    );
  }
}
