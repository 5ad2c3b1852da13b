// The details of the selected node or instance: a summary beside the map, and the rest below it, where it has room.

class Details {
  /** @param {Choose} pick */
  constructor(pick) {
    this.pick = pick;
    this.body = h("div", {});
    this.element = h("aside", { class: "details", tabindex: 0, "aria-label": "Details" }, this.body);
    this.rest = h("div", { class: "rest-columns" });
    this.reasons = h("div", { class: "reasons" });
    this.below = h(
      "div",
      { class: "details rest", role: "region", "aria-label": "More details" },
      this.rest,
      this.reasons,
    );
    /** @type {Picked | null} */
    this.picked = null;
    /** @type {Snapshot | null} */
    this.picture = null;
    this.text = "";
    /** @type {Everything | null} */
    this.last = null;
  }

  /** Keeps all details, because the server ends soon after the run. */
  async keepAll() {
    try {
      if (this.last) return;
      this.last = await (await fetch("snapshot.json")).json();
      // A node that was stopped explains nothing: its button goes.
      this.text = "";
      this.refresh();
    } catch {
      // The server has ended already: only what is shown is known.
    }
  }

  /**
   * The details of a node or an instance as the server would return them; null if they are unknown.
   * @param {Picked} picked
   * @returns {Promise<any>}
   */
  async details({ node, instance }) {
    if (this.last) return keptDetails(this.last, node, instance);
    const reply = await fetch(
      instance ? `instances/${encodeURIComponent(instance)}` : `nodes/${encodeURIComponent(node ?? "")}`,
    );
    return reply.ok ? reply.json() : null;
  }

  /** @param {Picked | null} picked */
  choose(picked) {
    this.picked = picked;
    this.text = "";
    this.reasons.replaceChildren();
    this.element.scrollTop = 0;
    this.refresh();
  }

  async refresh() {
    const picked = this.picked;
    if (!picked) return this.show("nothing", nothingDetails(this.picture), null);
    try {
      const told = await this.details(picked);
      // The selection may have changed meanwhile.
      if (this.picked !== picked) return;
      if (!told)
        return this.show(
          "gone",
          [
            h("h3", {}, brief(picked.instance ?? picked.node)),
            h("p", { class: "hint" }, "No polled node knows it any more."),
          ],
          null,
        );
      if (told.status) delete told.status.uptime_ms;
      const text = JSON.stringify(told);
      if (picked.instance)
        this.show(
          text,
          () => this.instance(told),
          () => this.instanceRest(told),
        );
      else
        this.show(
          text,
          () => this.node(told),
          () => this.nodeRest(told),
        );
    } catch {
      // The connection is lost; the page shows that elsewhere.
    }
  }

  /**
   * Redraws the details if they have changed. Expanded parts stay expanded, and the focus stays where it is.
   * @param {string} text
   * @param {Child | (() => Child)} summary
   * @param {Child | (() => Child)} rest
   */
  show(text, summary, rest) {
    if (text === this.text && text !== "nothing") return;
    this.text = text;
    replaceParts(this.body, typeof summary === "function" ? summary() : summary);
    replaceParts(this.rest, typeof rest === "function" ? rest() : rest);
  }

  /** @param {string | null} application */
  colourOf(application) {
    return this.picture ? colourOf(this.picture, application) : "transparent";
  }

  /** @param {unknown} id */
  nodeButton(id) {
    return h(
      "button",
      {
        type: "button",
        class: "link-button",
        "data-key": `node ${id}`,
        onclick: () => this.pick({ node: String(id) }),
      },
      String(id),
    );
  }

