#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares ours with transformers on templates that are not in the tree.

usage: compare.py RENDER_PROMPTS TEMPLATE.jinja...

RENDER_PROMPTS is the binary of render_prompts.cc. Prints each difference, and the totals; exits 1
where there is a difference.
"""

import json
import pathlib
import subprocess
import sys

from conversations import CASES
from reference import build_prompt


def ours(binary, requests):
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    out = subprocess.run([binary], input=lines.encode(), capture_output=True, check=True).stdout
    return [json.loads(line) for line in out.decode().splitlines()]


def agrees(want, got):
    if isinstance(want, str):
        return got.get("text") == want
    if "error" in want:
        return got.get("error", "").endswith(": " + want["error"].replace("\n", " "))
    return "error" in got


def main():
    binary, paths = sys.argv[1], [pathlib.Path(p) for p in sys.argv[2:]]
    differences = compared = 0
    for path in paths:
        source = path.read_bytes().decode("utf-8")
        results = ours(binary, [{"source": source, "request": case} for case in CASES])
        for case, got in zip(CASES, results, strict=True):
            want = build_prompt(source, case)
            compared += 1
            if not agrees(want, got):
                differences += 1
                print(f"{path.name}: {case['name']}:\n  want {want!r}\n  got  {got!r}")
    print(f"{len(paths)} templates, {compared} prompts, {differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
