# SPDX-License-Identifier: Apache-2.0
"""Measures and samples an exported checkpoint with transformers."""

import argparse
from pathlib import Path

import torch
from tokenizers import Tokenizer

import data
import model as tiny


def generate(net, tok, prompt, count, temperature=0.0, seed=0, top_k=40):
    """Plain sampling, so that it depends on nothing but the logits."""
    rng = torch.Generator().manual_seed(seed)
    ids, cache, out = tok.encode(prompt).ids, None, []
    feed = torch.tensor([ids])
    with torch.no_grad():
        while len(out) < count:
            got = net(input_ids=feed, cache=cache, use_cache=True)
            cache, row = got.cache, got.logits[0, -1]
            if temperature:
                values, index = (row / temperature).topk(top_k)
                pick = torch.multinomial(values.softmax(0), 1, generator=rng)
                token = index[pick].item()
            else:
                token = row.argmax().item()
            out.append(token)
            if token >= tok.get_vocab_size() - len(data.SPECIALS):
                break
            feed = torch.tensor([[token]])
    return tok.decode(out, skip_special_tokens=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--text", type=Path,
                        help="a saved print of the bible program")
    parser.add_argument("--prompt", default="In the beginning")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--temperature", type=float, default=0.7)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-text", action="store_true",
                        help="only generate, do not measure")
    parser.add_argument("--train-part", action="store_true",
                        help="also measure 48 of the training chapters")
    args = parser.parse_args()
    torch.set_num_threads(2)
    tok = Tokenizer.from_file(str(args.folder / "tokenizer.json"))
    net = tiny.load(args.folder)
    print("greedy :", args.prompt + generate(
        net, tok, args.prompt, args.tokens))
    print("sampled:", args.prompt + generate(
        net, tok, args.prompt, args.tokens, args.temperature, args.seed))
    if args.no_text:
        return
    train, held = data.split(data.read_chapters(args.text))
    bits = tiny.bits_per_byte(net, tok, held)
    print(f"held-out chapters: {bits:.4f} bits a byte")
    if args.train_part:
        bits = tiny.bits_per_byte(net, tok, train[12::24])
        print(f"training chapters: {bits:.4f} bits a byte")


if __name__ == "__main__":
    main()
