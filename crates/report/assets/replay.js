// The replay of a run, step by step or playing.

const SPEEDS = [1, 2, 5, 10, 25];
const ICONS = {
  start: "M3 2v10M12 2L5 7l7 5z",
  back: "M11 2L4 7l7 5z",
  play: "M3 1.5L12 7l-9 5.5z",
  pause: "M4 2v10M10 2v10",
  next: "M3 2l7 5-7 5z",
  end: "M11 2v10M2 2l7 5-7 5z",
};

/** @param {keyof typeof ICONS} name */
function icon(name) {
  return s("svg", { viewBox: "0 0 14 14", "aria-hidden": "true", class: "icon" }, s("path", { d: ICONS[name] }));
}

/**
 * @param {keyof typeof ICONS} name
 * @param {string} label
 * @param {() => void} act
 */
function controlButton(name, label, act) {
  return h(
    "button",
    { type: "button", class: "control", "data-control": name, "aria-label": label, title: label, onclick: act },
    icon(name),
  );
}

class Player {
  /**
   * `last` is the player that this one replaces after an update; null at first.
   * @param {PageData} report
   * @param {HTMLElement} root
   * @param {Player | null} last
   */
  constructor(report, root, last) {
    this.report = report;
    this.root = root;
    /** @type {number} */
    this.moment = last ? last.moment : 0;
    /** @type {number} */
    this.speed = last ? last.speed : 5;
    /** @type {string} */
    this.kind = last ? last.kind : "map";
    /** @type {number} */
    this.place = 0;
    this.run = report.runs[0];
    /** @type {number[]} */
    this.moments = [];
    /** @type {RunHistory | null} */
    this.history = null;
    /** @type {Stage | null} */
    this.stage = null;
    /** @type {number | null} */
    this.shown = null;
    /** @type {Picked | null} */
    this.picked = null;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.timer = undefined;
    this.playButton = controlButton("play", "Play (space)", () => this.toggle());
    this.slider = h("input", {
      type: "range",
      min: 0,
      value: 0,
      step: 1,
      "aria-label": "Moment",
      oninput: () => this.go(Number(this.slider.value)),
    });
    this.clock = h("output", { class: "clock", "aria-live": "off" });
    this.spark = h("div", { class: "spark", "aria-hidden": "true" });
    this.stageRoot = h("div", { class: "stage-root" });
    this.details = h("aside", { class: "details", tabindex: 0, "aria-label": "Details", "aria-live": "polite" });
    this.happened = h("p", { class: "happened" });
    this.pickers = h("div", { class: "pickers" });
    this.speeds = h(
      "select",
      { "aria-label": "Moments in a second", onchange: (event) => this.setSpeed(Number(event.target.value)) },
      SPEEDS.map((speed) => h("option", { value: speed, selected: speed === this.speed }, `${speed} per second`)),
    );
    this.tools = h("div", { class: "tools" });
    this.build();
    this.load(last ? Math.min(last.place, report.runs.length - 1) : 0);
    if (last) this.follow(last);
    this.listener = (/** @type {KeyboardEvent} */ event) => this.key(event);
    document.addEventListener("keydown", this.listener);
  }

  build() {
    this.root.append(
      this.tools,
      h(
        "div",
        { class: "replay" },
        h(
          "div",
          { class: "stage-column" },
          this.stageRoot,
          this.happened,
          h("div", { class: "timeline" }, this.spark, this.slider),
          h(
            "div",
            { class: "transport", role: "group", "aria-label": "Replay" },
            controlButton("start", "To the beginning (Home)", () => this.go(0)),
            controlButton("back", "One moment back (left arrow)", () => this.step(-1)),
            this.playButton,
            controlButton("next", "One moment on (right arrow)", () => this.step(1)),
            controlButton("end", "To the end (End)", () => this.go(this.last)),
            this.clock,
            this.speeds,
          ),
          h(
            "p",
            { class: "keys" },
            "Space plays and pauses. Arrows step; with shift, to the next step of mobility. Home and End jump. Plus and minus change the speed.",
          ),
        ),
        h("div", { class: "side" }, this.pickers, this.details),
      ),
    );
  }