  /** @param {InstanceDetails} told */
  instance(told) {
    const owned = ownedInstance(told);
    const copy = told.told?.copy;
    return [
      h(
        "h3",
        {},
        h("span", { class: "swatch", style: `background:${this.colourOf(told.application)}` }),
        `Instance ${brief(told.id)}`,
      ),
      h(
        "p",
        { class: "where" },
        `${told.application}, `,
        told.state === "elsewhere" ? "went to " : told.is_silent ? "last seen on " : "on ",
        this.nodeButton(told.node),
        told.state === "elsewhere" ? `, says ${told.told_by}; that node is not asked` : "",
      ),
      table([
        ["id", brief(told.id) === told.id ? null : copyableId(told.id)],
        ["copy", copy ? `${copy.state}${copy.address ? `, ${copy.address}` : ""}` : told.state],
        ["requests", perSecond(told.requests_per_s)],
        ["open requests", copy?.open_requests],
        [
          "moves",
          owned?.is_transferring ? "it is being transferred" : told.target ? `handed over to ${told.target}` : null,
        ],
        ["asleep", told.is_asleep ? "yes: the next client request wakes it, if there is room" : null],
        ["anchor", told.is_anchor ? "yes: its agent cannot end it" : null],
        ["pinned", told.is_pinned ? "yes: its agent can neither end nor move it" : null],
        ["hardware", owned ? hardwareWords(owned.hardware) : null],
        ["evaluations", owned?.evaluations],
        ["replications left", owned?.replications_left],
        ["memory", typeof copy?.memory_bytes === "number" ? `${fixed(copy.memory_bytes / 2 ** 20, 1)} MiB` : null],
        ["CPU time", typeof copy?.cpu_time_ms === "number" ? `${fixed(copy.cpu_time_ms / 1000, 1)} s` : null],
      ]),
      owned && !told.is_silent && !this.last
        ? h(
            "p",
            {},
            h(
              "button",
              { type: "button", class: "quiet", "data-key": "explain", onclick: () => this.explain(told.id) },
              "Explain the last decision",
            ),
          )
        : null,
    ];
  }

  /**
   * What an instance saw, and what it decided.
   * @param {InstanceDetails} told
   */
  instanceRest(told) {
    const owned = ownedInstance(told);
    const decisions = [...(owned?.decisions ?? [])].reverse();
    return [
      owned ? h("div", {}, this.facts(told, owned)) : null,
      decisions.length
        ? h("div", {}, h("h4", {}, "Its last decisions"), decisionList(decisions))
        : told.told
          ? h("p", { class: "hint" }, "It has not decided anything on this node yet.")
          : null,
    ];
  }

  /**
   * @param {InstanceDetails} told
   * @param {Operators.OwnedInstance} seen
   */
  facts(told, { facts, max_rate: handles, max_latency: tolerates }) {
    const requests = facts.requests ?? [];
    const window = told.evaluation_ms
      ? `the last ${fixed(told.evaluation_ms / 1000, told.evaluation_ms % 1000 ? 1 : 0)} s`
      : "its last window";
    const total = sum(requests.map(({ rate }) => rate));
    const late = sum(requests.filter(({ latency }) => latency > tolerates).map(({ rate }) => rate));
    const words = requests.length
      ? [
          `${plural(total, "client request")} reached it in ${window}; one instance handles ${amount(handles)}${total > handles ? ": it is overloaded" : ""}.`,
          late
            ? `${late === total ? "All" : amount(late)} of them were later than the tolerated ${amount(tolerates)} ms.`
            : `None was later than the tolerated ${amount(tolerates)} ms.`,
        ]
      : [`No client request reached it in ${window}.`];
    return [
      h("h4", {}, "What it saw"),
      h(
        "ul",
        { class: "why" },
        words.map((line) => h("li", {}, line)),
        h(
          "li",
          {},
          facts.neighbours.length
            ? [
                "Neighbours: ",
                ...facts.neighbours.flatMap((node, place) => [place ? ", " : "", this.nodeButton(node)]),
                ".",
              ]
            : "No link of its node works.",
        ),
        h("li", {}, `Free on its node: ${hardwareWords(facts.free)}.`),
      ),
      requests.length
        ? h(
            "details",
            {},
            h("summary", {}, "All facts"),
            h(
              "table",
              { class: "facts" },
              h(
                "thead",
                {},
                h(
                  "tr",
                  {},
                  ["through", "requests", "latency, ms"].map((head) => h("th", { scope: "col" }, head)),
                ),
              ),
              h(
                "tbody",
                {},
                requests.map(({ neighbour, rate, latency }) =>
                  h(
                    "tr",
                    {},
                    h("td", {}, neighbour),
                    h("td", {}, amount(rate)),
                    h(
                      "td",
                      { class: latency > tolerates ? "late" : null },
                      amount(latency),
                      latency > tolerates ? " late" : "",
                    ),
                  ),
                ),
              ),
            ),
          )
        : null,
    ];
  }

