# SPDX-License-Identifier: Apache-2.0
"""The table of golden cases. Prefill is covered pairwise: `uncovered()` names the pairs that no case has."""

import itertools
from dataclasses import dataclass

from torch import Tensor

import inputs


@dataclass(frozen=True)
class Prefill:
    lengths: tuple[int, ...]
    start: str  # given, none, or mixed: every other sequence
    heads_k: int
    heads_v: int
    dim: int
    decay: str
    dtype: str = "bf16"
    kkt_operand: str = "tf32"
    beta: str = "random"  # random, edges, zero, one: see inputs.prefill
    stages: bool = False  # also every stage's tensor

    @property
    def name(self) -> str:
        parts = [f"gdn_prefill_{self.dtype}_T{'_'.join(map(str, self.lengths))}",
                 f"Hk{self.heads_k}_Hv{self.heads_v}_D{self.dim}_{self.decay}"]
        parts += [self.beta] * (self.beta != "random") + [self.start] * (self.start != "given")
        return "_".join(parts + ["ieee"] * (self.kkt_operand == "ieee"))

    def with_state(self) -> list[bool]:
        return [self.start == "given" or (self.start == "mixed" and n % 2 == 0) for n in range(len(self.lengths))]

    def make(self, seed: int) -> tuple[dict, dict[str, Tensor]]:
        source = inputs.Source(seed, TORCH_NAME[self.dtype])
        tensors = inputs.prefill(source, self.lengths, self.heads_k, self.heads_v, self.dim, self.decay, self.beta,
                                 self.with_state())
        args = {"scale": self.dim ** -0.5, "Hk": self.heads_k, "Hv": self.heads_v, "Dk": self.dim, "Dv": self.dim,
                "seqlens": list(self.lengths), "with_initial_state": self.with_state(),
                "kkt_operand": self.kkt_operand, "decay": self.decay, "dtype": self.dtype, "seed": seed}
        return args, tensors

    def levels(self) -> dict[str, list]:
        """What the case is, for the pairs. A mixed batch has sequences of both kinds."""
        longest = max(self.lengths)
        extent = "tail" if longest <= 17 else "chunk" if longest <= 64 else "chunks"
        return {"lengths": ["batch" if len(self.lengths) > 1 else extent],
                "start": ["given", "none"] if self.start == "mixed" else [self.start],
                "ratio": [self.heads_v // self.heads_k], "key heads": ["one" if self.heads_k == 1 else "more"],
                "dim": [self.dim], "decay": [self.decay], "dtype": [self.dtype], "kkt": [self.kkt_operand],
                "beta": [self.beta]}


TORCH_NAME = {"bf16": "bfloat16", "f16": "float16"}

# Cases of weak, very weak and no decay that are longer than one chunk carry the stages: bf16 noise grows there, so
# that only a stage can be held to account.
PREFILL = [
    Prefill((1,), "none", 1, 3, 128, "very_weak", kkt_operand="ieee"),
    Prefill((1,), "given", 2, 8, 64, "zero", "f16"),
    Prefill((1,), "given", 2, 2, 64, "weak", "f16"),
    Prefill((15,), "none", 2, 4, 64, "zero", "f16", beta="edges"),
    Prefill((15,), "given", 1, 4, 64, "very_weak", "f16", beta="edges"),
    Prefill((15,), "given", 1, 1, 64, "mid", beta="zero"),
    Prefill((16,), "given", 1, 2, 64, "strong", kkt_operand="ieee"),
    Prefill((16,), "given", 1, 1, 64, "mid", beta="one"),
    Prefill((17,), "none", 1, 1, 64, "mid", "f16", "ieee", "edges"),
    Prefill((17,), "none", 1, 3, 64, "mid", "f16", beta="edges"),
    Prefill((17,), "given", 2, 2, 128, "mid", "f16", "ieee"),
    Prefill((63,), "none", 2, 2, 64, "strong", kkt_operand="ieee"),
    Prefill((63,), "none", 1, 1, 64, "zero"),
    Prefill((63,), "given", 2, 4, 64, "very_weak", "f16"),
    Prefill((64,), "none", 1, 3, 64, "weak", "f16", "ieee"),
    Prefill((64,), "given", 2, 4, 64, "mid", beta="edges"),
    Prefill((64,), "given", 1, 4, 128, "weak"),
    Prefill((65,), "given", 1, 2, 128, "mid", kkt_operand="ieee", beta="edges"),
    Prefill((65,), "none", 1, 3, 64, "zero", kkt_operand="ieee", beta="edges", stages=True),
    Prefill((65,), "given", 2, 6, 64, "very_weak", stages=True),
    Prefill((127,), "given", 1, 1, 128, "zero", "f16", beta="edges", stages=True),
    Prefill((128,), "none", 1, 4, 64, "strong", kkt_operand="ieee", beta="edges"),
    Prefill((129,), "none", 1, 1, 64, "weak", kkt_operand="ieee", stages=True),
    Prefill((200,), "none", 1, 4, 64, "strong", "f16"),
    Prefill((200,), "given", 1, 2, 64, "mid"),
    Prefill((20, 12), "given", 2, 2, 64, "very_weak", "f16", "ieee", "edges"),
    Prefill((20, 12), "none", 1, 4, 64, "mid", kkt_operand="ieee"),
    Prefill((20, 12), "none", 1, 3, 64, "strong", kkt_operand="ieee"),
    Prefill((20, 12), "mixed", 1, 1, 128, "strong", kkt_operand="ieee"),
    Prefill((63, 64, 65), "mixed", 1, 2, 64, "mid"),
    Prefill((63, 64, 65), "given", 1, 1, 64, "zero", stages=True),
    Prefill((5, 130, 1, 64), "mixed", 1, 2, 64, "weak", beta="edges", stages=True),
    Prefill((20,), "given", 1, 2, 64, "mid"),  # what the rounding points are dropped on, with T 200
]

ONE_STAGE = Prefill((65,), "given", 2, 4, 64, "mid")


def uncovered() -> list[tuple]:
    """Pairs of levels of two factors that no prefill case has together. Whole-case betas are not paired: "edges"
    has their rows."""
    held: dict[str, set] = {}
    seen = set()
    for case in PREFILL:
        levels = case.levels()
        if case.beta in ("zero", "one"):
            levels.pop("beta")
        for factor, values in levels.items():
            held.setdefault(factor, set()).update(values)
        for a, b in itertools.combinations(levels, 2):
            seen |= {(a, x, b, y) for x in levels[a] for y in levels[b]}
    wanted = [(a, x, b, y) for a, b in itertools.combinations(held, 2) for x in held[a] for y in held[b]]
    return sorted((pair for pair in wanted if pair not in seen), key=str)


def _decode_args(heads_k: int, heads_v: int, dim: int, batch: int, **more) -> dict:
    return {"scale": dim ** -0.5, "Hk": heads_k, "Hv": heads_v, "Dk": dim, "Dv": dim, "batch": batch,
            "use_qk_l2norm_in_kernel": True, "softplus_threshold": 20.0, **more}


def others(seed: int) -> list[tuple[str, str, dict, dict[str, Tensor]]]:
    """(folder, op, args, input tensors) of every operator that is not the chunked prefill."""
    made = []

    def add(name: str, op: str, args: dict, make, *arguments, dtype: str = "bfloat16") -> None:
        own = seed + len(made)
        made.append((name, op, args | {"seed": own}, make(inputs.Source(own, dtype), *arguments)))

    for slots, pool, heads_k, heads_v, dim, state in (([2, 0, 3, -1, 1], 4, 2, 6, 64, "bf16"),
                                                      ([1, 0], 2, 1, 3, 128, "bf16"),
                                                      ([2, 0, 1], 3, 1, 3, 64, "f32")):
        state_name = {"bf16": "bfloat16", "f32": "float32"}[state]
        add(f"gdn_packed_decode_bf16_B{len(slots)}_Hk{heads_k}_Hv{heads_v}_D{dim}_state_{state}",
            "gdn_packed_decode_bf16", _decode_args(heads_k, heads_v, dim, len(slots), packed_beta="bf16"),
            inputs.packed_decode, slots, pool, heads_k, heads_v, dim, state_name)
    add("gdn_decode_bf16_B5_Hk1_Hv2_D64_state_f32", "gdn_decode",
        _decode_args(1, 2, 64, 5, null_rows="unwritten"),
        inputs.mixed_decode, [3, -1, 1, 0, 2], 4, 1, 2, 64, "float32")
    add("gdn_decode_bf16_B2_Hk2_Hv4_D64_state_bf16", "gdn_decode",
        _decode_args(2, 4, 64, 2, null_rows="unwritten"),
        inputs.mixed_decode, [1, 0], 2, 2, 4, 64, "bfloat16")
    lengths, has_state = (1, 2, 9, 3, 1, 2, 17), [1, 0, 1, 0, 0, 1, 0]
    conv_args = {"activation": "silu", "bias": None, "dim": 320, "width": 4}
    add("causal_conv1d_fwd_bf16_T1_2_9_3_1_2_17_C320", "causal_conv1d_fwd",
        conv_args | {"seqlens": list(lengths)}, inputs.conv, lengths, 320, has_state)
    add("causal_conv1d_update_bf16_B3_C320", "causal_conv1d_update", conv_args | {"batch": 3},
        inputs.conv_update, 3, 320)
    for heads_k, heads_v, dim in ((2, 4, 64), (1, 3, 128)):
        add(f"gdn_prep_bf16_T21_Hk{heads_k}_Hv{heads_v}_D{dim}", "gdn_prep",
            {"Hk": heads_k, "Hv": heads_v, "Dk": dim, "Dv": dim, "l2norm_eps": 1e-6, "softplus_threshold": 20.0},
            inputs.prep, 21, heads_k, heads_v, dim)
    add("l2norm_bf16_16x128", "l2norm", {"eps": 1e-6}, inputs.rows, 16, 128)
    for activation in ("silu", "sigmoid"):
        add(f"rmsnorm_gated_bf16_16x128_{activation}", "rmsnorm_gated",
            {"eps": 1e-6, "norm_before_gate": True, "activation": activation, "group_size": None},
            inputs.gated_rows, 16, 128)
    return made