  /**
   * Shows a run at the current position, or at its end if it is shorter.
   * @param {number} place
   */
  load(place) {
    this.pause();
    this.place = place;
    this.run = this.report.runs[place];
    this.picked = null;
    const { replay, nodes, areas } = this.run;
    this.history = replay && nodes ? new RunHistory({ ...this.run, replay, nodes }) : null;
    this.moments = this.history?.moments ?? areas?.frames.times ?? [];
    const kinds = !this.history ? [] : nodes?.positions ? ["map", "tree"] : ["tree"];
    this.kind = kinds.includes(this.kind) ? this.kind : (kinds[0] ?? this.kind);
    this.tools.replaceChildren(
      this.report.runs.length > 1
        ? h(
            "label",
            { class: "pick-run" },
            "Run ",
            h(
              "select",
              { id: "replay-run", onchange: (event) => this.load(Number(event.target.value)) },
              this.report.runs.map((run, index) => h("option", { value: index, selected: index === place }, run.label)),
            ),
          )
        : "",
      kinds.length > 1
        ? choice({
            name: "stage-kind",
            label: "View",
            options: [
              ["map", "Map"],
              ["tree", "Tree"],
            ],
            value: this.kind,
            change: (kind) => this.setKind(kind),
          })
        : "",
      this.legend(),
    );
    this.slider.max = String(Math.max(0, this.last));
    this.drawSpark();
    this.setStage();
    this.go(Math.min(this.moment, Math.max(0, this.last)));
  }

  /**
   * Takes over the selection and the playback of the previous player, and closes it.
   * @param {Player} last
   */
  follow(last) {
    if (last.picked && this.history && last.run.about.scenario === this.run.about.scenario) this.pick(last.picked);
    if (last.timer) this.play();
    last.close();
  }

  close() {
    this.pause();
    document.removeEventListener("keydown", this.listener);
  }

  get last() {
    return this.moments.length - 1;
  }

  legend() {
    const applications = this.run.applications
      .map((application, place) => ({ application, place }))
      .filter(({ application }) => isFirstDescription(application))
      .slice(0, 12)
      .map(({ application, place }) =>
        h(
          "span",
          { class: "key" },
          h("span", { class: "swatch", style: `background:${applicationColour(place)}` }),
          application.id,
        ),
      );
    const user = h("span", { class: "key" }, h("span", { class: "ring" }), "user");
    const hasFlavours = this.run.applications.some((application) => application.flavours);
    const found = new Set(this.history?.eventsAt.flat().map(({ kind }) => kind));
    const isShown = (/** @type {EventKind} */ kind) => {
      const { legend } = EVENT_WORDS[kind];
      return legend === "always" || (legend === "flavours" && hasFlavours) || (legend === "found" && found.has(kind));
    };
    const names = new Set(EVENT_KINDS.filter(isShown).map((kind) => EVENT_WORDS[kind].mark));
    const marks = [...names].map((name) => h("span", { class: `key mark-key ${name}` }, name));
    return h("div", { class: "legend", "aria-label": "Legend" }, applications, this.history ? [user, marks] : null);
  }

  /** @param {string} kind */
  setKind(kind) {
    this.kind = kind;
    this.setStage();
    this.go(this.moment);
  }

  setStage() {
    if (!this.history) return;
    this.stage = new Stage(this.history, this.kind, (picked) => this.pick(picked));
    this.stageRoot.replaceChildren(this.stage.svg);
    this.shown = null;
  }

