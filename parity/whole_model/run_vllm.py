# SPDX-License-Identifier: Apache-2.0
"""usage: run_vllm.py TASK OUT: greedy tokens of vLLM on the CPU, one prompt at a time.

Eager, because what inductor fuses, and so rounds, depends on the compiler that
it finds; one request at a time, because gdn and transformers have one. Its
kernels are of the instructions that the CPU has: AVX2, AVX-512 or AMX.
"""

import os
import re
import sys
from pathlib import Path

# One process: with two cores, workers that spin for each other take most of the time. Without
# dynamo: even when eager vLLM compiles a function or two, though none that rounds.
os.environ.update(VLLM_ENABLE_V1_MULTIPROCESSING="0", VLLM_NO_USAGE_STATS="1",
                  VLLM_CPU_OMP_THREADS_BIND="nobind", TORCHDYNAMO_DISABLE="1",
                  CUDA_VISIBLE_DEVICES="")

import torch
import vllm

import records


def load(task):
    longest = max(map(len, task["prompts"]))
    return vllm.LLM(model=task["checkpoint"], dtype="bfloat16", enforce_eager=True,
                    skip_tokenizer_init=True, generation_config="vllm", max_num_seqs=1,
                    max_model_len=longest + task["new_tokens"], enable_prefix_caching=False,
                    logprobs_mode="raw_logits", kv_cache_memory_bytes=1 << 30)


def largest(logits):
    """[[id, logit] x TOP], ties to the lower id, of a dict that may have one more."""
    pairs = sorted(((i, entry.logprob) for i, entry in logits.items()), key=lambda p: (-p[1], p[0]))
    return [[i, v] for i, v in pairs[:records.TOP]]


def complete(llm, prompt, params):
    output = llm.generate([{"prompt_token_ids": prompt}], params, use_tqdm=False)[0].outputs[0]
    return {"ids": list(output.token_ids), "top": [largest(row) for row in output.logprobs]}


def library():
    """Of vLLM's libraries, one for each set of instructions, the one that is loaded."""
    found = re.search(r"/vllm/(_C\w*)\.", Path("/proc/self/maps").read_text(encoding="utf-8"))
    return found.group(1) if found else "none"


def main():
    task_path, out = sys.argv[1:]
    task = records.read(task_path)
    llm = load(task)
    params = vllm.SamplingParams(temperature=0, max_tokens=task["new_tokens"], logprobs=records.TOP,
                                 stop_token_ids=task["eos"], detokenize=False)
    outputs = []
    for prompt in task["prompts"]:
        outputs.append(complete(llm, prompt, params))
        print(len(outputs), "of", len(task["prompts"]), flush=True)
    records.write(out, {
        "engine": "vllm-cpu",
        "versions": {"vllm-cpu": vllm.__version__, "torch": torch.__version__,
                     "library": library()},
        "outputs": outputs})


if __name__ == "__main__":
    main()
