// The replay: a run played back, step by step or by itself.

const SPEEDS = [1, 2, 5, 10, 25];
const ICONS = {
  start: "M3 2v10M12 2L5 7l7 5z",
  back: "M11 2L4 7l7 5z",
  play: "M3 1.5L12 7l-9 5.5z",
  pause: "M4 2v10M10 2v10",
  next: "M3 2l7 5-7 5z",
  end: "M11 2v10M2 2l7 5-7 5z",
};

class Player {
  // `last` is the player that this one takes the place of, when there is news about runs.
  constructor(report, root, last) {
    this.report = report;
    this.root = root;
    this.moment = last ? last.moment : 0;
    this.speed = last ? last.speed : 5;
    this.timer = null;
    this.kind = last ? last.kind : null;
    this.build();
    this.load(last ? Math.min(last.place, report.runs.length - 1) : 0);
    if (last) this.follow(last);
    this.listener = (event) => this.key(event);
    document.addEventListener("keydown", this.listener);
  }

  build() {
    const icon = (name) =>
      s("svg", { viewBox: "0 0 14 14", "aria-hidden": "true", class: "icon" }, s("path", { d: ICONS[name] }));
    const button = (name, label, act) =>
      h(
        "button",
        { type: "button", class: "control", "data-control": name, "aria-label": label, title: label, onclick: act },
        icon(name),
      );
    this.playIcon = icon;
    this.playButton = button("play", "Play (space)", () => this.toggle());
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
    const speeds = h(
      "select",
      { "aria-label": "Moments in a second", onchange: (event) => this.setSpeed(Number(event.target.value)) },
      SPEEDS.map((speed) => h("option", { value: speed, selected: speed === this.speed }, `${speed} per second`)),
    );
    this.speeds = speeds;
    this.tools = h("div", { class: "tools" });
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
            button("start", "To the beginning (Home)", () => this.go(0)),
            button("back", "One moment back (left arrow)", () => this.step(-1)),
            this.playButton,
            button("next", "One moment on (right arrow)", () => this.step(1)),
            button("end", "To the end (End)", () => this.go(this.last)),
            this.clock,
            speeds,
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

  // Shows a run from its beginning, or from where it was.
  load(place) {
    this.pause();
    this.place = place;
    this.run = this.report.runs[place];
    this.picked = null;
    const isDetailed = Boolean(this.run.replay && this.run.nodes);
    this.history = isDetailed ? new History(this.run) : null;
    this.moments = isDetailed ? this.history.moments : this.run.areas.frames.times;
    const kinds = !isDetailed ? [] : this.run.nodes.positions ? ["map", "tree"] : ["tree"];
    this.kind = kinds.includes(this.kind) ? this.kind : kinds[0];
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
    this.slider.max = Math.max(0, this.last);
    this.drawSpark();
    this.setStage();
    this.go(Math.min(this.moment, Math.max(0, this.last)));
  }

  // Goes on where the last player was: what was chosen stays, what was playing plays.
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
      .slice(0, 12)
      .map((application, place) =>
        h(
          "span",
          { class: "key" },
          h("span", { class: "swatch", style: `background:${applicationColour(place)}` }),
          application.id,
        ),
      );
    const user = h("span", { class: "key" }, h("span", { class: "ring" }), "user");
    const adapts = this.run.applications.some((application) => application.flavours) ? ["adapt"] : [];
    const acts = this.history ? this.history.eventsAt.flat().map(([, code]) => code) : [];
    const owners = [
      ["evicted", EVENT.evicted],
      ["announced", EVENT.announced],
      ["shrunk", EVENT.shrunk],
      ["sleep", EVENT.sleep],
      ["wake", EVENT.woken],
      ["wake", EVENT.wake],
    ]
      .filter(([, code]) => acts.includes(code))
      .map(([name]) => name)
      .filter((name, place, names) => names.indexOf(name) === place);
    const marks = ["migrate", "replicate", "undeploy", ...adapts, ...owners, "inhibited"].map((name) =>
      h("span", { class: `key mark-key ${name}` }, name),
    );
    return h("div", { class: "legend", "aria-label": "Legend" }, applications, this.history ? [user, marks] : null);
  }

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

  // How much happened at each moment, as a faint line above the slider.
  drawSpark() {
    if (!this.history || !this.moments.length) return this.spark.replaceChildren();
    const counts = this.history.eventsAt.map(
      (events) => events.filter(([, code]) => code >= EVENT.migrate && code <= EVENT.undeploy).length,
    );
    const most = Math.max(1, ...counts);
    const bars = counts
      .map((count, place) => (count ? `M${place + 0.5} 20V${(20 - 19 * Math.sqrt(count / most)).toFixed(1)}` : ""))
      .join("");
    this.spark.replaceChildren(
      s("svg", { viewBox: `0 0 ${counts.length} 20`, preserveAspectRatio: "none" }, s("path", { d: bars })),
    );
  }

