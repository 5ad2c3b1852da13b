"""A tree of serialising links in simpy, the baseline of `crates/simulator/benches/speed.rs`.

Reads {"duration", "period", "paths": [[[link, latency], ...] for each user]} from standard input: every user sends a message
along the user's path each period, and each link carries one message at a time. Prints the number of hops and the CPU time.
"""

import json
import sys
import time

import simpy


def travel(environment, path, busy_until, hops):
    for link, latency in path:
        hops[0] += 1
        now = environment.now
        wait = max(busy_until.get(link, 0.0) - now, 0.0)
        busy_until[link] = now + wait + latency
        yield environment.timeout(latency + wait)


def send(environment, path, period, busy_until, hops):
    while True:
        yield environment.timeout(period)
        environment.process(travel(environment, path, busy_until, hops))


def main():
    world = json.load(sys.stdin)
    began = time.process_time()
    environment = simpy.Environment()
    busy_until, hops = {}, [0]
    for path in world["paths"]:
        environment.process(send(environment, path, world["period"], busy_until, hops))
    environment.run(until=world["duration"])
    print(json.dumps({"hops": hops[0], "seconds": time.process_time() - began}))


main()
