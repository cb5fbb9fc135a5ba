#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ./test prints at its end.

usage: test_report.py registered BUILD_DIR   every x_test.cc is a binary that CTest runs
       test_report.py summary RESULTS_DIR    counts; exit 1 when something failed or nothing ran
"""

import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

# What CTest writes for a test that skipped itself; all else that "did not run" is a failure.
SKIPPED = {"SKIP_REGULAR_EXPRESSION_MATCHED", "SKIP_RETURN_CODE"}


def registered(build_dir):
    root = pathlib.Path(__file__).resolve().parent.parent
    shown = subprocess.run(["ctest", "--test-dir", build_dir, "--show-only=json-v1"],
                           capture_output=True, check=True, text=True).stdout
    binaries = {}
    for test in json.loads(shown)["tests"]:
        labels = [v for p in test.get("properties", []) if p["name"] == "LABELS" for v in p["value"]]
        for word in test.get("command", [])[:1]:
            binaries.setdefault(pathlib.Path(word).name, set()).update(labels)
    missing = 0
    files = [p for folder in ("src", "tests") for p in sorted((root / folder).rglob("*_test.cc"))]
    for path in files:
        label = "slow" if path.stem.endswith("_slow_test") else "fast"
        if label not in binaries.get(path.stem, ()):
            print(f"{path.relative_to(root)}: no test of label {label} runs a binary {path.stem}")
            missing += 1
    print(f"{len(files)} test files, {missing} without a test")
    return 1 if missing or not files else 0


def skip_reason(case):
    out = case.findtext("system-out") or ""
    match = re.search(r": Skipped\n(.*?)\n\s*\n?\[", out, re.DOTALL)
    return " ".join(match[1].split()) if match and match[1].strip() else "no reason given"


def read_suite(path):
    """Lists of passed, failed and skipped tests; the skipped ones as (name, reason)."""
    passed, failed, skipped = [], [], []
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        name = f"{path.stem}: {case.get('name')}"
        skip = case.find("skipped")
        if skip is not None and skip.get("message") in SKIPPED:
            skipped.append((name, skip_reason(case)))
        elif skip is not None or case.get("status") != "run" or case.find("failure") is not None:
            failed.append(name)
        else:
            passed.append(name)
    return passed, failed, skipped


def read_results(folder):
    passed, failed, skipped = [], [], []
    for line in (folder / "steps.tsv").read_text().splitlines():
        kind, name, *status = line.split("\t")
        if kind in ("passed", "failed"):
            (passed if kind == "passed" else failed).append(name)
            continue
        suite = folder / f"{name}.xml"
        before = len(failed)
        ran = 0
        if suite.is_file():
            parts = read_suite(suite)
            passed += parts[0]
            failed += parts[1]
            skipped += parts[2]
            ran = sum(map(len, parts))
        if ran == 0:
            failed.append(f"{name}: no test ran")
        elif status != ["0"] and len(failed) == before:
            failed.append(f"{name}: ctest ended with status {status[0]}")
    return passed, failed, skipped


def summary(folder):
    passed, failed, skipped = read_results(folder)
    reasons = {}
    for name, reason in skipped:
        reasons.setdefault(reason, []).append(name)
    for reason, names in sorted(reasons.items()):
        print(f"skipped ({len(names)}): {reason}")
        for name in names:
            print(f"  {name}")
    for name in failed:
        print(f"FAILED: {name}")
    print(f"{len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed or not passed else 0


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "registered":
        return registered(sys.argv[2])
    if len(sys.argv) == 3 and sys.argv[1] == "summary":
        return summary(pathlib.Path(sys.argv[2]))
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
