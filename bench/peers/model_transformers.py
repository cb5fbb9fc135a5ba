# SPDX-License-Identifier: Apache-2.0
"""usage: model_transformers.py CHECKPOINT DTYPE THREADS: `transformers`, its own torch code.

Kept in memory between repetitions (protocol.py). Tests: ppN, a prompt of N tokens from an empty
cache, logits of the last one; tgN, N steps of one token; topN, the five largest logits after N.

Where the CPU has no 16-bit convolution torch takes its bf16 depthwise one channel by channel. In
bf16 it is given the convolution in f32 with one rounding instead, which is what a user can do.
"""

import sys

import protocol

ANSWERS = protocol.take_stdout()

import torch
import torch.nn.functional as F
import transformers

TORCH_CONV1D = F.conv1d


def conv1d_in_f32(x, weight, bias=None, *args, **kwargs):
    if x.dtype != torch.bfloat16 or bias is not None:
        return TORCH_CONV1D(x, weight, bias, *args, **kwargs)
    return TORCH_CONV1D(x.float(), weight.float(), None, *args, **kwargs).to(x.dtype)


class Model:
    def __init__(self, checkpoint, dtype):
        # SDPA is its default attention and the faster one.
        self.model = transformers.AutoModelForCausalLM.from_pretrained(
            checkpoint, dtype=dtype, attn_implementation="sdpa").eval()
        self.vocab = self.model.config.get_text_config().vocab_size

    @torch.inference_mode()
    def forward(self, ids, cache=None):
        return self.model(input_ids=torch.tensor([ids]), cache=cache, use_cache=True,
                          logits_to_keep=1)

    def decode(self, steps, cache):
        for _ in range(steps):
            cache = self.forward([1], cache).cache

    def answer(self, kind, size):
        ids = protocol.prompt(size, self.vocab)
        if kind == "pp":
            return protocol.seconds(lambda: self.forward(ids))
        if kind == "tg":
            cache = self.forward(ids[:1]).cache
            return protocol.seconds(lambda: self.decode(size, cache))
        logits = self.forward(ids).logits[0, -1].float()
        values, top = torch.topk(logits, 5)
        return {"top": list(zip(top.tolist(), values.tolist()))}


def main():
    checkpoint, dtype, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    if dtype == "bfloat16":
        F.conv1d = conv1d_in_f32
    model = Model(checkpoint, getattr(torch, dtype))
    versions = {"transformers": transformers.__version__, "torch": torch.__version__,
                "isa": torch.backends.cpu.get_cpu_capability()}
    protocol.serve(ANSWERS, versions, model.answer)


main()