  // Draws the number of accepted operations at each time as thin bars above the slider, on a square-root scale.
  drawSpark() {
    if (!this.history || !this.moments.length) return this.spark.replaceChildren();
    const counts = this.history.eventsAt.map((events) => events.filter(isAccepted).length);
    const most = Math.max(1, ...counts);
    const bars = counts
      .map((count, place) => (count ? `M${place + 0.5} 20V${(20 - 19 * Math.sqrt(count / most)).toFixed(1)}` : ""))
      .join("");
    this.spark.replaceChildren(
      s("svg", { viewBox: `0 0 ${counts.length} 20`, preserveAspectRatio: "none" }, s("path", { d: bars })),
    );
  }

  /** @param {number} moment */
  go(moment) {
    if (!this.moments.length) return this.showNothing();
    const target = Math.max(0, Math.min(this.last, moment));
    const isNext = this.shown !== null && target === this.shown + 1;
    this.moment = target;
    this.slider.value = String(target);
    const time = amount(this.moments[target]);
    this.clock.replaceChildren("time ", h("b", {}, time), ` of ${amount(this.run.about.duration)} ms`);
    if (!this.history || !this.stage) {
      this.slider.setAttribute("aria-valuetext", `time ${time}`);
      this.happened.textContent = "";
      return this.showAreas(target);
    }
    const state = this.history.at(target);
    const events = this.history.eventsAt[target];
    const before = isNext && !this.isStill() ? this.history.at(target - 1) : null;
    this.stage.svg.style.setProperty("--pace", `${Math.min(600, 800 / this.speed)}ms`);
    this.stage.show(state, events, before);
    this.shown = target;
    this.happened.textContent = this.summary(events);
    this.slider.setAttribute("aria-valuetext", `time ${time}. ${this.summary(events)}`);
    this.showPickers(this.history, state);
    this.showDetails();
  }

  /** @param {number} frame */
  showAreas(frame) {
    const { areas } = this.run;
    if (!areas) return;
    const run = { ...this.run, areas };
    this.stageRoot.replaceChildren(areaStage(run, frame, Math.max(300, this.stageRoot.clientWidth)));
    refill(this.details, areaDetails(run, frame));
  }

  isStill() {
    return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  showNothing() {
    this.stageRoot.replaceChildren(h("p", { class: "notice" }, "Nothing has happened in this run."));
    this.details.replaceChildren();
  }

  /** @param {ReplayEvent[]} events */
  summary(events) {
    const parts = EVENT_KINDS.map((kind) => {
      const count = events.filter((event) => event.kind === kind).length;
      const [one, many] = EVENT_WORDS[kind].counted ?? [];
      return count && one ? (many ? plural(count, one, many) : `${count} ${one}`) : null;
    }).filter((part) => part !== null);
    return parts.length ? capital(list(parts)) : "Every agent stays.";
  }

  /**
   * @param {RunHistory} history
   * @param {ReplayState} state
   */
  showPickers({ run }, state) {
    /** @type {number[]} */
    const alive = [];
    state.node.forEach((node, instance) => {
      if (node >= 0) alive.push(instance);
    });
    /** @type {Picked} */
    const picked = this.picked ?? {};
    if (picked.instance !== undefined && !alive.includes(picked.instance)) alive.push(picked.instance);
    const option = (
      /** @type {string | number} */ value,
      /** @type {string} */ text,
      /** @type {boolean} */ isPicked,
    ) => h("option", { value, selected: isPicked }, text);
    const instances = h(
      "select",
      {
        "aria-label": "Instance",
        "data-pick": "instance",
        onchange: (event) => event.target.value && this.pick({ instance: Number(event.target.value) }),
      },
      option("", "Instance…", picked.instance === undefined),
      alive.map((instance) =>
        option(
          instance,
          `${run.replay.instances[instance][0]}, ${run.applications[run.replay.instances[instance][1]].id}`,
          picked.instance === instance,
        ),
      ),
    );
    const nodes = h(
      "select",
      {
        "aria-label": "Node",
        "data-pick": "node",
        onchange: (event) => event.target.value && this.pick({ node: Number(event.target.value) }),
      },
      option("", "Node…", picked.node === undefined),
      run.nodes.ids.map((id, node) => option(node, id, picked.node === node)),
    );
    // Lists are not replaced while one of them has the focus.
    if (this.pickers.contains(document.activeElement)) return;
    this.pickers.replaceChildren(instances, nodes);
  }

  /** @param {Picked} picked */
  pick(picked) {
    if (!this.history) return;
    this.picked = picked;
    this.showPickers(this.history, this.history.at(this.moment));
    this.showDetails();
  }

  showDetails() {
    const { picked, history, moment } = this;
    if (!history || !this.stage) return;
    this.stage.select(picked ?? {});
    const pick = (/** @type {Picked} */ next) => this.pick(next);
    if (picked?.instance !== undefined) refill(this.details, instanceDetails(history, picked.instance, moment, pick));
    else if (picked?.node !== undefined) refill(this.details, nodeDetails(history, picked.node, moment, pick));
    else refill(this.details, momentDetails(history, moment));
  }

  /** @param {number} by */
  step(by) {
    this.pause();
    this.go(this.moment + by);
  }

  /**
   * Moves to the start of the next or previous step of mobility.
   * @param {number} by
   */
  leap(by) {
    this.pause();
    const step = this.run.about.step;
    const now = Math.floor(this.moments[this.moment] / step);
    const goal = this.moments.findIndex((time) => Math.floor(time / step) >= now + by);
    this.go(goal < 0 ? this.last : goal);
  }

  /** @param {number} speed */
  setSpeed(speed) {
    this.speed = speed;
    this.speeds.value = String(speed);
    if (this.timer) this.play();
  }

  toggle() {
    if (this.timer) this.pause();
    else this.play();
  }

  play() {
    clearInterval(this.timer);
    if (this.moment >= this.last) this.go(0);
    this.timer = setInterval(() => {
      if (this.moment >= this.last) this.pause();
      else this.go(this.moment + 1);
    }, 1000 / this.speed);
    this.showPlaying(true);
  }

  pause() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.showPlaying(false);
  }

