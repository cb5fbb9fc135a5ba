# SPDX-License-Identifier: Apache-2.0
"""Writes what `transformers` computes, in float32 on the CPU, for small random
checkpoints, to tests/data/model_logits: reference.json and one file of logits
for each f32 case.

usage: model_logits.py MAKE_CHECKPOINT [OUT_DIR]

MAKE_CHECKPOINT is the binary gdn-make-checkpoint. The weights are not kept:
tests/model_logits_test.cc makes them again and compares their checksum.

An f32 case has the logits of every position of one prompt, [T, vocab], f32,
little endian. A 16-bit case has continuations of several prompts: per step the
token fed next, the greedy id and the two largest logits. Two are fed the greedy
ids; random weights soon repeat themselves, so one is fed random ids. The
reference computes in float32 from the 16-bit weights, so that it is the exact
answer, not another rounding.

A forward in 16 bits is off by some ulp in a logit, whoever computes it, and the
two best logits of random weights lie at any distance. Steps where that distance
is from 2 to CLEAR_ULP would be decided by the roundings, not by the model, so
they are left out here, by the reference alone: another token is drawn for the
one that led there. Nearer ones are kept: the test counts them. own_rms_ulp is the error of transformers' own 16-bit forward.
"""

import copy
import functools
import json
import math
import random
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
import safetensors.torch
import torch
import transformers
from transformers.models.qwen3_5 import modeling_qwen3_5 as qwen3_5

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data/model_logits"
F32_PROMPT = 131  # the rule's third chunk of 64 has begun
# Tokens of the prompt, steps, whether they are fed the greedy ids.
CONTINUATIONS = ((5, 64, True), (64, 128, False), (131, 64, True))

NEAR_ULP = 2
# Some four times the rms error of transformers' own 16-bit forward.
CLEAR_ULP = 8
TORCH_DTYPE = {"f16": torch.float16, "bf16": torch.bfloat16}
MANTISSA_BITS = {"f16": 10, "bf16": 7}

# Configuration, dtype, seed, whether A_log and the gated norm stay in f32.
CASES = [(config, dtype, 10 * i + j, config == "r3_heads24" and dtype == "bf16")
         for i, config in enumerate(("r1_tied", "r2_wrapper", "r3_heads24"), 1)
         for j, dtype in enumerate(("f32", "f16", "bf16"), 1)]


def check_kernels():
    """transformers takes a faster kernel where one is installed."""
    for package in ("fla", "causal_conv1d", "kernels"):
        try:
            __import__(package)
        except ImportError:
            continue
        raise SystemExit(f"{package} is installed: this is to run transformers' own torch code")
    source = Path(qwen3_5.__file__).read_text(encoding="utf-8")
    for line in ("query = l2norm(query, dim=-1, eps=1e-6)", "beta = b.sigmoid()"):
        if line not in source:
            raise SystemExit(f"transformers no longer has: {line}")


def text_config(path):
    config = json.loads(path.read_text(encoding="utf-8"))
    return config.get("text_config", config)


def load(checkpoint):
    """The text model in float32, with every weight of the checkpoint in it."""
    values = text_config(checkpoint / "config.json")
    config = qwen3_5.Qwen3_5TextConfig(**{k: v for k, v in values.items() if k != "dtype"})
    config._attn_implementation = "eager"
    with torch.device("cpu"):
        model = qwen3_5.Qwen3_5ForCausalLM(config).to(torch.float32).eval()
    weights = {name.replace("model.language_model.", "model."): tensor.to(torch.float32)
               for name, tensor in
               safetensors.torch.load_file(checkpoint / "model.safetensors").items()}
    if config.tie_word_embeddings:
        weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    model.load_state_dict(weights, strict=True)  # none missing, none unexpected
    # transformers ignores this key; vLLM and published checkpoints have it.
    if values.get("output_gate_type", "silu") == "sigmoid":
        for layer in model.model.layers:
            if hasattr(layer, "linear_attn"):
                layer.linear_attn.norm.activation = "sigmoid"
    return model


def logits_of(model, ids):
    """[T, vocab] f32, in one pass (the chunk form of the rule)."""
    with torch.no_grad():
        return model(input_ids=torch.tensor([ids]), use_cache=False).logits[0].float()


def ulp_at(value, dtype):
    """The distance between neighbouring numbers of a dtype."""
    return math.ldexp(1, math.frexp(value)[1] - 1 - MANTISSA_BITS[dtype])


def is_clear(row, dtype):
    best, second = torch.topk(row, 2).values.tolist()
    gap = (best - second) / ulp_at(max(abs(best), abs(second)), dtype)
    return gap <= NEAR_ULP or gap >= CLEAR_ULP


