# SPDX-License-Identifier: Apache-2.0
"""Prints the rows of src/tokenizer/unicode_tables.cc.

The `tokenizers` package brings its own Unicode tables (Oniguruma's for the
patterns, an old set for NFC). This measures them code point by code point, so
that ids do not depend on the Unicode version of the PCRE2 and utf8proc that a
distribution ships.
"""

import unicodedata

import unicodedata2
from tokenizers import Regex, normalizers, pre_tokenizers


def code_points():
    return (c for c in range(0x110000) if not 0xD800 <= c < 0xE000)


def ranges(points):
    out = []
    for c in sorted(points):
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def show(name, points):
    rows = ranges(points)
    print(f"// {name}: {len(points)} code points, {len(rows)} ranges")
    cells = [f"{{0x{a:X}, 0x{b:X}}}" for a, b in rows]
    for i in range(0, len(cells), 5):
        print("    " + ", ".join(cells[i:i + 5]) + ",")


def letters_marks_numbers():
    # The version of PCRE2 10.40 to 10.42, the oldest that we build with.
    if unicodedata.unidata_version != "14.0.0":
        raise SystemExit(f"needs Python's Unicode 14, has {unicodedata.unidata_version}")
    for name in ("L", "M", "N"):
        pattern = pre_tokenizers.Split(Regex(rf"\p{{{name}}}"), "isolated")
        later = []
        for c in code_points():
            # U+0000 is in no class, so that a match makes a second piece.
            has = len(pattern.pre_tokenize_str("\0" + chr(c))) == 2
            had = unicodedata.category(chr(c)).startswith(name)
            if had and not has:
                raise SystemExit(f"U+{c:04X} left {name}")
            if has and not had:
                later.append(c)
        show(f"{name} after Unicode 14", later)


def inert_in_nfc():
    nfc = normalizers.NFC().normalize_str
    inert = set()
    for c in code_points():
        ch = chr(c)
        probe = "q\u0301" + ch + "\u0316" + ch
        if nfc(probe) != unicodedata2.normalize("NFC", probe):
            inert.add(c)
        parts = unicodedata2.normalize("NFD", ch)
        composed = unicodedata2.normalize("NFC", parts)
        if parts != ch and composed == ch and nfc(parts) != ch:
            # One of the two parts may be an old mark that composes elsewhere.
            inert.update({c} | {ord(p) for p in parts if p > "\uffff"})
    show("without a role in NFC", inert)


letters_marks_numbers()
inert_in_nfc()
