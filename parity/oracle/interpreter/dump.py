# SPDX-License-Identifier: Apache-2.0
"""Computes the goldens with vLLM's own kernels and writes them, or compares them byte by byte with those written.

usage: dump.py --out DIR | --verify DIR  [--only TEXT]

--only takes the cases whose name has TEXT in it."""

import argparse
import sys
import time
from pathlib import Path

import load_ops  # first: it turns the interpreter on
import numpy as np
import torch
import triton

import cases
import chunk_noise
import golden_files
import patches
from golden_files import widen
from operators import CALLABLES, STAGES, Operators

IMPLEMENTATION = "vLLM 0.25.0"
PREFILL_SEED, ONE_STAGE_SEED, OTHER_SEED = 1000, 2000, 3000

# Per stage, what it reads and gives.
STAGE_TENSORS = {
    "chunk_local_cumsum": (("g",), ("cum_log_decay",)),
    "chunk_scaled_dot_kkt": (("k", "beta", "cum_log_decay"), ("A",)),
    "solve_tril": (("A",), ("a_inverse",)),
    "recompute_w_u": (("k", "v", "beta", "cum_log_decay", "a_inverse"), ("w", "u")),
    "chunk_fwd_h": (("k", "w", "u", "cum_log_decay", "state_in"), ("h", "v_new", "state_out")),
    "chunk_fwd_o": (("q", "k", "v_new", "h", "cum_log_decay"), ("out",)),
}
STAGE_OUTPUTS = ("cum_log_decay", "A", "a_inverse", "w", "u", "h", "v_new")
# In a whole case's manifest `out` and `state_out` are the noise of the whole, so the stages' own have their names.
STAGE_NOISE_NAMES = {"out": "chunk_fwd_o", "state_out": "chunk_fwd_h"}


def manifest(op: str, args: dict) -> dict:
    oracle = {"implementation": IMPLEMENTATION, "callable": CALLABLES[op], "torch": torch.__version__.split("+")[0],
              "triton": triton.__version__, "device": "Triton interpreter (CPU, patched)"}
    return {"op": op, "args": args, "oracle": oracle}


def shortened(noise: dict) -> dict:
    """Three digits: enough for a gate, and no machine's last bit is in it."""
    return {name: {key: float(f"{value:.2e}") for key, value in found.items()} for name, found in noise.items()}


def noise_form(case: cases.Prefill) -> chunk_noise.Form:
    return chunk_noise.Form(case.dtype, case.kkt_operand, case.dim ** -0.5)


def arrays(tensors: dict) -> dict[str, np.ndarray]:
    return {name: widen(tensor) for name, tensor in tensors.items()}


def prefill(operators: Operators, case: cases.Prefill, seed: int) -> tuple[str, dict[str, bytes], str]:
    patches.set_kkt_operand(case.kkt_operand)
    args, given = case.make(seed)
    found = operators.gdn_prefill(given, args)
    whole = chunk_noise.measure(noise_form(case), arrays(given), None, seed)
    ours = chunk_noise.evaluate(noise_form(case), arrays(given))
    differ = float((ours["out"] != widen(found["out"])).mean())
    state = chunk_noise.nmse(ours["state_out"], widen(found["state_out"]))
    note = (f"noise {whole['out']['differ']:.2%} of out, state {whole['state_out']['nmse']:.1e}; "
            f"our chunk form differs in {differ:.2%}, state {state:.1e}")
    if case.stages:
        staged = operators.stages(given, args)
        for name in ("out", "state_out"):
            assert torch.equal(staged[name], found[name]), f"{case.name}: the stages give another {name}"
        fed = chunk_noise.measure(noise_form(case), arrays(given), arrays(staged), seed)
        whole |= {STAGE_NOISE_NAMES.get(name, name): value for name, value in fed.items()}
        found |= {name: staged[name] for name in STAGE_OUTPUTS}
    described = manifest("gdn_prefill", args) | {"noise": shortened(whole)}
    if not any(case.with_state()):
        del given["state_in"]  # zeros
    return case.name, golden_files.contents(described, given, found), note


def one_stage_each(operators: Operators):
    """Six folders of one case, each with what its stage reads and gives."""
    case = cases.ONE_STAGE
    patches.set_kkt_operand(case.kkt_operand)
    args, given = case.make(ONE_STAGE_SEED)
    tensors = given | operators.stages(given, args)
    noise = shortened(chunk_noise.measure(noise_form(case), arrays(given), arrays(tensors), ONE_STAGE_SEED))
    for stage in STAGES:
        reads, gives = STAGE_TENSORS[stage]
        described = manifest(stage, args) | {"noise": {name: noise[name] for name in gives}}
        inputs_of = {name: tensors[name] for name in (*reads, "query_start_loc")}
        files = golden_files.contents(described, inputs_of, {name: tensors[name] for name in gives})
        yield f"{stage}_{case.name.removeprefix('gdn_prefill_')}", files, str(described["noise"])


def every(operators: Operators, only: str):
    for name, op, args, given in cases.others(OTHER_SEED):
        if only in name:
            found = getattr(operators, op)(given, args)
            assert args.get("null_rows", operators.null_rows) == operators.null_rows, name
            files = golden_files.contents(manifest(op, args), given, found)
            yield name, files, ""
    if any(only in f"{stage}_{cases.ONE_STAGE.name}" for stage in STAGES):
        yield from one_stage_each(operators)
    for index, case in enumerate(cases.PREFILL):
        if only in case.name:
            yield prefill(operators, case, PREFILL_SEED + index)


def write(folder: Path, files: dict[str, bytes]) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return []


def compare(folder: Path, files: dict[str, bytes]) -> list[str]:
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    wrong = [f"{folder.name}/{name} is missing" for name in files.keys() - there]
    wrong += [f"{folder.name}/{name} is not ours" for name in there - files.keys()]
    return wrong + [f"{folder.name}/{name} differs" for name in sorted(files.keys() & there)
                    if (folder / name).read_bytes() != files[name]]


def main() -> int:
    parser = argparse.ArgumentParser()
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--out", type=Path)
    action.add_argument("--verify", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    missing = cases.uncovered()
    assert not missing, f"pairs without a case: {missing}"

    operators = Operators(load_ops.load(load_ops.installed()))
    wrong, names, total, begin = [], set(), 0, time.time()
    for name, files, note in every(operators, options.only):
        assert name not in names, f"two cases are called {name}"
        names.add(name)
        size = sum(map(len, files.values()))
        total += size
        wrong += write(options.out / name, files) if options.out else compare(options.verify / name, files)
        print(f"{time.time() - begin:6.1f} s  {size // 1024:5d} KiB  {name}  {note}", flush=True)
    if not options.only:
        there = {path.name for path in (options.out or options.verify).iterdir()}
        wrong += [f"{name} is no case of the table" for name in sorted(there - names)]
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(names)} goldens, {total / 2**20:.2f} MiB, {len(wrong)} differences")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
