# SPDX-License-Identifier: Apache-2.0
"""Trains the tiny checkpoint on a CPU and writes it to a folder."""

import argparse
import math
import os
import time
from pathlib import Path

# On a shared machine, threads that spin while they wait for one another cost
# more than the work does. Read when torch loads its thread library.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch
import torch.nn.functional as F
from safetensors.torch import load_file

import data
import model as tiny

ADAM_NAMES = ("embed_tokens", "conv1d", "in_proj_a", "in_proj_b")


class Muon(torch.optim.Optimizer):
    """Momentum whose matrix updates are orthogonalized.

    The Newton-Schulz iterations run in F32: a CPU without BF16 units gains
    nothing from narrower ones.
    """

    def __init__(self, params, lr, momentum=0.95, weight_decay=0.05):
        super().__init__(params, {"lr": lr, "momentum": momentum,
                                  "weight_decay": weight_decay})

    @staticmethod
    def orthogonal(update, steps=5):
        tall = update.shape[0] > update.shape[1]
        x = update.T if tall else update
        x = x / (x.norm() + 1e-7)
        for _ in range(steps):
            gram = x @ x.T
            x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
        return x.T if tall else x

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                average = self.state[p].setdefault("m", torch.zeros_like(p))
                average.lerp_(p.grad, 1 - group["momentum"])
                update = p.grad.lerp(average, group["momentum"])
                scale = math.sqrt(max(1.0, p.shape[0] / p.shape[1]))
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.add_(self.orthogonal(update), alpha=-group["lr"] * scale)


def new_model(config):
    model = tiny.Qwen3_5ForCausalLM(config).float()
    for layer in model.model.layers:
        gdn = getattr(layer, "linear_attn", None)
        if gdn is None:
            continue
        # The library's own start forgets within a few tokens. This one
        # spreads the heads over half-lives of about one to hundreds.
        with torch.no_grad():
            heads = gdn.A_log.shape[0]
            gdn.A_log.copy_(torch.empty(heads).uniform_(1, 16).log())
            dt = torch.exp(torch.empty(heads).uniform_(
                math.log(1e-3), math.log(1e-1)))
            gdn.dt_bias.copy_(dt + torch.log(-torch.expm1(-dt)))
    return model


def optimizers(model):
    matrices, others = [], []
    for name, p in model.named_parameters():
        adam = p.dim() != 2 or any(n in name for n in ADAM_NAMES)
        (others if adam else matrices).append(p)
    return [Muon(matrices, lr=0.015),
            torch.optim.AdamW(others, lr=3e-3, betas=(0.9, 0.98),
                              weight_decay=0.0)]


def rate(done):
    """Warm up over 2 % of the time, hold, fall to zero over the last 60 %."""
    return min(1.0, done / 0.02, max(0.0, (1 - done) / 0.6))


class Keeper:
    """Averaged weights, and the best checkpoint that they gave so far."""

    def __init__(self, model, config, tok, held, out):
        self.average = new_model(config).eval()
        self.average.load_state_dict(model.state_dict())
        self.config, self.tok, self.held, self.out = config, tok, held, out
        self.steps, self.best = 0, math.inf

    @torch.no_grad()
    def follow(self, model):
        self.steps += 1
        weight = max(0.01, 1 / self.steps)
        mine, theirs = self.average.parameters(), model.parameters()
        torch._foreach_lerp_(list(mine), list(theirs), weight)

    def save(self):
        tensors = tiny.rounded(self.average)
        probe = new_model(self.config).eval()
        probe.load_state_dict(tensors, strict=False)
        probe.tie_weights()
        bits = tiny.bits_per_byte(probe, self.tok, self.held)
        if bits < self.best:
            self.best = bits
            tiny.export(tensors, self.config, self.out)
            data.save_tokenizer(self.tok, self.out)
        return bits


def train(args, tok, train_chapters, held):
    torch.manual_seed(args.seed)
    config = tiny.make_config(tok)
    model = new_model(config).train()
    if args.start:
        weights = load_file(args.start / "model.safetensors")
        model.load_state_dict(weights, strict=False)
        model.tie_weights()
    keeper = Keeper(model, config, tok, held, args.out)
    windows = data.Windows(tok, train_chapters, tiny.LENGTH, args.seed)
    opts = optimizers(model)
    peaks = [[g["lr"] for g in o.param_groups] for o in opts]
    begin, saved, step, mean, done = time.time(), 0.0, 0, None, 0.0
    while done < 1:
        for opt, lrs in zip(opts, peaks):
            for group, lr in zip(opt.param_groups, lrs):
                group["lr"] = lr * rate(done + 1e-4)
        ids = torch.from_numpy(windows.batch(args.rows))
        logits = model(input_ids=ids[:, :-1], use_cache=False).logits
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for opt in opts:
            opt.step()
            opt.zero_grad(set_to_none=True)
        keeper.follow(model)
        step += 1
        mean = loss.item() if mean is None else (
            0.98 * mean + 0.02 * loss.item())
        now = time.time() - begin
        done = now / 60 / args.minutes
        if step % 50 == 0:
            print(f"{now:6.0f} s  step {step}  loss {mean:.4f}", flush=True)
        if now - saved > args.save_every * 60 or done >= 1:
            bits = keeper.save()
            saved = time.time() - begin
            epochs = step * args.rows * tiny.LENGTH / windows.tokens
            print(f"{now:6.0f} s  step {step}  epochs {epochs:.2f}  "
                  f"held-out {bits:.4f} bits a byte  best {keeper.best:.4f}",
                  flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=50)
    parser.add_argument("--save-every", type=float, default=4, metavar="MIN")
    parser.add_argument("--rows", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1611)
    parser.add_argument("--start", type=Path, metavar="FOLDER",
                        help="go on from the weights of a checkpoint")
    parser.add_argument("--text", type=Path,
                        help="a saved print of the bible program")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(args.threads)
    torch.set_flush_denormal(True)
    tiny.use_chunk_rule()
    train_chapters, held = data.split(data.read_chapters(args.text))
    tok = data.train_tokenizer(train_chapters)
    train(args, tok, train_chapters, held)


if __name__ == "__main__":
    main()
