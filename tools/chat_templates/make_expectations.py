#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what the tests of src/chat_template expect, below tests/data/chat_templates/.

usage: make_expectations.py FOLDER

Reads FOLDER/templates/*.jinja; writes FOLDER/conversations.json, FOLDER/expected/<template>.json
and FOLDER/snippets.json. Needs requirements.txt, and no network.
"""

import json
import pathlib
import sys

from conversations import CASES
from reference import build_prompt, render_snippet
from snippets import CONTEXT, SNIPPETS


def write(path, rows):
    """A list, one element a line."""
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8", newline="\n")


def main():
    folder = pathlib.Path(sys.argv[1])
    write(folder / "conversations.json", CASES)
    total = 0
    for path in sorted((folder / "templates").glob("*.jinja")):
        source = path.read_bytes().decode("utf-8")
        results = [build_prompt(source, case) for case in CASES]
        write(folder / "expected" / f"{path.stem}.json", results)
        failed = sum(isinstance(result, dict) for result in results)
        total += len(results)
        print(f"{path.stem}: {len(results) - failed} prompts, {failed} errors")
    rows = [[source, render_snippet(source, CONTEXT)] for source in SNIPPETS]
    write(folder / "snippets.json", [CONTEXT] + rows)
    failed = sum(isinstance(row[1], dict) for row in rows)
    print(f"{total} conversations; {len(rows)} snippets, {failed} of them errors")


if __name__ == "__main__":
    main()
