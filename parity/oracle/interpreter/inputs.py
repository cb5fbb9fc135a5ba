# SPDX-License-Identifier: Apache-2.0
"""Random inputs of the cases, from numpy's PCG64 and the case's seed. Scales are those of the GPU dumps:
unit v, state of deviation 0.35, q and k of unit length, rounded to the model's dtype."""

import numpy as np
import torch
from torch import Tensor

import exact_math

# Ranges of the log decay of one token. "strong" reaches -20 itself on every eighth token.
DECAY = {"very_weak": (-1e-4, 0.0), "weak": (-0.01, 0.0), "mid": (-0.69, -0.31), "strong": (-20.0, 0.0),
         "zero": (0.0, 0.0)}


class Source:
    def __init__(self, seed: int, dtype: str):
        self.generator, self.dtype = np.random.Generator(np.random.PCG64(seed)), getattr(torch, dtype)

    def f32(self, *shape: int, scale: float = 1.0) -> Tensor:
        return torch.from_numpy(self.generator.standard_normal(shape, np.float32) * np.float32(scale))

    def uniform(self, low: float, high: float, *shape: int) -> Tensor:
        unit = self.generator.random(shape, np.float32)
        return torch.from_numpy(np.float32(low) + np.float32(high - low) * unit)

    def model(self, *shape: int, scale: float = 1.0) -> Tensor:
        """In the dtype of the model."""
        return self.f32(*shape, scale=scale).to(self.dtype)

    def unit_rows(self, *shape: int) -> Tensor:
        x = self.f32(*shape).numpy()
        return torch.from_numpy(x / np.sqrt(exact_math.total(x * x, -1))[..., None]).to(self.dtype)


def offsets(lengths: tuple[int, ...]) -> Tensor:
    return torch.tensor([0, *np.cumsum(lengths)], dtype=torch.int32)


def prefill(source: Source, lengths, heads_k: int, heads_v: int, dim: int, decay: str, beta: str,
            with_state: list[bool]) -> dict[str, Tensor]:
    """beta: "random", "zero", "one", or "edges": rows of exact 0 and 1, and a zero q row and a zero k row."""
    tokens = sum(lengths)
    t = {"q": source.unit_rows(tokens, heads_k, dim), "k": source.unit_rows(tokens, heads_k, dim),
         "v": source.model(tokens, heads_v, dim), "g": source.uniform(*DECAY[decay], tokens, heads_v),
         "beta": source.uniform(0.05, 0.95, tokens, heads_v),
         "state_in": source.f32(len(lengths), heads_v, dim, dim, scale=0.35), "query_start_loc": offsets(lengths)}
    if decay == "strong":
        t["g"][::8] = -20.0
    if beta == "edges":
        t["beta"][3::7], t["beta"][5::7] = 0.0, 1.0
        t["q"][tokens // 2, 0] = 0
        t["k"][tokens // 3, -1] = 0
    elif beta != "random":
        t["beta"][:] = {"zero": 0.0, "one": 1.0}[beta]
    for n, given in enumerate(with_state):
        if not given:
            t["state_in"][n] = 0
    return t


def gating(source: Source, rows: int, heads_v: int, far: bool = False) -> dict[str, Tensor]:
    """a, b in the model's dtype; A_log and dt_bias in f32. far: a + dt_bias also beyond 20 and below -20."""
    t = {"a": source.model(rows, heads_v), "b": source.model(rows, heads_v),
         "A_log": source.uniform(-1.6, 0.25, heads_v), "dt_bias": source.uniform(-0.25, 0.75, heads_v)}
    if far:
        for row, value in enumerate((19.5, 20.0, 20.5, 30.0, -20.5, -40.0, 100.0)):
            t["a"][row] = value
        t["b"][7], t["b"][8] = 30.0, -30.0
    return t


def packed_decode(source: Source, slots: list[int], pool: int, heads_k: int, heads_v: int, dim: int,
                  state_dtype: str) -> dict[str, Tensor]:
    width = 2 * heads_k * dim + heads_v * dim
    return {"mixed_qkv": source.model(len(slots), width, scale=0.45), **gating(source, len(slots), heads_v),
            "state_in": source.f32(pool, heads_v, dim, dim, scale=0.35).to(getattr(torch, state_dtype)),
            "state_indices": torch.tensor(slots, dtype=torch.int32)}


def mixed_decode(source: Source, slots: list[int], pool: int, heads_k: int, heads_v: int, dim: int,
                 state_dtype: str) -> dict[str, Tensor]:
    rows = len(slots)
    return {"q": source.model(rows, heads_k, dim), "k": source.model(rows, heads_k, dim),
            "v": source.model(rows, heads_v, dim), **gating(source, rows, heads_v),
            "state_in": source.f32(pool, heads_v, dim, dim, scale=0.35).to(getattr(torch, state_dtype)),
            "state_indices": torch.tensor(slots, dtype=torch.int32)}


def prep(source: Source, tokens: int, heads_k: int, heads_v: int, dim: int) -> dict[str, Tensor]:
    t = {"mixed_qkv": source.model(tokens, 2 * heads_k * dim + heads_v * dim, scale=0.45)}
    t["mixed_qkv"][tokens // 2, : heads_k * dim] = 0  # a zero q row: eps alone under the root
    return t | gating(source, tokens, heads_v, far=True)


def conv(source: Source, lengths, channels: int, has_state: list[int]) -> dict[str, Tensor]:
    return {"x": source.model(sum(lengths), channels), "weight": source.model(channels, 4, scale=0.3),
            "conv_state_in": source.model(len(lengths), channels, 3), "query_start_loc": offsets(lengths),
            "has_initial_state": torch.tensor(has_state, dtype=torch.int32)}


def conv_update(source: Source, rows: int, channels: int) -> dict[str, Tensor]:
    return {"x": source.model(rows, channels), "weight": source.model(channels, 4, scale=0.3),
            "conv_state_in": source.model(rows, channels, 3)}


def rows(source: Source, count: int, dim: int) -> dict[str, Tensor]:
    t = {"x": source.model(count, dim)}
    t["x"][count // 2] = 0
    return t


def gated_rows(source: Source, count: int, dim: int) -> dict[str, Tensor]:
    return {"x": source.model(count, dim), "gate": source.model(count, dim),
            "weight": (source.f32(dim, scale=0.5) + 0.9).to(source.dtype)}