  /** @param {boolean} isPlaying */
  showPlaying(isPlaying) {
    this.playButton.setAttribute("aria-label", isPlaying ? "Pause (space)" : "Play (space)");
    this.playButton.title = isPlaying ? "Pause (space)" : "Play (space)";
    this.playButton.dataset.playing = String(isPlaying);
    // Keeps screen readers from announcing every change during playback.
    this.details.setAttribute("aria-live", isPlaying ? "off" : "polite");
    this.playButton.replaceChildren(icon(isPlaying ? "pause" : "play"));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { target } = event;
    if (!(target instanceof Element)) return;
    const isHere = target === document.body || this.root.contains(target);
    const hasModifier = event.ctrlKey || event.altKey || event.metaKey;
    if (!isHere || hasModifier || target.matches("select, input[type=radio], summary")) return;
    /** @type {Record<string, () => void>} */
    const acts = {
      " ": () => this.toggle(),
      ArrowRight: () => (event.shiftKey ? this.leap(1) : this.step(1)),
      ArrowLeft: () => (event.shiftKey ? this.leap(-1) : this.step(-1)),
      Home: () => {
        this.pause();
        this.go(0);
      },
      End: () => {
        this.pause();
        this.go(this.last);
      },
      "+": () => this.faster(1),
      "-": () => this.faster(-1),
    };
    // If nothing has the focus, keys other than space control the replay only while it is in the middle of the window.
    const isBody = target === document.body && event.key !== " ";
    if (!acts[event.key] || (isBody && !this.isInUse()) || (event.key === " " && target.tagName === "BUTTON")) return;
    event.preventDefault();
    acts[event.key]();
  }

  isInUse() {
    const { top, bottom } = this.root.getBoundingClientRect();
    return top < window.innerHeight * 0.6 && bottom > window.innerHeight * 0.4;
  }

  /** @param {number} by */
  faster(by) {
    const place = SPEEDS.indexOf(this.speed) + by;
    if (SPEEDS[place]) this.setSpeed(SPEEDS[place]);
  }
}
