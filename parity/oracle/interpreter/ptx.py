# SPDX-License-Identifier: Apache-2.0
"""Compiles two of vLLM's kernels to PTX, which needs no GPU, and counts the instructions that round.

The interpreter shows what a kernel says; whether the compiler keeps to it, only the PTX does:
the convolution's product of two bf16 (is it rounded to bf16, or kept wide?) and the float32 operand of the
k k^T dot (does a conversion round it to TF32, or does the tensor core cut it off?)."""

import collections
import os
import re

os.environ["TRITON_INTERPRET"] = "0"  # before load_ops, which would turn it on

import load_ops
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile as compile_kernel

ARCHITECTURES = {80: "Ampere", 90: "Hopper", 100: "Blackwell", 120: "Blackwell, GB10's kind"}
CHANNELS = 512


def ptx(kernel, pointers: dict[str, str], constants: dict, architecture: int) -> str:
    def type_of(name: str) -> str:
        if name in constants:
            return "constexpr"
        return pointers.get(name, "i64" if name.startswith("stride") else "i32" if name == "T" else "*i32")

    source = ASTSource(fn=kernel, signature={name: type_of(name) for name in kernel.arg_names},
                       constexprs={(kernel.arg_names.index(name),): value for name, value in constants.items()})
    return compile_kernel(source, target=GPUTarget("cuda", architecture, 32), options={"num_stages": 2}).asm["ptx"]


def count(text: str, pattern: str) -> str:
    found = collections.Counter(re.findall(pattern, text))
    return ", ".join(f"{number} {name}" for name, number in found.most_common()) or "none"


def main() -> None:
    loaded = load_ops.load(load_ops.installed(), interpreted=False)
    convolution = loaded.conv._causal_conv1d_fwd_kernel
    kkt = load_ops.module(loaded, "chunk_scaled_dot_kkt").chunk_scaled_dot_kkt_fwd_kernel
    while not hasattr(kkt, "params"):  # inside the heuristics and the fixed configuration
        kkt = kkt.fn
    conv_constants = dict.fromkeys(("bias_ptr", "block_idx_first_scheduled_token", "block_idx_last_scheduled_token",
                                    "initial_state_idx", "num_computed_tokens")) | {
        "dim": CHANNELS, "num_cache_lines": 3, "stride_x_dim": 1, "stride_w_dim": 4, "stride_w_width": 1,
        "stride_istate_seq": 3 * CHANNELS, "stride_istate_dim": 1, "stride_istate_token": CHANNELS,
        "stride_cache_indices": 1, "stride_o_dim": 1, "stride_block_m": 0, "pad_slot_id": -1, "null_block_id": 0,
        "HAS_BIAS": False, "KERNEL_WIDTH": 4, "SILU_ACTIVATION": True, "IS_APC_ENABLED": False,
        "HAS_NULL_BLOCK": True, "NP2_STATELEN": 4, "BLOCK_M": 8, "BLOCK_N": 256}
    conv_pointers = dict.fromkeys(("x_ptr", "w_ptr", "initial_states_ptr", "o_ptr"), "*bf16")
    kkt_constants = {"H": 4, "Hg": 2, "K": 128, "BT": 64, "BK": 64, "IS_VARLEN": True, "USE_G": True}
    kkt_pointers = {"k": "*bf16"} | dict.fromkeys(("beta", "g", "A"), "*fp32")
    for architecture, name in ARCHITECTURES.items():
        text = ptx(convolution, conv_pointers | {"has_initial_states_ptr": "*i1"}, conv_constants, architecture)
        print(f"sm_{architecture} ({name}) convolution: {count(text, r'(?:mul|fma|add)(?:.rn)?.(?:bf16|f32)')}")
        text = ptx(kkt, kkt_pointers, kkt_constants, architecture)
        dots = count(text, r"(?:wgmma.mma_async|tcgen05.mma|mma.sync)[^ ]*tf32")
        print(f"sm_{architecture} ({name}) kkt: {dots}; conversions to TF32: {count(text, r'cvt[^ ]*tf32')}; "
              f"exp: {count(text, r'ex2[^ ]*')}")


if __name__ == "__main__":
    main()
