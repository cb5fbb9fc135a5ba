# SPDX-License-Identifier: Apache-2.0
"""Compares our tokenizer with the `tokenizers` package, id by id.

    python compare.py --encode-lines BUILD/.../encode_lines --work /tmp/tokenizers

Encodes strings made from a seed with both, on the vocabularies of Qwen3.5 and
Qwen3, on models/tiny and on variants of it with other settings, and decodes
the ids, and random ids, with both. --every-code-point tries each code point of
Unicode in a few surroundings instead. Exit status 1 when anything differs.
"""

import argparse
import json
import random
import subprocess
import sys
from pathlib import Path

from tokenizers import Tokenizer

import strings
import vocabularies

ROOT = Path(__file__).resolve().parents[2]


def ask(program, folder, questions):
    text = "".join(json.dumps(q) + "\n" for q in questions)
    done = subprocess.run([program, folder], input=text, check=True,
                          capture_output=True, encoding="utf-8")
    answers = [json.loads(line) for line in done.stdout.split("\n")[:-1]]
    if len(answers) != len(questions):
        raise SystemExit(f"{len(questions)} questions, {len(answers)} answers")
    return answers


def code_point_strings():
    """All of Unicode, a few neighbours a string to keep the number small."""
    points = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    for at in range(0, len(points), 8):
        yield "".join(f"a{ch}b {ch}{ch}1{ch}'{ch}.{ch}\nq\u0301{ch}\u0316{ch}x"
                      for ch in points[at:at + 8])


def random_ids(count, seed, size):
    rng = random.Random(seed)
    # Low ids are single bytes in most vocabularies.
    return [[rng.randrange(rng.choice((256, size, size + 5)))
             for _ in range(rng.randint(0, 12))] for _ in range(count)]


def encode(tok, program, folder, texts):
    """Chunk by chunk, as an Encoding of the package is large."""
    want, got = [], []
    for at in range(0, len(texts), 50000):
        chunk = texts[at:at + 50000]
        want += [e.ids for e in tok.encode_batch(chunk)]
        got += ask(program, folder, chunk)
    return want, got


def report(name, what, cases):
    """cases: (input, want, got)"""
    different = [c for c in cases if c[1] != c[2]]
    print(f"{name}: {what}: {len(cases)} compared, {len(different)} differ", flush=True)
    for case in different[:5]:
        print("   %s\n      want %s\n      got  %s" % tuple(
            ascii(x)[:400] for x in case))
    return len(different)


def compare(program, name, folder, texts, seed):
    tok = Tokenizer.from_file(str(folder / "tokenizer.json"))
    want, got = encode(tok, program, folder, texts)
    bad = report(name, "encode", [
        (t, w, g.get("ids", g)) for t, w, g in zip(texts, want, got)])
    for key, skip in (("text", False), ("skipped", True)):
        decoded = tok.decode_batch(want, skip_special_tokens=skip)
        bad += report(name, f"decode {key}", [
            (w, d, g.get(key, g)) for w, d, g in zip(want, decoded, got)])
    ids = random_ids(len(texts) // 4, seed, tok.get_vocab_size())
    for key, skip in (("text", False), ("skipped", True)):
        bad += report(name, f"decode random {key}", [
            (i, tok.decode(i, skip_special_tokens=skip), g[key])
            for i, g in zip(ids, ask(program, folder, ids))])
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--encode-lines", required=True)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--count", type=int, default=25000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--odd-settings", action="store_true",
                        help="only the variants of models/tiny")
    parser.add_argument("--every-code-point", action="store_true")
    args = parser.parse_args()

    tiny = json.loads((ROOT / "models/tiny/tokenizer.json").read_text("utf-8"))
    cases = []
    if args.odd_settings and args.every_code_point:
        parser.error("--odd-settings and --every-code-point exclude each other")
    if not args.odd_settings:
        cases = [*vocabularies.real_vocabularies(), ("tiny", tiny)]
    if args.every_code_point:
        texts = list(code_point_strings())
    else:
        texts = strings.strings(args.count, args.seed)
        cases += ((f"variant {n}", c) for n, c in vocabularies.odd_settings(tiny))
    bad = 0
    for i, (name, content) in enumerate(cases):
        folder = vocabularies.write(content, args.work / str(i))
        count = args.count // 5 if name.startswith("variant") else len(texts)
        bad += compare(args.encode_lines, name, folder, texts[:count], args.seed)
    print(f"{bad} differences")
    return 1 if bad else 0


sys.exit(main())
