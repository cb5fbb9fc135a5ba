#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many clients at once, a third of whom hang up: no answer may change, nothing may leak.

usage: soak.py [--seconds 300] [--streams 64] [--idle-connections 2000] [--model DIR] [--gdn FILE]

Starts `gdn serve`, asks every request alone, then in two equal rounds of random clients compares each
finished answer with that, text and log probabilities, bit for bit. Afterwards the metrics must be
those of the start. Then clients that keep their connections, and throughput with and without idle
connections, in alternation. Exit code 1 where anything is wrong.
"""

import argparse
import collections
import contextlib
import json
import random
import resource
import socket
import statistics
import subprocess
import threading
import time
import urllib.parse

import keep_alive
import serving
import soak_client
from serving import want, want_equal

SETTLE_S = 30
# What the allocator and the kernel's buffers move between two equal rounds.
RESIDENT_NOISE_BYTES = 16 << 20
LEAST_THROUGHPUT_WITH_IDLE = 0.9
LEAST_WINDOWS = 3  # for a median of a machine that does other things, too


class Round:
    """So many clients for so long; each asks, reads or hangs up, and asks again."""

    def __init__(self, url, requests, alone, streams, seconds, seed):
        self.url, self.requests, self.alone = url, requests, alone
        self.deadline = time.monotonic() + seconds
        self.counts, self.wrong, self.lock = collections.Counter(), [], threading.Lock()
        self.threads = [threading.Thread(target=self.client, args=(random.Random(f"{seed} {i}"),))
                        for i in range(streams)]

    def client(self, rng):
        while time.monotonic() < self.deadline:
            index, user = rng.randrange(len(self.requests)), soak_client.User(rng)
            try:
                key = soak_client.ask(self.url, self.requests[index], user)
                verdict = "equal" if key == self.alone[index] else "different"
                error = f"request {index}: {key} is not {self.alone[index]}"
            except soak_client.HungUp:
                verdict = "hung up"
            except soak_client.Overloaded:
                verdict = "overloaded"
                time.sleep(0.2)
            except Exception as failure:  # whatever it is, the request has failed
                verdict, error = "failed", f"request {index}: {type(failure).__name__}: {failure}"
            with self.lock:
                self.counts[verdict] += 1
                if verdict in ("different", "failed"):
                    self.wrong.append(error[:2000])

    def run(self):
        for thread in self.threads:
            thread.start()
        for thread in self.threads:
            thread.join()
        print(f"  {dict(self.counts)}", flush=True)
        for error in self.wrong[:5]:
            print(f"  {error}", flush=True)


def settled(server, start):
    """The metrics once all clients are gone, and with no prompt kept."""
    server.wait_idle(SETTLE_S)
    server.json("/reset_prefix_cache", {})
    deadline = time.monotonic() + SETTLE_S
    names = ("gdn:open_connections", "process_open_fds", "gdn:free_slots", "gdn:free_blocks")
    while True:
        now = server.metrics()
        if time.monotonic() > deadline or all(now[name] == start[name] for name in names):
            return now
        time.sleep(0.1)


def at_rest(server):
    """The metrics once no connection is open but the one that asks."""
    deadline = time.monotonic() + SETTLE_S
    while True:
        now = server.metrics()
        if now["gdn:open_connections"] == 1 or time.monotonic() > deadline:
            want_equal(now["gdn:open_connections"], 1, "gdn:open_connections before the first round")
            return now
        time.sleep(0.1)


def check_rest(start, now):
    """What the server holds is what it held at the start."""
    for name in ("gdn:num_requests_running", "gdn:num_requests_waiting", "gdn:free_slots",
                 "gdn:free_blocks", "gdn:open_connections", "process_open_fds"):
        want_equal(now[name], start[name], name)


def rounds(server, args, check):
    requests = soak_client.make_requests(args.requests, args.seed, 400, 200)
    quiet = random.Random(0)
    print(f"== {len(requests)} requests alone", flush=True)
    alone = []
    for request in requests:
        user = soak_client.User(quiet, hang_up=0, slow=0)
        user.resets = False
        alone.append(soak_client.ask(server.url, request, user))
    start = settled(server, at_rest(server))
    resident = []
    for number in (1, 2):
        print(f"== round {number}: {args.streams} streams for {args.seconds / 2:g} s", flush=True)
        done = Round(server.url, requests, alone, args.streams, args.seconds / 2, args.seed)
        done.run()
        now = settled(server, start)
        resident.append(now["process_resident_memory_bytes"])

        @check(f"round {number}: every finished answer is the one of the request alone")
        def _(done=done):
            want(not done.wrong, f"{len(done.wrong)} are not")
            want(done.counts["equal"] >= args.streams // 2, f"too few to tell: {done.counts}")
            want(done.counts["hung up"] > 0, "nobody hung up")

        @check(f"round {number}: requests, slots, blocks, connections and descriptors are back")
        def _(now=now):
            check_rest(start, now)

    @check("resident memory does not grow from round 1 to round 2")
    def _():
        grown = resident[1] - resident[0]
        print(f"  {resident[0] / 2**20:.1f} MiB, then {grown / 2**20:+.1f} MiB")
        want(grown <= RESIDENT_NOISE_BYTES, f"it grew by {grown:g} bytes")
    return start


def keep_alive_phase(server, args, start, check):
    print(f"== 4 clients that keep their connections, for {args.seconds / 10:g} s", flush=True)

    @check("connections that are kept: each answer is the one to its request")
    def _():
        count, wrong = keep_alive.run(server.url, 4, args.seconds / 10, args.seed)
        print(f"  {count} requests")
        want(count > 100, "too few to tell")
        want(not wrong, f"{len(wrong)} are not, the first {wrong[:1]}")

    @check("connections that were kept are gone")
    def _():
        check_rest(start, settled(server, start))


@contextlib.contextmanager
def idle_connections(url, count):
    """Half of them silent, half in the middle of a request's head."""
    place = urllib.parse.urlsplit(url)
    with contextlib.ExitStack() as stack:
        for i in range(count):
            client = stack.enter_context(
                socket.create_connection((place.hostname, place.port), timeout=30))
            if i % 2:
                client.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\n")
        yield