  /** @param {string} id */
  async explain(id) {
    const picked = this.picked;
    const show = (/** @type {Child[]} */ ...parts) => {
      if (this.picked !== picked) return;
      refill(this.reasons, h("h4", {}, "Why, and what would have to change"), parts);
      this.reasons.scrollIntoView({ block: "nearest" });
    };
    show(h("p", { class: "hint" }, "Its node makes the decision again…"));
    try {
      const reply = await fetch(`explanations/${encodeURIComponent(id)}`);
      const told = await reply.json();
      if (!reply.ok) return show(h("p", { class: "hint" }, told.error ?? "Its node cannot explain it."));
      /** @type {ExplanationLine[][]} */
      const parts = (told.parts ?? []).map(briefLines);
      const first = parts.find(([line]) => line?.look === "proposed");
      show(
        first
          ? h(
              "p",
              { class: "asked" },
              h("strong", {}, capital(first[0].text)),
              first[0].place ? h("small", {}, ` ${first[0].place}`) : null,
            )
          : null,
        explanationDetails(parts),
        told.error ? h("p", { class: "hint" }, told.error) : null,
      );
    } catch {
      show(h("p", { class: "hint" }, "The connection is lost."));
    }
  }

  /** @param {NodeDetails} told */
  node(told) {
    const { status, journal, instances } = told;
    if (told.reach === "unwatched") {
      return [
        h("h3", {}, told.id),
        h(
          "p",
          { class: "hint" },
          "This node is not asked: what is shown of it is what its neighbours tell. Name its address with --node to see more.",
        ),
      ];
    }
    return [
      h("h3", {}, told.id),
      h(
        "p",
        { class: "where" },
        {
          answers: `answers at ${told.address}`,
          silent: `does not answer at ${told.address}`,
          unknown: `not heard yet, at ${told.address}`,
        }[told.reach],
      ),
      told.cause ? h("p", { class: "notice" }, told.cause) : null,
      table([
        [
          "hardware",
          status?.capacity ? `${hardwareWords(status.free)} free of ${hardwareWords(status.capacity)}` : null,
        ],
        ["unreserved", status?.capacity ? hardwareWords(status.unreserved) : null],
        ["reservations", told.reservations],
        ["acceptance", status ? (status.acceptance_policy ?? "accepts what fits") : null],
        ["from clients", perSecond(told.requests_per_s)],
        ["answered here", perSecond(told.answered_per_s)],
        ["failed", perSecond(told.failed_per_s)],
        ["drains", status?.is_draining ? "yes: it takes nothing new" : null],
        ["version", status?.version],
        [
          "journal",
          journal?.journal
            ? `${plural(journal.records, "record")}${journal.fault ? `; it cannot be written: ${journal.fault}` : "; it can be written"}`
            : null,
        ],
        ["handed over", status?.in_custody || null],
        ["offered", status?.offered || null],
        ["from a newer version", told.unknown.length ? told.unknown.join(", ") : null],
      ]),
      instances.length
        ? h(
            "p",
            { class: "tenants" },
            instances.map((one) =>
              h(
                "button",
                {
                  type: "button",
                  class: "tenant",
                  "data-key": `instance ${one.instance}`,
                  onclick: () => this.pick({ instance: String(one.instance) }),
                },
                h("span", { class: "swatch", style: `background:${this.colourOf(String(one.application))}` }),
                `${brief(one.instance)}, ${one.application}`,
              ),
            ),
          )
        : h("p", { class: "hint" }, "No instance is here."),
    ];
  }

  /**
   * The links of a node, its routes, and the verdicts of its manager.
   * @param {NodeDetails} told
   */
  nodeRest(told) {
    return [
      told.links.length
        ? h(
            "div",
            {},
            h("h4", {}, "Links"),
            h(
              "table",
              { class: "facts" },
              h(
                "thead",
                {},
                h(
                  "tr",
                  {},
                  ["to", "round trip", "state"].map((head) => h("th", { scope: "col" }, head)),
                ),
              ),
              h(
                "tbody",
                {},
                told.links.map((link) =>
                  h(
                    "tr",
                    {},
                    h("td", {}, this.nodeButton(link.neighbour)),
                    h("td", {}, link.round_trip_ms === null ? "–" : milliseconds(link.round_trip_ms)),
                    h(
                      "td",
                      { class: link.is_up && link.has_data ? null : "late" },
                      link.is_up ? (link.has_data ? "up" : "no client requests") : "down",
                    ),
                  ),
                ),
              ),
            ),
            routeDetails(told.routes),
          )
        : routeDetails(told.routes),
      h("div", {}, verdictList(told.verdicts ?? [])),
    ];
  }
}

/**
 * Replaces the children of an element. Expanded parts stay expanded, and the focus stays where it is.
 * @param {Element} element
 * @param {Child} parts
 */
function replaceParts(element, parts) {
  const open = new Set(
    [...element.querySelectorAll("details[open] > summary")].map((summary) => summary.textContent ?? ""),
  );
  const focused = document.activeElement;
  const key = element.contains(focused) ? focused?.getAttribute("data-key") : null;
  refill(element, parts);
  element.querySelectorAll("details").forEach((details) => {
    if (open.has(details.querySelector("summary")?.textContent ?? "")) details.open = true;
  });
  focusOn(element, key);
}