  go(moment) {
    if (!this.moments.length) return this.showNothing();
    const target = Math.max(0, Math.min(this.last, moment));
    const isNext = this.shown !== null && this.shown !== undefined && target === this.shown + 1;
    this.moment = target;
    this.slider.value = target;
    const time = amount(this.moments[target]);
    this.clock.replaceChildren("time ", h("b", {}, time), ` of ${amount(this.run.about.duration)}`);
    if (!this.history) {
      this.stageRoot.replaceChildren(areaStage(this.run, target, Math.max(300, this.stageRoot.clientWidth)));
      this.details.replaceChildren(...areaDetails(this.run, target));
      this.slider.setAttribute("aria-valuetext", `time ${time}`);
      this.happened.textContent = "";
      return;
    }
    const state = this.history.at(target);
    const events = this.history.eventsAt[target];
    const before = isNext && !this.isStill() ? this.history.at(target - 1) : null;
    this.stage.svg.style.setProperty("--pace", `${Math.min(600, 800 / this.speed)}ms`);
    this.stage.show(state, events, before);
    this.shown = target;
    this.happened.textContent = this.summary(events);
    this.slider.setAttribute("aria-valuetext", `time ${time}. ${this.summary(events)}`);
    this.showPickers(state);
    this.showDetails();
  }

  isStill() {
    return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  showNothing() {
    this.stageRoot.replaceChildren(h("p", { class: "notice" }, "Nothing has happened in this run."));
    this.details.replaceChildren();
  }

  summary(events) {
    const count = (code) => events.filter((event) => event[1] === code).length;
    const parts = [
      [EVENT.deployed, "deployed"],
      [EVENT.handover, "handover", "handovers"],
      [EVENT.migrate, "migrate"],
      [EVENT.replicate, "replicate"],
      [EVENT.undeploy, "undeploy"],
      [EVENT.adapt, "adapt"],
      [EVENT.evicted, "evicted"],
      [EVENT.announced, "told to leave"],
      [EVENT.shrunk, "shrunk"],
      [EVENT.sleep, "sleep"],
      [EVENT.wake, "wake"],
      [EVENT.woken, "woken by a request", "woken by requests"],
      [EVENT.notWoken, "not let wake"],
      [EVENT.inhibited, "inhibited"],
      [EVENT.deployInhibited, "deploy inhibited"],
      [EVENT.nodeDown, "node down"],
      [EVENT.nodeUp, "node up"],
      [EVENT.linkDown, "link down"],
      [EVENT.linkUp, "link up"],
    ]
      .filter(([code]) => count(code))
      .map(([code, one, many]) => (many ? plural(count(code), one, many) : `${count(code)} ${one}`));
    return parts.length ? capital(list(parts)) : "Every agent stays.";
  }

  showPickers(state) {
    const { run } = this;
    const alive = [];
    state.node.forEach((node, instance) => {
      if (node >= 0) alive.push(instance);
    });
    const picked = this.picked || {};
    if (picked.instance !== undefined && !alive.includes(picked.instance)) alive.push(picked.instance);
    const option = (value, text, isPicked) => h("option", { value, selected: isPicked }, text);
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
    // A list that is being used is not taken away from under the hand.
    if (this.pickers.contains(document.activeElement)) return;
    this.pickers.replaceChildren(instances, nodes);
  }

  pick(picked) {
    this.picked = picked;
    this.showPickers(this.history.at(this.moment));
    this.showDetails();
  }

  showDetails() {
    const { picked } = this;
    this.stage.select(picked || {});
    if (!picked) {
      this.details.replaceChildren(...momentDetails(this.history, this.moment));
      return;
    }
    const content =
      picked.instance !== undefined
        ? instanceDetails(this.history, picked.instance, this.moment, (next) => this.pick(next))
        : nodeDetails(this.history, picked.node, this.moment, (next) => this.pick(next));
    this.details.replaceChildren(...content.flat(3).filter(Boolean));
  }

  step(by) {
    this.pause();
    this.go(this.moment + by);
  }

  // To the next or the last moment at which a step of mobility begins.
  leap(by) {
    this.pause();
    const step = this.run.about.step;
    const now = Math.floor(this.moments[this.moment] / step);
    const goal = this.moments.findIndex((time) => Math.floor(time / step) >= now + by);
    this.go(goal < 0 ? this.last : goal);
  }

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
    this.timer = null;
    if (this.playButton) this.showPlaying(false);
  }

  showPlaying(isPlaying) {
    this.playButton.setAttribute("aria-label", isPlaying ? "Pause (space)" : "Play (space)");
    this.playButton.title = isPlaying ? "Pause (space)" : "Play (space)";
    this.playButton.dataset.playing = isPlaying;
    // What changes by itself many times a second is not read aloud.
    this.details.setAttribute("aria-live", isPlaying ? "off" : "polite");
    this.playButton.replaceChildren(this.playIcon(isPlaying ? "pause" : "play"));
  }

  key(event) {
    const target = event.target;
    const isHere = target === document.body || this.root.contains(target);
    if (
      !isHere ||
      event.ctrlKey ||
      event.altKey ||
      event.metaKey ||
      target.matches("select, input[type=radio], summary")
    )
      return;
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
    // From the body, arrows and ends belong to whoever scrolls the page, until the replay is in use.
    const isBody = target === document.body && event.key !== " ";
    if (!acts[event.key] || (isBody && !this.isInUse()) || (event.key === " " && target.tagName === "BUTTON")) return;
    event.preventDefault();
    acts[event.key]();
  }

  isInUse() {
    const { top, bottom } = this.root.getBoundingClientRect();
    return top < window.innerHeight * 0.6 && bottom > window.innerHeight * 0.4;
  }

  faster(by) {
    const place = SPEEDS.indexOf(this.speed) + by;
    if (SPEEDS[place]) this.setSpeed(SPEEDS[place]);
  }
}
