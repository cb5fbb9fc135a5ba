# SPDX-License-Identifier: Apache-2.0
"""Strings that are hard on a tokenizer, from a seed."""

import random
import unicodedata

SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>",
            "</think>", "<tool_call>", "<|im_start", "|im_end|>", "<|", "<<|im_end|>")
# What the variants of vocabularies.odd_settings look for.
FLAGGED = ("[L]", "[R]", "[LR]", "[L][R]", "word", "caf\u00e9", "cafe\u0301",
           "\u00e9t", "e\u0301t", "na\u00efve", "nai\u0308ve", "is", "\n", "_")
SPACES = (" ", "  ", "\n", "\r\n", "\r", "\t", "\u00a0", "\u3000", "\u2028",
          "\u0085", "\u1680", "\u180e", "\u200b", "\u202f", "\ufeff", "\v", "\f",
          "\x1c", "\x1f", "\0")
WORDS = ("the", "The", "and", "of", "unto", "LORD", "shall", "begat",
         "Nebuchadnezzar", "tokenizer", "naive", "I", "a", "don", "it", "we",
         "they", "GPU", "kv", "cache", "na\u00efve", "co\u00f6perate",
         "stra\u00dfe", "\ufb01sh")
SUFFIXES = ("'s", "'S", "'t", "'T", "'re", "'RE", "'Ve", "'m", "'ll", "'LL",
            "'d", "'D", "'\u017f", "'x", "\u2019s", "''", "'")
PHRASES = (
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e04\u0e23\u0e31\u0e1a\u0e17\u0e35\u0e48\u0e19\u0e35\u0e48",
    "\u0645\u064f\u062d\u064e\u0645\u0651\u064e\u062f \u0648\u0627\u0644\u0633\u0644\u0627\u0645",
    "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd", "\u4f60\u597d\uff0c\u4e16\u754c\u3002",
    "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8\u30ab\u3099",
    "\ud55c\uad6d\uc5b4 \u1112\u1161\u11ab\u1100\u1173\u11af",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440! \u0438\u0306",
    "\u0393\u03b5\u03b9\u03ac \u03c3\u03bf\u03c5 \u039a\u03cc\u03c3\u03bc\u03b5",
    "\u10d2\u10d0\u10db\u10d0\u10e0\u10ef\u10dd\u10d1\u10d0", "\u1e9b\u0323 \u1e9b",
    "\u2126 \u212b \u00c5 A\u030a \uf900", "\U0001d400\U0001d7ce\u2460\u00bd\u216b",
    "\u0e01\u0e33 \u1780\u17d2\u1798\u17c2\u179a", "\u0b95\u0bca \u0bc6\u0bbe",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    "\U0001f44d\U0001f3fd\U0001f1e9\U0001f1ea", "\u2764\ufe0f\u200d\U0001f525",
    "1\ufe0f\u20e3", "\U000e0041\U000e007f\u0488")
CODE = (
    "for (int i = 0; i < n; ++i) {\n\tx[i] += 2.5e-3;\n}\n", "def f(x):\n    return x\n",
    "(x):\n", "a->b", "->", "=>", "!=", "/* c */", "// c\r\n", "#include <a.h>\n\n",
    "</div>\n\n\n  <p>", "{\"a\": [1, 2]}", "\\n\\t", "$x_{i}^2$", "a.b.c()",
    "https://example.org/a?b=c&d=%20", "C:\\dir\\x", "---\n", "***", "```py\n")
# First and last code points of scripts and ranges to draw from.
RANGES = (
    (0x20, 0x7E), (0xA0, 0x24F), (0x250, 0x2FF), (0x300, 0x36F), (0x370, 0x52F),
    (0x590, 0x6FF), (0x700, 0x8FF), (0x900, 0xDFF), (0xE00, 0xFFF), (0x1000, 0x13FF),
    (0x1780, 0x1AFF), (0x1AB0, 0x1CFF), (0x1DC0, 0x1FFF), (0x2000, 0x23FF),
    (0x2460, 0x27BF), (0x2C00, 0x2FFF), (0x3000, 0x33FF), (0x4E00, 0x9FFF),
    (0xA000, 0xABFF), (0xAC00, 0xD7FF), (0xE000, 0xE0FF), (0xF900, 0xFFFF),
    (0x10000, 0x1FFFF), (0x20000, 0x323FF), (0xE0000, 0xE01EF))


def character(rng):
    first, last = rng.choice(RANGES)
    return chr(rng.randint(first, last))


def marks(rng):
    base = rng.choice("aeqEn\u0915\u0e01\u05d0\u0438\u1100")
    return base + "".join(
        chr(rng.choice((rng.randint(0x300, 0x36F), rng.randint(0x591, 0x5BD),
                        rng.randint(0x64B, 0x655), rng.randint(0x93C, 0x94D),
                        rng.randint(0xE34, 0xE3A), rng.randint(0x1161, 0x11C2),
                        rng.randint(0x1AB0, 0x1ACE), rng.randint(0x8CA, 0x8FF))))
        for _ in range(rng.randint(1, 6)))


def lossy_bytes(rng):
    return rng.randbytes(rng.randint(1, 12)).decode("utf-8", "replace")


def long_run(rng):
    unit = rng.choice(("a", " ", "\n", "\r\n", "\u3000", "0", "=", "ab", "\u00e9",
                       "e\u0301", "\u4e00", " \n", "\U0001f600", "\u0301", "'s"))
    return unit * rng.randint(2, 40)


def number(rng):
    return rng.choice((str(rng.randint(0, 10**rng.randint(1, 9))), "2026",
                       f"{rng.random():.4f}", "1,000,000", "\u0663\u0664", "\u096a"))


MAKERS = (
    (6, lambda rng: rng.choice(WORDS)), (3, lambda rng: rng.choice(WORDS) + rng.choice(SUFFIXES)),
    (6, lambda rng: " "), (4, lambda rng: rng.choice(SPACES) * rng.randint(1, 4)),
    (3, lambda rng: rng.choice(PHRASES)), (3, lambda rng: rng.choice(CODE)),
    (2, number), (2, lambda rng: rng.choice(SPECIALS)), (1, lambda rng: rng.choice(FLAGGED)),
    (2, lambda rng: rng.choice(".,;:!?()[]{}<>-_=+*/\\|\"'`~@#$%^&")), (3, character),
    (2, marks), (2, lossy_bytes), (1, long_run))


def strings(count, seed, longest=12):
    """count different strings; the empty one and each single part first."""
    rng = random.Random(seed)
    weights = [w for w, _ in MAKERS]
    makers = [m for _, m in MAKERS]
    seen = dict.fromkeys(
        ("", "e\u0301", "2026", "(x):\n", "->", *SPACES, *PHRASES, *CODE, *SPECIALS, *FLAGGED))
    while len(seen) < count:
        parts = rng.choices(makers, weights, k=rng.randint(1, longest))
        text = "".join(make(rng) for make in parts)
        if rng.random() < 0.1:
            text = unicodedata.normalize("NFD", text)
        seen.setdefault(text)
    return list(seen)[:count]