def continue_prompt(model, dtype, prompt, steps, draw, greedy):
    """All tokens, and the logits [steps, vocab] behind the prompt. The steps run
    with the cache (the recurrent form); one pass over the whole says that both
    agree."""
    tokens, rows, cache = list(prompt), [], None
    while len(rows) < steps:
        new = tokens if cache is None else tokens[-1:]
        with torch.no_grad():
            out = model(input_ids=torch.tensor([new]), cache=copy.deepcopy(cache), use_cache=True)
        row = out.logits[0, -1].float()
        if not is_clear(row, dtype):
            tokens[-1] = draw()
            continue
        cache = out.cache
        rows.append(row)
        tokens.append(int(row.argmax()) if greedy else draw())
    logits = torch.stack(rows)
    whole = logits_of(model, tokens[:-1])[len(prompt) - 1:]
    error = float(((whole - logits).abs().amax(1) / whole.abs().amax(1)).max())
    if error > 2e-5:
        raise SystemExit(f"steps and one pass differ by {error} of the largest logit")
    return tokens, logits


def lowered(model, dtype):
    """The model in 16 bits, as transformers loads it: RoPE's frequencies stay in f32."""
    low = copy.deepcopy(model).to(TORCH_DTYPE[dtype])
    low.model.rotary_emb = copy.deepcopy(model.model.rotary_emb)
    return low


def own_errors(model, dtype, tokens, logits):
    """What transformers errs by in 16 bits, in ulp of each step's best logit."""
    best, ids = logits.max(1)
    own = logits_of(model, tokens[:-1])[-len(ids):].gather(1, ids[:, None])[:, 0]
    return [float(o - b) / ulp_at(float(b), dtype) for o, b in zip(own, best)]


def shortest(values):
    """The shortest decimals that read back as the same f32."""
    return [float(str(np.float32(v))) for v in values]


def run_case(name, config, dtype, seed, a_log_f32, make_checkpoint, out_dir, rng):
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder) / "checkpoint"
        command = [make_checkpoint, "--config", str(DATA / f"{config}.json"), "--out",
                   str(checkpoint), "--dtype", dtype, "--seed", str(seed)]
        subprocess.run(command + (["--a-log-f32"] if a_log_f32 else []), check=True)
        weights = (checkpoint / "model.safetensors").read_bytes()
        model = load(checkpoint)
    case = {"name": name, "config": config, "dtype": dtype, "seed": seed, "a_log_f32": a_log_f32,
            "weight_bytes": len(weights), "weight_crc32": zlib.crc32(weights)}
    vocab = model.config.vocab_size
    if dtype == "f32":
        case["prompt"] = [rng.randrange(vocab) for _ in range(F32_PROMPT)]
        logits = logits_of(model, case["prompt"]).numpy().astype("<f4")
        case["logits"] = f"{name}.bin"
        (out_dir / case["logits"]).write_bytes(logits.tobytes())
        print(f"{name}: largest logit {np.abs(logits).max():.2f}")
        return case
    case["sequences"], errors = [], []
    low = lowered(model, dtype)
    for length, steps, greedy in CONTINUATIONS:
        draw = functools.partial(rng.randrange, vocab)
        tokens, logits = continue_prompt(model, dtype, [draw() for _ in range(length)], steps,
                                         draw, greedy)
        errors += own_errors(low, dtype, tokens, logits)
        best = torch.topk(logits, 2, dim=1).values
        case["sequences"].append({"prompt": tokens[:length], "fed": tokens[length:],
                                  "ids": logits.argmax(1).tolist(),
                                  "best": shortest(best[:, 0]), "second": shortest(best[:, 1])})
    case["own_rms_ulp"] = round(math.sqrt(sum(e * e for e in errors) / len(errors)), 3)
    counts = [len(set(sequence["ids"])) for sequence in case["sequences"]]
    print(f"{name}: {counts} different ids, own rms error {case['own_rms_ulp']} ulp", flush=True)
    return case


def main():
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    out_dir = Path(sys.argv[2]) if len(sys.argv) == 3 else DATA
    out_dir.mkdir(parents=True, exist_ok=True)
    check_kernels()
    torch.set_num_threads(1)
    cases = []
    for config, dtype, seed, a_log_f32 in CASES:
        cases.append(run_case(f"{config}_{dtype}", config, dtype, seed, a_log_f32, sys.argv[1],
                              out_dir, random.Random(seed)))
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    versions = {"transformers": transformers.__version__, "torch": torch.__version__}
    (out_dir / "reference.json").write_text(
        f'{{"versions":{json.dumps(versions)},\n"cases":[\n{lines}\n]}}\n', encoding="utf-8")


main()
