#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds up the elements that differ in the 16-bit rows of `gdn parity --json`.

usage: build/gdn parity --json parity/goldens/interpreter/* | python3 parity/totals.py
"""

import collections
import json
import sys

STAGES = {"cum_log_decay", "A", "a_inverse", "w", "u", "h", "v_new", "chunk_fwd_h", "chunk_fwd_o",
          "chunk_local_cumsum", "chunk_scaled_dot_kkt", "solve_tril", "recompute_w_u"}


def kind(case, row):
    if case["op"] in STAGES or row["name"] in STAGES:
        return "a stage fed the reference's own inputs"
    return "whole prefill" if case["op"] == "gdn_prefill" else case["op"]


def main():
    totals = collections.defaultdict(lambda: [0, 0, 0])
    for case in json.load(sys.stdin):
        for row in case.get("outputs", []):
            # A log decay of zeros holds only bf16 values; it is f32 all the same.
            if row["dtype"] in ("bf16", "f16") and row["name"] != "cum_log_decay":
                total = totals[kind(case, row), row["dtype"]]
                total[0] += row["differ"]
                total[1] += row["elements"]
                total[2] += 1
    for (name, dtype), (differ, elements, rows) in sorted(totals.items()):
        print(f"{name:40s} {dtype:5s} {rows:3d} rows  {differ:6d} of {elements:8d} differ")


if __name__ == "__main__":
    main()
