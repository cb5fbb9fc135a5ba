# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/tokenizer/tiny_expectations.jsonl: strings and the ids that
the `tokenizers` package gives them with models/tiny, [text, ids] a line."""

import json
from pathlib import Path

from tokenizers import Tokenizer

import strings

ROOT = Path(__file__).resolve().parents[2]
COUNT = 20500
# The file is to stay below 2 MiB.
LONGEST = 24


def main():
    tok = Tokenizer.from_file(str(ROOT / "models/tiny/tokenizer.json"))
    texts = [t for t in strings.strings(3 * COUNT, seed=7, longest=3)
             if len(t) <= LONGEST][:COUNT]
    if len(texts) != COUNT:
        raise SystemExit(f"{len(texts)} strings")
    path = ROOT / "tests/data/tokenizer/tiny_expectations.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for text, encoding in zip(texts, tok.encode_batch(texts)):
            line = json.dumps([text, encoding.ids], ensure_ascii=False,
                              separators=(",", ":"))
            file.write(line + "\n")
    print(f"{len(texts)} strings, {path.stat().st_size} bytes")


main()
