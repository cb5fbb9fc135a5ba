# SPDX-License-Identifier: Apache-2.0
"""Calls each of vLLM's operators on a case's tensors. Ours have no batch axis; the chunk ops want one of size 1.

`names` of an output are the goldens'. A state or a cache is copied first: the kernels update it in place."""

from types import SimpleNamespace

import torch
from torch import Tensor
from triton.runtime import interpreter

import golden_files
import load_ops

Tensors = dict[str, Tensor]
CHUNK = 64


class Operators:
    def __init__(self, loaded: SimpleNamespace):
        self.loaded, self.ops, self.conv = loaded, loaded.ops, loaded.conv
        self.null_rows = ""

    def _module(self, leaf: str):
        return load_ops.module(self.loaded, leaf)

    def gdn_prefill(self, t: Tensors, args: dict) -> Tensors:
        given = any(args["with_initial_state"])
        out, state = self.ops.chunk_gated_delta_rule(
            q=t["q"][None], k=t["k"][None], v=t["v"][None], g=t["g"][None], beta=t["beta"][None],
            scale=args["scale"], initial_state=t["state_in"].clone() if given else None,
            output_final_state=True, cu_seqlens=t["query_start_loc"])
        return {"out": out[0], "state_out": state}

    def stages(self, t: Tensors, args: dict) -> Tensors:
        """All six, each fed by the one before: the order of upstream's chunk_gated_delta_rule_fwd."""
        found: Tensors = {}
        for stage in STAGES:
            found |= getattr(self, stage)(t | found, args)
        return found

    def chunk_local_cumsum(self, t: Tensors, args: dict) -> Tensors:
        total = self._module("cumsum").chunk_local_cumsum(
            t["g"][None], chunk_size=CHUNK, cu_seqlens=t["query_start_loc"])
        return {"cum_log_decay": total[0]}

    def chunk_scaled_dot_kkt(self, t: Tensors, args: dict) -> Tensors:
        a = self._module("chunk_scaled_dot_kkt").chunk_scaled_dot_kkt_fwd(
            k=t["k"][None], g=t["cum_log_decay"][None], beta=t["beta"][None],
            cu_seqlens=t["query_start_loc"], output_dtype=torch.float32)
        return {"A": a[0]}

    def solve_tril(self, t: Tensors, args: dict) -> Tensors:
        inverse = self._module("solve_tril").solve_tril(
            A=t["A"][None], cu_seqlens=t["query_start_loc"], output_dtype=golden_files.TORCH[args["dtype"]])
        return {"a_inverse": inverse[0]}

    def recompute_w_u(self, t: Tensors, args: dict) -> Tensors:
        w, u = self._module("wy_fast").recompute_w_u_fwd(
            k=t["k"][None], v=t["v"][None], beta=t["beta"][None], g_cumsum=t["cum_log_decay"][None],
            A=t["a_inverse"][None], cu_seqlens=t["query_start_loc"])
        return {"w": w[0], "u": u[0]}

    def chunk_fwd_h(self, t: Tensors, args: dict) -> Tensors:
        h, v_new, state = self._module("chunk_delta_h").chunk_gated_delta_rule_fwd_h(
            k=t["k"][None], w=t["w"][None], u=t["u"][None], g=t["cum_log_decay"][None],
            initial_state=t["state_in"].clone(), output_final_state=True, cu_seqlens=t["query_start_loc"])
        return {"h": h[0], "v_new": v_new[0], "state_out": state}

    def chunk_fwd_o(self, t: Tensors, args: dict) -> Tensors:
        out = self._module("chunk_o").chunk_fwd_o(
            q=t["q"][None], k=t["k"][None], v=t["v_new"][None], h=t["h"][None], g=t["cum_log_decay"][None],
            scale=args["scale"], cu_seqlens=t["query_start_loc"])
        return {"out": out[0]}

    def gdn_prep(self, t: Tensors, args: dict) -> Tensors:
        q, k, v, g, beta = self.ops.fused_post_conv_prep(
            t["mixed_qkv"], t["a"], t["b"], t["A_log"], t["dt_bias"], args["Hk"], args["Dk"], args["Dv"])
        assert torch.equal(v.flatten(1), t["mixed_qkv"][:, 2 * args["Hk"] * args["Dk"]:]), "v is no bit copy"
        return {"q_out": q, "k_out": k, "g": g, "beta": beta}

    def gdn_packed_decode_bf16(self, t: Tensors, args: dict) -> Tensors:
        state, batch = t["state_in"].clone(), len(t["a"])
        out = torch.empty(batch, 1, args["Hv"], args["Dv"], dtype=t["mixed_qkv"].dtype)
        self.ops.fused_recurrent_gated_delta_rule_packed_decode(
            t["mixed_qkv"], t["a"], t["b"], t["A_log"], t["dt_bias"], args["scale"], state, out,
            t["state_indices"], use_qk_l2norm_in_kernel=True)
        return {"out": out[:, 0], "state_out": state}

    def gdn_decode(self, t: Tensors, args: dict) -> Tensors:
        """Rows of null slots are not written upstream, so they hold the NaN of an empty tensor: here they become
        zero, and null_rows says what they were."""
        state, batch = t["state_in"].clone(), len(t["a"])
        out, _ = self._module("fused_sigmoid_gating").fused_sigmoid_gating_delta_rule_update(
            A_log=t["A_log"], a=t["a"], b=t["b"], dt_bias=t["dt_bias"], q=t["q"][None], k=t["k"][None],
            v=t["v"][None], scale=args["scale"], initial_state=state, inplace_final_state=True,
            cu_seqlens=torch.arange(batch + 1, dtype=torch.int32), ssm_state_indices=t["state_indices"],
            use_qk_l2norm_in_kernel=True)
        null = t["state_indices"] <= 0
        self.null_rows = "unwritten" if torch.isnan(out[0][null].float()).all() else "zero"
        out[0][null] = torch.nan_to_num(out[0][null])
        return {"out": out[0], "state_out": state}

    def causal_conv1d_fwd(self, t: Tensors, args: dict) -> Tensors:
        """Slot 0 of upstream's cache is its null slot, so sequence n takes slot n + 1."""
        cache = torch.cat([torch.zeros_like(t["conv_state_in"][:1]), t["conv_state_in"]])
        slots = torch.arange(1, len(cache), dtype=torch.int32)
        out = self.conv.causal_conv1d_fn(
            t["x"].T, t["weight"], None, cache, t["query_start_loc"], cache_indices=slots,
            has_initial_state=t["has_initial_state"].bool(), activation=args["activation"],
            metadata=_conv_programs(t["query_start_loc"]))
        return {"out": out.T, "conv_state_out": cache[1:]}

    def causal_conv1d_update(self, t: Tensors, args: dict) -> Tensors:
        cache = torch.cat([torch.zeros_like(t["conv_state_in"][:1]), t["conv_state_in"]])
        slots = torch.arange(1, len(cache), dtype=torch.int32)
        out = self.conv.causal_conv1d_update(
            t["x"].clone(), cache, t["weight"], None, args["activation"], conv_state_indices=slots)
        return {"out": out, "conv_state_out": cache[1:]}

    def l2norm(self, t: Tensors, args: dict) -> Tensors:
        return {"out": self._module("l2norm").l2norm_fwd(t["x"], eps=args["eps"])}

    def rmsnorm_gated(self, t: Tensors, args: dict) -> Tensors:
        return {"out": self._module("layernorm_guard").rmsnorm_fn(
            t["x"], t["weight"], None, z=t["gate"], eps=args["eps"], norm_before_gate=True,
            activation=args["activation"])}