/**
 * The instance as its node reports it, if that node owns it.
 * @param {InstanceDetails} details
 * @returns {Operators.OwnedInstance | null}
 */
function ownedInstance({ told }) {
  return told?.state === "owned" ? told : null;
}

/**
 * The details of a node or an instance from the last snapshot; null if it has none.
 * @param {Everything} last
 * @param {string} [node]
 * @param {string} [instance]
 */
function keptDetails({ instances, nodes, details }, node, instance) {
  const ofId = (/** @type {{ id: string }} */ one) => one.id === (instance ?? node);
  if (!instance) {
    const named = nodes.find(ofId);
    const nothing = {
      status: null,
      links: [],
      routes: null,
      journal: null,
      instances: [],
      verdicts: null,
      unknown: [],
    };
    return details.find(ofId) ?? (named ? { ...named, ...nothing } : null);
  }
  const shown = instances.find(ofId);
  if (!shown) return null;
  const host = details.find((one) => one.id === shown.node);
  const told = host?.instances.find((one) => one.instance === instance) ?? null;
  return { ...shown, told, evaluation_ms: host?.status?.evaluation_ms ?? null };
}

/**
 * A shortened id, with a button that copies all of it.
 * @param {string} id
 */
function copyableId(id) {
  const shown = h("code", { title: id }, brief(id));
  const button = h(
    "button",
    {
      type: "button",
      class: "link-button",
      "data-key": `copy ${id}`,
      onclick: async () => {
        try {
          await navigator.clipboard.writeText(id);
          button.textContent = "copied";
        } catch {
          // Without access to the clipboard, the whole id is selected instead.
          shown.textContent = id;
          getSelection()?.selectAllChildren(shown);
        }
      },
    },
    "copy",
  );
  return [shown, " ", button];
}

/** @param {[name: string, value: any][]} rows */
function table(rows) {
  const shown = rows.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return shown.length
    ? h(
        "table",
        { class: "values" },
        h(
          "tbody",
          {},
          shown.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value))),
        ),
      )
    : null;
}

/**
 * @param {Operators.Capacity | null} hardware
 * @returns {string}
 */
function hardwareWords(hardware) {
  if (hardware === null) return "–";
  if (typeof hardware === "object")
    return Object.entries(hardware)
      .map(([kind, many]) => `${many} ${kind.replace("_", " ")}`)
      .join(", ");
  return typeof hardware === "number" ? plural(hardware, "unit") : String(hardware);
}

/** @param {Operators.Routes | null} routes */
function routeDetails(routes) {
  const hops = Object.entries(routes?.next_hops ?? {}).filter(([, list]) => list.length);
  const copies = Object.entries(routes?.copies ?? {});
  if (!hops.length && !copies.length) return null;
  return h(
    "details",
    {},
    h("summary", {}, `Routes to ${plural(new Set([...hops, ...copies].map(([name]) => name)).size, "application")}`),
    h(
      "ul",
      { class: "why" },
      copies.map(([name, list]) => h("li", {}, `${name}: ${plural(list.length, "copy", "copies")} here`)),
      hops.map(([name, list]) =>
        h("li", {}, `${name}: by way of ${list.map((hop) => `${hop.neighbour} (${hop.latency_quanta})`).join(", ")}`),
      ),
    ),
  );
}

/**
 * @param {Snapshot | null} picture
 * @returns {Child}
 */
function nothingDetails(picture) {
  if (!picture) return null;
  const rows = picture.applications.map(({ id, instances }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("span", { class: "swatch", style: `background:${colourOf(picture, id)}` }), id),
      h("td", {}, whole(instances)),
      h(
        "td",
        { class: "meter" },
        h("span", {
          style: `width:${(100 * instances) / Math.max(1, picture.instances.length)}%;background:${colourOf(picture, id)}`,
        }),
      ),
    ),
  );
  return [
    h(
      "p",
      { class: "hint" },
      "Choose an instance to see what it saw and decided, or a node to see what its manager said.",
    ),
    h("h3", {}, plural(picture.instances.length, "instance")),
    rows.length
      ? h("table", { class: "now" }, h("tbody", {}, rows))
      : h("p", { class: "hint" }, "Deploy one with mario app deploy."),
  ];
}

/** @param {number} timeMs */
function clock(timeMs) {
  const time = new Date(timeMs);
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}