def throughput(server, args):
    """Output tokens a second of `gdn bench-serve` with 16 requests at once."""
    done = subprocess.run(
        [str(x) for x in (args.gdn, "bench-serve", "--url", server.url, "--concurrency", 16,
                          "--num-requests", args.window_requests, "--prompt-tokens", 32,
                          "--output-tokens", 128, "--seed", 1, "--warmup", 4, "--json")],
        capture_output=True, text=True, check=True, timeout=600)
    return json.loads(done.stdout)["output_tokens_per_second"]


def idle_phase(server, args, start, check):
    print(f"== {args.idle_connections} idle connections, with and without", flush=True)
    speeds = {"without": [], "with": []}

    @check(f"{args.idle_connections} idle connections are held, and do not slow it")
    def _():
        for _ in range(args.windows):
            speeds["without"].append(throughput(server, args))
            with idle_connections(server.url, args.idle_connections):
                want(server.metrics()["gdn:open_connections"] >= args.idle_connections,
                     "the server does not hold them")
                speeds["with"].append(throughput(server, args))
        print(f"  tokens/s: {speeds}")
        if args.windows < LEAST_WINDOWS:
            print(f"  not judged: fewer than {LEAST_WINDOWS} pairs")
            return
        ratio = statistics.median(speeds["with"]) / statistics.median(speeds["without"])
        want(ratio >= LEAST_THROUGHPUT_WITH_IDLE, f"throughput is {ratio:.3f} of that without")

    @check("connections and descriptors are back")
    def _():
        check_rest(start, settled(server, start))


def main():
    parser = argparse.ArgumentParser(prog="soak.py", description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=300, help="of both rounds together")
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--idle-connections", type=int, default=2000, help="0: leave them out")
    parser.add_argument("--windows", type=int, default=3, help="pairs of measurements with them")
    parser.add_argument("--window-requests", type=int, default=128)
    parser.add_argument("--requests", type=int, default=60, help="that differ")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", default=serving.TINY)
    parser.add_argument("--gdn", default=serving.ROOT / "build/gdn")
    args = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # the server inherits it
    check = serving.Checks()
    with serving.Server(model=args.model, binary=args.gdn) as server:
        start = rounds(server, args, check)
        keep_alive_phase(server, args, start, check)
        if args.idle_connections:
            idle_phase(server, args, start, check)
    check.finish()


if __name__ == "__main__":
    main()
