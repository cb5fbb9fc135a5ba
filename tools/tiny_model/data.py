# SPDX-License-Identifier: Apache-2.0
"""Text, tokenizer and training windows of the tiny checkpoint."""

import json
import random
import re
import subprocess
from pathlib import Path

import numpy as np
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models
from tokenizers import normalizers, pre_tokenizers, processors, trainers

VOCAB = 2048
SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
HELD_OUT_EVERY = 25

# The pre-tokenization rule of the Qwen3.5 tokenizers: letters and marks run
# together, every digit stands alone.
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

CHAT_TEMPLATE = (
    "{%- for m in messages -%}"
    "{%- if m.role not in ['system', 'user', 'assistant'] -%}"
    "{{- raise_exception('the roles are system, user and assistant') -}}"
    "{%- endif -%}"
    "{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' -}}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}"
    "{{- '<|im_start|>assistant\\n' -}}"
    "{%- endif -%}"
)


def read_chapters(path=None):
    """The King James Bible as a list of chapters, each a list of verses.

    Without a path the text comes from the `bible` program of the Debian
    packages bible-kjv and bible-kjv-text.
    """
    if path:
        text = Path(path).read_text(encoding="ascii")
    else:
        command = ["bible", "-f", "gen1:1-rev22:21"]
        text = subprocess.run(
            command, check=True, capture_output=True, encoding="ascii",
            stdin=subprocess.DEVNULL).stdout
    chapters, last = [], None
    for line in text.splitlines():
        match = re.fullmatch(r"(\w+?):\d+ (.+)", line)
        if not match:
            continue
        chapter, verse = match.groups()
        if chapter != last:
            chapters.append([])
            last = chapter
        # The words that the translators added stand in brackets.
        verse = re.sub(r"[\[\]{}<>]", "", verse)
        chapters[-1].append(re.sub(r"\s+", " ", verse).strip())
    if len(chapters) != 1189:
        raise SystemExit(f"expected 1189 chapters, read {len(chapters)}")
    return chapters


def split(chapters):
    """Every 25th chapter is held out, from the 13th on."""
    held = chapters[12::HELD_OUT_EVERY]
    train = [c for i, c in enumerate(chapters) if i % HELD_OUT_EVERY != 12]
    return train, held


def train_tokenizer(chapters):
    """Byte-level BPE, laid out as the tokenizer.json of Qwen3.5 is."""
    tok = Tokenizer(models.BPE())
    tok.normalizer = normalizers.NFC()
    tok.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
        pre_tokenizers.ByteLevel(
            add_prefix_space=False, trim_offsets=False, use_regex=False),
    ])
    tok.decoder = decoders.ByteLevel(
        add_prefix_space=False, trim_offsets=False, use_regex=False)
    tok.post_processor = processors.ByteLevel(
        add_prefix_space=False, trim_offsets=False, use_regex=False)
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB - len(SPECIALS), show_progress=False,
        special_tokens=[],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    tok.train_from_iterator(("\n".join(c) + "\n" for c in chapters), trainer)
    # Added after the merges, so that their ids end the vocabulary as in the
    # real file.
    tok.add_special_tokens([
        AddedToken(s, normalized=False, special=True) for s in SPECIALS])
    if tok.get_vocab_size() != VOCAB:
        raise SystemExit(f"vocabulary of {tok.get_vocab_size()}")
    return tok


def write_json(content, path, ascii_only=True):
    text = json.dumps(content, indent=2, ensure_ascii=ascii_only)
    path.write_text(text + "\n", encoding="utf-8")


def save_tokenizer(tok, folder):
    folder = Path(folder)
    content = json.loads(tok.to_str())
    # The library writes other defaults here than the real file has.
    content["decoder"] = content["post_processor"]
    content["model"]["continuing_subword_prefix"] = ""
    content["model"]["end_of_word_suffix"] = ""
    write_json(content, folder / "tokenizer.json", ascii_only=False)
    added = {
        str(tok.token_to_id(s)): {
            "content": s, "lstrip": False, "normalized": False,
            "rstrip": False, "single_word": False, "special": True}
        for s in SPECIALS}
    config = {
        "add_bos_token": False,
        "add_prefix_space": False,
        "added_tokens_decoder": added,
        "additional_special_tokens": list(SPECIALS[1:]),
        "bos_token": None,
        "chat_template": CHAT_TEMPLATE,
        "clean_up_tokenization_spaces": False,
        "eos_token": "<|im_end|>",
        "errors": "replace",
        "model_max_length": 2048,
        "pad_token": "<|endoftext|>",
        "split_special_tokens": False,
        "tokenizer_class": "Qwen2Tokenizer",
        "unk_token": None,
    }
    write_json(config, folder / "tokenizer_config.json")


def encode(tok, chapters):
    """Each chapter as a list of verses, each verse a list of ids.

    A verse keeps the line feed that ends it, and the last one of a chapter is
    followed by the end-of-text token.
    """
    end = tok.token_to_id("<|endoftext|>")
    out = []
    for chapter in chapters:
        verses = [e.ids for e in tok.encode_batch([v + "\n" for v in chapter])]
        verses[-1] = verses[-1] + [end]
        out.append(verses)
    return out


class Windows:
    """Training windows of a fixed length, in a fixed random order.

    Most windows begin at a random verse and run on through the following
    chapters. One in eight is a chat in which each turn is the verse after the
    turn before it, so that the chat tokens are trained too.
    """

    def __init__(self, tok, chapters, length, seed):
        self.random = random.Random(seed)
        self.length = length
        self.verses = [v for c in encode(tok, chapters) for v in c]
        self.bodies = [tok.encode(v).ids for c in chapters for v in c]
        sizes = np.array([len(v) for v in self.verses])
        self.starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self.ids = np.concatenate([np.array(v) for v in self.verses])
        self.tokens = len(self.ids)
        self.order = []
        self.end = tok.token_to_id("<|im_end|>")
        self.newline = tok.encode("\n").ids
        begin = tok.token_to_id("<|im_start|>")
        self.head = {r: [begin] + tok.encode(r + "\n").ids
                     for r in ("user", "assistant")}
        self.eot = tok.token_to_id("<|endoftext|>")

    def _chat(self, verse):
        ids, role = [], "user"
        while len(ids) <= self.length and verse < len(self.verses):
            ids += self.head[role] + self.bodies[verse]
            ids += [self.end] + self.newline
            role = "assistant" if role == "user" else "user"
            if self.verses[verse][-1] == self.eot:
                ids.append(self.eot)
                role = "user"
            verse += 1
        return ids

    def next(self):
        """One window of length + 1 ids: the inputs and their successors."""
        if not self.order:
            self.order = list(range(len(self.verses)))
            self.random.shuffle(self.order)
        verse = self.order.pop()
        if self.random.random() < 0.125:
            ids = self._chat(verse)[: self.length + 1]
        else:
            start = self.starts[verse]
            ids = self.ids[start: start + self.length + 1].tolist()
        if len(ids) < self.length + 1:
            return self.next()
        return ids

    def batch(self, rows):
        return np.array([self.next() for _ in range(rows)], dtype=np.int64)
