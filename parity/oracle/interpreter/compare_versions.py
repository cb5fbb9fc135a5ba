# SPDX-License-Identifier: Apache-2.0
"""Runs every case through the ops of two vLLM versions and says where a bit of a result changed.

usage: compare_versions.py FOLDER, where the newest version's ops were unpacked

Both run in one interpreter, the pinned one, so a difference is one of the ops' own text."""

import sys
from pathlib import Path

import load_ops  # first: it turns the interpreter on
import numpy as np

import cases
import patches
from dump import ONE_STAGE_SEED, OTHER_SEED, PREFILL_SEED
from golden_files import to_stored, widen
from operators import Operators


def runs():
    """(name, operator, args, inputs) of every case, a prefill also by its stages."""
    for name, op, args, given in cases.others(OTHER_SEED):
        yield name, op, args, given
    for index, case in enumerate(cases.PREFILL):
        patches.set_kkt_operand(case.kkt_operand)
        args, given = case.make(PREFILL_SEED + index)
        yield case.name, "gdn_prefill", args, given
    patches.set_kkt_operand(cases.ONE_STAGE.kkt_operand)
    args, given = cases.ONE_STAGE.make(ONE_STAGE_SEED)
    yield f"the stages of {cases.ONE_STAGE.name}", "stages", args, given


def main() -> None:
    pinned = Operators(load_ops.load(load_ops.installed()))
    newest = Operators(load_ops.load(Path(sys.argv[1]), "newest_ops"))
    print(f"newest: {newest.loaded.folder}")
    same = count = 0
    for name, op, args, given in runs():
        count += 1
        try:
            old, new = (getattr(version, op)(given, args) for version in (pinned, newest))
        except Exception as error:
            print(f"{name}: the newest ops do not run as they are called here: {error}")
            continue
        changed = [key for key in old if not np.array_equal(to_stored(old[key]), to_stored(new[key]))]
        same += not changed
        for key in changed:
            x, y = widen(old[key]), widen(new[key])
            print(f"{name} {key}: {(x != y).sum()} of {x.size} differ, at most by {np.abs(x - y).max():.1e}")
        if op == "gdn_decode" and pinned.null_rows != newest.null_rows:
            print(f"{name}: rows of null slots were {pinned.null_rows}, are {newest.null_rows}")
    print(f"{same} of {count} cases are the same, bit for bit")


if __name__ == "__main__":
    main()
