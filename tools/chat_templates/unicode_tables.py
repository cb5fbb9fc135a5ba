#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/chat_template/unicode_tables.cc from the tables of the Python that runs it.

usage: unicode_tables.py > src/chat_template/unicode_tables.cc
"""

import sys
import unicodedata

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def ranges(predicate):
    out = []
    for c in range(0x110000):
        if not predicate(c):
            continue
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def mappings(function, wanted=lambda c: True):
    """One code point to one, as {from: to}, and one to several."""
    single, several = {}, {}
    for c in CODE_POINTS:
        text = function(chr(c))
        if text == chr(c) and function is not str.title or not wanted(c):
            continue
        if len(text) == 1:
            single[c] = ord(text)
        else:
            several[c] = text
    return single, several


def compress(single):
    """Runs [first, last, step, delta] of equal distances."""
    out = []
    keys = sorted(single)
    i = 0
    while i < len(keys):
        best = (1, 1)
        for step in (1, 2):
            n = 1
            while (i + n < len(keys) and keys[i + n] == keys[i] + n * step
                   and single[keys[i + n]] - keys[i + n] == single[keys[i]] - keys[i]):
                n += 1
            best = max(best, (n, step))
        n, step = best
        out.append((keys[i], keys[i + n - 1], step, single[keys[i]] - keys[i]))
        i += n
    return out


def write_rows(rows, per_line):
    for i in range(0, len(rows), per_line):
        print("    " + " ".join(row + "," for row in rows[i:i + per_line]))


def write_ranges(name, comment, found):
    print(f"// {comment}")
    print(f"constexpr CodePointRange {name}[] = {{")
    write_rows([f"{{0x{a:X}, 0x{b:X}}}" for a, b in found], 4)
    print("};\n")


def write_mapping(name, single, several):
    print(f"constexpr CaseRange {name}Ranges[] = {{")
    write_rows([f"{{0x{a:X}, 0x{b:X}, {s}, {d}}}" for a, b, s, d in compress(single)], 3)
    print("};\n")
    print(f"constexpr CaseText {name}Texts[] = {{")
    write_rows([f"{{0x{c:X}, \"" + "".join(f"\\x{b:02X}" for b in t.encode()) + "\"}"
                for c, t in sorted(several.items())], 2)
    print("};\n")


def main():
    upper, lower = mappings(str.upper), mappings(str.lower)
    title = mappings(str.title, lambda c: chr(c).title() != chr(c).upper())

    def maps_up(c):
        return c in upper[0] or c in upper[1]

    def maps_down(c):
        return c in lower[0] or c in lower[1]

    print("// SPDX-License-Identifier: Apache-2.0")
    print(f"// Written by tools/chat_templates/unicode_tables.py: Python"
          f" {sys.version_info.major}.{sys.version_info.minor}, Unicode {unicodedata.unidata_version}.")
    print("// clang-format off")
    print('#include "chat_template/unicode_tables.h"\n')
    print("namespace gdn::jinja {\nnamespace {\n")
    write_ranges("kSpace", "str.isspace()", ranges(lambda c: chr(c).isspace()))
    write_ranges("kNotPrintable", "not str.isprintable()",
                 ranges(lambda c: not chr(c).isprintable()))
    write_ranges("kLowerExceptions", "str.islower() is not what the mappings say",
                 ranges(lambda c: chr(c).islower() != (maps_up(c) and not maps_down(c))))
    write_ranges("kUpperExceptions", "str.isupper() is not what the mappings say",
                 ranges(lambda c: chr(c).isupper() != (maps_down(c) and not maps_up(c))))
    write_mapping("kUpper", *upper)
    write_mapping("kLower", *lower)
    write_mapping("kTitle", *title)
    print("}  // namespace\n")
    for function, table in (("SpaceRanges", "kSpace"), ("NotPrintableRanges", "kNotPrintable"),
                            ("LowerExceptions", "kLowerExceptions"),
                            ("UpperExceptions", "kUpperExceptions")):
        print(f"std::span<const CodePointRange> {function}() {{ return {table}; }}")
    for case in ("Upper", "Lower", "Title"):
        print(f"const CaseMapping& {case}Mapping() {{")
        print(f"  static constexpr CaseMapping kMapping = {{k{case}Ranges, k{case}Texts}};")
        print("  return kMapping;\n}")
    print("\n}  // namespace gdn::jinja")


if __name__ == "__main__":
    main()
