#!/usr/bin/env python3
"""Computes your own figures from the trace of a run; needs only Python's standard library.

    python3 examples/figures.py runs/first
    python3 examples/figures.py runs/first --json

This file is meant to be copied and changed. `Run` reads the trace line by line and keeps counts; `figures` computes the
figures from them. Most of them are also figures of `mario run`, and a test checks that both are equal, so your own figures
build on verified ones. `overloaded` is a figure that mario does not print. docs/trace.md describes the records.
"""

import gzip
import json
import math
import os
import sys

OPERATIONS = ("undeploy", "migrate", "replicate")
COUNTED = OPERATIONS + ("nop", "inhibited", "deploy", "movements")


def lines(path):
    """Yields the values of a trace, one for each line. For a directory, reads the trace in it."""
    if os.path.isdir(path):
        path = os.path.join(path, "trace.jsonl")
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as trace:
        for line in trace:
            if line.endswith("\n"):  # otherwise the run was interrupted while writing the line
                yield json.loads(line)


class Run:
    """Counts for each group: `all`, and each kind of application."""

    def __init__(self, header):
        self.header = header
        self.kinds = [application["kind"] for application in header["applications"]]
        self.groups = ["all"] + [kind for kind in dict.fromkeys(self.kinds) if kind != "all"]
        step_count = max(1, math.ceil(header["duration"] / header["step"]))
        self.steps = {group: [dict.fromkeys(COUNTED, 0) for _ in range(step_count)] for group in self.groups}
        self.active = {group: [0] * step_count for group in self.groups}
        self.application = {}  # of each instance that is there
        self.alive = dict.fromkeys(self.groups, 0)
        self.seen = {group: [] for group in self.groups}  # instances at each cycle
        self.clients = []
        self.usage = {}
        self.rates = {}  # what each instance saw last
        self.overloads = [[0, 0] for _ in self.kinds]  # evaluations, and those with more than an instance handles

    def groups_of(self, application):
        return dict.fromkeys(("all", self.kinds[application]))

    def step(self, time):
        return min(int(time / self.header["step"]), len(self.active["all"]) - 1)

    def count(self, time, application, what):
        for group in self.groups_of(application):
            self.steps[group][self.step(time)][what] += 1

    def appears(self, instance, application):
        self.application[instance] = application
        for group in self.groups_of(application):
            self.alive[group] += 1

    def disappears(self, instance):
        for group in self.groups_of(self.application.pop(instance)):
            self.alive[group] -= 1

    def read(self, record):
        kind, time = record[0], record[1]
        if kind == "deployed":
            self.appears(record[2], record[3])
        elif kind == "handover":
            self.count(time, self.header["users"][record[2]]["application"], "movements")
        elif kind == "evaluation":
            self.evaluation(record)
        elif kind == "cycle":
            self.cycle(time, record[2])
        elif kind == "node-down":
            for instance in record[4]:
                self.disappears(instance)
        elif kind == "usage":
            self.usage[record[2]] = record[3:5]
        elif kind == "client":
            self.clients.append(record[2:])

    def evaluation(self, record):
        instance, requests = record[2], record[5]
        if requests != "same":
            self.rates[instance] = sum(rate for _, rate, _ in requests)
        application = self.application[instance]
        self.overloads[application][0] += 1
        self.overloads[application][1] += self.rates[instance] > self.header["applications"][application]["max_rate"]

    def cycle(self, time, outcomes):
        active = set()
        for instance, operation, *rest in outcomes:
            if operation == "deploy":  # by an operator: [node, verdict, new instance, application, policy]
                if rest[1] == "accepted":
                    self.appears(rest[2], rest[3])
                    self.count(time, rest[3], "deploy")
                continue
            application = self.application[instance]
            if operation == "nop":
                self.count(time, application, "nop")
            elif "accepted" not in rest:
                self.count(time, application, "inhibited")
            else:
                self.count(time, application, operation)
                active.update(self.groups_of(application))
                new = rest[rest.index("accepted") + 1 :]
                if operation == "undeploy" or (operation == "migrate" and new):
                    self.disappears(instance)
                if new:
                    self.appears(new[0], application)
        for group in self.groups:
            self.active[group][self.step(time)] += group in active
            self.seen[group].append(self.alive[group])


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def pearson(steps):
    """Returns the correlation of movements and operations, or None if one of them is constant."""
    xs = [step["movements"] for step in steps]
    ys = [sum(step[operation] for operation in OPERATIONS) for step in steps]
    if len(set(xs)) < 2 or len(set(ys)) < 2:
        return None
    x, y = mean(xs), mean(ys)
    both = sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True))
    return both / math.sqrt(sum((a - x) ** 2 for a in xs) * sum((b - y) ** 2 for b in ys))


def response(run, applications):
    """Returns the mean response time: averaged per user, then per application, then over applications."""
    users = run.header["users"]
    served = [(users[user]["application"], total / count) for user, count, _, total in run.clients if count]
    means = (mean(value for of, value in served if of == application) for application in applications)
    return mean(value for value in means if value is not None)


def figures(run, group):
    applications = [index for index, kind in enumerate(run.kinds) if group in ("all", kind)]
    steps = run.steps[group]
    moving = [index for index in range(1, len(steps)) if steps[index]["movements"]]
    steady = [run.active[group][index] for index in moving]
    operations = {what: sum(step[what] for step in steps) for what in COUNTED if what != "movements"}
    evaluations, overloaded = (sum(run.overloads[index][place] for index in applications) for place in (0, 1))
    return {
        "group": group,
        "movements": sum(step["movements"] for step in steps[1:]),
        "operations": operations,
        "instances": {"mean": mean(run.seen[group]) or 0, "max": max(run.seen[group], default=0)},
        "response": response(run, applications),
        "service_usage": mean(
            run.usage[index][1] / run.usage[index][0] for index in applications if run.usage.get(index, [0])[0]
        ),
        "pearson_r": pearson(steps[1:]),
        "pearson_r_with_start": pearson(steps),
        "cycles_to_steady_state": {"mean": mean(steady), "max": max(steady)} if steady else None,
        # Not a figure of mario: how often an agent observed more client requests than one instance handles.
        "overloaded": overloaded / evaluations if evaluations else None,
    }


def main(path, *options):
    records = lines(path)
    header = next(records)
    if header.get("mario_trace") not in (1, 2):
        sys.exit(f"{path} is not a trace of version 1 or 2")
    run = Run(header)
    for record in records:
        run.read(record)
    results = [figures(run, group) for group in run.groups]
    if "--json" in options:
        json.dump(results, sys.stdout, indent=2)
        print()
        return
    for result in results:
        print(result["group"])
        for name, value in result.items():
            if name != "group":
                print(f"  {name:24}{value if value is not None else 'n/a'}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python3 figures.py RUN [--json]")
    main(*sys.argv[1:])
