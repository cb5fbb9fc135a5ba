# SPDX-License-Identifier: Apache-2.0
"""usage: run_transformers.py DTYPE TASK OUT: greedy tokens of `transformers`, own torch code.

DTYPE is bfloat16 or float32. The 16-bit weights in float32 arithmetic are the
arbiter: not another rounding but the answer that all the others round.

Where the CPU has no 16-bit convolution torch convolves channel by channel, which
would take most of the time. The same bits come sooner from a convolution in
float32 with one rounding; that is checked at the start, and only then used.
"""

import sys

import torch
import torch.nn.functional as F
import transformers

import records


def check_kernels():
    """transformers takes a faster kernel where one is installed."""
    for package in ("fla", "causal_conv1d", "kernels"):
        try:
            __import__(package)
        except ImportError:
            continue
        raise SystemExit(f"{package} is installed: this is to run transformers' own torch code")


SLOW_CONV1D = F.conv1d


def fast_conv1d(x, weight, bias=None, **how):
    if x.dtype != torch.bfloat16 or how.get("groups") != x.shape[1] or bias is not None:
        return SLOW_CONV1D(x, weight, bias, **how)
    return SLOW_CONV1D(x.float(), weight.float(), **how).to(x.dtype)


def use_fast_conv1d(channels, taps):
    """Says whether it gave the same bits, and if so lets transformers have it."""
    for seed, length in enumerate((taps, 67, 260)):
        x, weight = (torch.randn(shape, generator=torch.Generator().manual_seed(seed)).bfloat16()
                     for shape in ((1, channels, length), (channels, 1, taps)))
        how = {"padding": taps - 1, "groups": channels}
        if not torch.equal(fast_conv1d(x, weight, **how), SLOW_CONV1D(x, weight, **how)):
            return False
    F.conv1d = fast_conv1d
    return True


def load(checkpoint, dtype):
    model, info = transformers.AutoModelForCausalLM.from_pretrained(
        checkpoint, dtype=dtype, attn_implementation="eager", output_loading_info=True)
    bad = {key: names for key, names in info.items() if names}
    if bad:
        raise SystemExit(f"{checkpoint}: not every weight found its place: {bad}")
    return model.eval()


def largest(logits):
    """[[id, logit] x TOP], ties to the lower id."""
    values, ids = torch.sort(logits.float(), descending=True, stable=True)
    return [[i, v] for i, v in zip(ids[:records.TOP].tolist(), values[:records.TOP].tolist())]


@torch.no_grad()
def complete(model, prompt, new_tokens, eos):
    ids, top, cache = [], [], None
    fed = prompt
    while len(ids) < new_tokens and (not ids or ids[-1] not in eos):
        out = model(input_ids=torch.tensor([fed]), cache=cache, use_cache=True,
                    logits_to_keep=1)
        cache = out.cache
        top.append(largest(out.logits[0, -1]))
        ids.append(top[-1][0][0])
        fed = ids[-1:]
    return {"ids": ids, "top": top}


def main():
    dtype, task_path, out = sys.argv[1:]
    check_kernels()
    torch.set_num_threads(2)
    task = records.read(task_path)
    model = load(task["checkpoint"], getattr(torch, dtype))
    conv = model.model.layers[0].linear_attn.conv1d.weight
    same_bits = use_fast_conv1d(conv.shape[0], conv.shape[2])
    outputs = []
    for prompt in task["prompts"]:
        outputs.append(complete(model, prompt, task["new_tokens"], task["eos"]))
        print(len(outputs), "of", len(task["prompts"]), flush=True)
    records.write(out, {
        "engine": "transformers-" + {"bfloat16": "bf16", "float32": "f32"}[dtype],
        "versions": {"transformers": transformers.__version__, "torch": torch.__version__},
        "fast_conv1d": same_bits, "outputs": outputs})


main()