STAGES = ("chunk_local_cumsum", "chunk_scaled_dot_kkt", "solve_tril", "recompute_w_u", "chunk_fwd_h", "chunk_fwd_o")

CALLABLES = {
    "gdn_prefill": "chunk.py::chunk_gated_delta_rule",
    "chunk_local_cumsum": "cumsum.py::chunk_local_cumsum",
    "chunk_scaled_dot_kkt": "chunk_scaled_dot_kkt.py::chunk_scaled_dot_kkt_fwd",
    "solve_tril": "solve_tril.py::solve_tril",
    "recompute_w_u": "wy_fast.py::recompute_w_u_fwd",
    "chunk_fwd_h": "chunk_delta_h.py::chunk_gated_delta_rule_fwd_h",
    "chunk_fwd_o": "chunk_o.py::chunk_fwd_o",
    "gdn_prep": "fused_gdn_prefill_post_conv.py::fused_post_conv_prep",
    "gdn_packed_decode_bf16": "fused_recurrent.py::fused_recurrent_gated_delta_rule_packed_decode",
    "gdn_decode": "fused_sigmoid_gating.py::fused_sigmoid_gating_delta_rule_update",
    "causal_conv1d_fwd": "mamba/ops/causal_conv1d.py::causal_conv1d_fn",
    "causal_conv1d_update": "mamba/ops/causal_conv1d.py::causal_conv1d_update",
    "l2norm": "l2norm.py::l2norm_fwd",
    "rmsnorm_gated": "layernorm_guard.py::rmsnorm_fn",
}


def _conv_programs(query_start_loc: Tensor) -> SimpleNamespace:
    """The list of (sequence, block of 8 tokens) that upstream's grid function makes from its launch arguments.
    The interpreter has turned those into pointers by then, so it is handed over ready."""
    counts = [-(-int(n) // 8) for n in query_start_loc.diff()]
    sequences = torch.tensor([n for n, count in enumerate(counts) for _ in range(count)], dtype=torch.int32)
    blocks = torch.tensor([i for count in counts for i in range(count)], dtype=torch.int32)
    ready = {"tot": len(blocks), "mlist": sequences, "mlist_len": len(blocks), "offsetlist": blocks,
             "batch_ptr": interpreter._implicit_cvt(sequences),
             "token_chunk_offset_ptr": interpreter._implicit_cvt(blocks)}
    return SimpleNamespace(nums_dict={8: ready}, batch_ptr=sequences, token_chunk_offset_ptr=blocks)
