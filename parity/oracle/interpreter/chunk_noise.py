# SPDX-License-Identifier: Apache-2.0
"""The noise of a case: how far the rounded chunk form moves from itself when only the order and the width of its
accumulations change. A gate is scaled to it.

An evaluation of our own, in numpy, of docs/numerics' stages with their rounding points; heads first, [Hv, n, D].
The whole case varies the order of the Dk axis and takes f64 accumulators. One stage alone also varies the order of
its sums over tokens, since two of the stages sum over nothing else."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import exact_math

CHUNK = 64
PERMUTATIONS = 32


@dataclass
class Form:
    """One evaluation: what it rounds to, how it adds."""

    dtype: str
    kkt_operand: str
    scale: float
    accumulator: type = np.float32
    dk_order: NDArray | None = None
    token_seed: int | None = None

    def round(self, x: NDArray) -> NDArray:
        if self.dtype == "f16":
            with np.errstate(over="ignore"):
                return x.astype(np.float16).astype(np.float32)
        return exact_math.widen_bf16(exact_math.round_bf16(x))

    def token_order(self, n: int) -> NDArray:
        return np.arange(n) if self.token_seed is None else np.random.Generator(
            np.random.PCG64([self.token_seed, n])).permutation(n)

    def over_dk(self, a: NDArray, b: NDArray) -> NDArray:
        order = slice(None) if self.dk_order is None else self.dk_order
        return exact_math.dot(a[..., order], b[..., order, :], self.accumulator)

    def over_tokens(self, a: NDArray, b: NDArray) -> NDArray:
        order = self.token_order(a.shape[-1])
        return exact_math.dot(a[..., order], b[..., order, :], self.accumulator)

    # The stages, of one chunk of n tokens. `total` is the running sum of the log decay, [Hv, n].

    def chunk_local_cumsum(self, log_decay: NDArray) -> NDArray:
        return exact_math.tree_cumsum(log_decay.astype(self.accumulator), axis=1).astype(np.float32)

    def chunk_scaled_dot_kkt(self, k, beta, total):
        operand = k * beta[..., None]
        if self.kkt_operand == "tf32":
            operand = exact_math.truncate_tf32(operand)
        return np.tril(self.over_dk(operand, k.swapaxes(1, 2)) * _decay(total), -1)

    def solve_tril(self, a):
        n = a.shape[1]
        inverse = np.zeros(a.shape, self.accumulator)
        inverse[:] = np.eye(n)
        order = self.token_order(n)
        for i in range(1, n):
            row = np.zeros((len(a), n), self.accumulator)
            for m in order[order < i]:
                row += a[:, i, m, None].astype(self.accumulator) * inverse[:, m]
            inverse[:, i, :i] = -row[:, :i]
        return self.round(inverse.astype(np.float32))

    def recompute_w_u(self, k, v, beta, total, inverse):
        keys = self.round(k * beta[..., None] * exact_math.exp(total)[..., None])
        values = self.round(v * beta[..., None])
        return self.round(self.over_tokens(inverse, keys)), self.round(self.over_tokens(inverse, values))

    def chunk_fwd_h(self, k, w, u, total, state):
        """state is [Hv, Dv, Dk]; returns what one chunk adds: h, v_new, the next state."""
        h = self.round(state)
        wide = u - self.over_dk(w, h.swapaxes(1, 2))
        last = total[:, -1:]
        decayed = self.round(wide * exact_math.exp(last - total)[..., None])
        update = self.over_tokens(decayed.swapaxes(1, 2), k)
        return h, self.round(wide), state * exact_math.exp(last)[..., None] + update

    def chunk_fwd_o(self, q, k, v_new, h, total):
        scale = np.float32(self.scale)
        p = self.round(np.tril(self.over_dk(q, k.swapaxes(1, 2)) * _decay(total)))
        past = self.over_dk(q, h.swapaxes(1, 2)) * exact_math.exp(total)[..., None]
        return self.round(past * scale + self.over_tokens(p, v_new) * scale)


def _decay(total: NDArray) -> NDArray:
    return exact_math.exp(np.minimum(total[:, :, None] - total[:, None, :], 0))


def _chunks(query_start_loc):
    """(sequence, first token, end, index of the chunk in the batch, whether it starts its sequence)."""
    index = 0
    for n, (begin, end) in enumerate(zip(query_start_loc[:-1], query_start_loc[1:])):
        for first in range(begin, end, CHUNK):
            yield n, first, min(first + CHUNK, end), index, first == begin
            index += 1


def evaluate(form: Form, given: dict[str, NDArray], fed: dict[str, NDArray] | None = None) -> dict[str, NDArray]:
    """Every stage's output, as float32. With `fed`, the golden's own tensors, each stage reads those instead of
    what the stage before it gave; only the state is carried on within chunk_fwd_h."""
    ratio = given["v"].shape[1] // given["k"].shape[1]
    result: dict[str, NDArray] = {}

    def put(name: str, place, value, shape) -> NDArray:
        result.setdefault(name, np.zeros(shape, np.float32))[place] = value
        return value if fed is None else fed[name][place]

    tokens, heads, dv = given["v"].shape
    dk = given["k"].shape[2]
    chunk_count = sum(1 for _ in _chunks(given["query_start_loc"]))
    state = None
    for n, first, end, index, starts in _chunks(given["query_start_loc"]):
        q, k = (np.repeat(given[x][first:end], ratio, axis=1).swapaxes(0, 1) for x in ("q", "k"))
        v = given["v"][first:end].swapaxes(0, 1)
        log_decay, beta = given["g"][first:end].T, given["beta"][first:end].T
        state = given["state_in"][n] if starts else state

        def by_token(name, value, width):
            """Stores [Hv, n, width] as [T, Hv, width], columns past n zero, and reads back heads first."""
            padded = np.zeros((end - first, heads, width), np.float32)
            padded[..., : value.shape[2]] = value.swapaxes(0, 1)
            return put(name, slice(first, end), padded, (tokens, heads, width)).swapaxes(0, 1)[..., : value.shape[2]]

        total = put("cum_log_decay", slice(first, end), form.chunk_local_cumsum(log_decay).T, (tokens, heads)).T
        a = by_token("A", form.chunk_scaled_dot_kkt(k, beta, total), CHUNK)
        inverse = by_token("a_inverse", form.solve_tril(a), CHUNK)
        w, u = form.recompute_w_u(k, v, beta, total, inverse)
        w, u = by_token("w", w, dk), by_token("u", u, dv)
        h, v_new, state = form.chunk_fwd_h(k, w, u, total, state)
        h = put("h", index, h, (chunk_count, heads, dv, dk))
        v_new = by_token("v_new", v_new, dv)
        by_token("out", form.chunk_fwd_o(q, k, v_new, h, total), dv)
        result.setdefault("state_out", np.array(given["state_in"]))[n] = state
    return result


def nmse(got: NDArray, want: NDArray) -> float:
    got, want = got.astype(np.float64), want.astype(np.float64)
    difference, power = ((got - want) ** 2).sum(), (want ** 2).sum()
    return float(difference / power) if power else float(difference)


def _distance(got: NDArray, want: NDArray, is_rounded: bool) -> dict[str, float]:
    measured = {"nmse": nmse(got, want)}
    return {"differ": float((got != want).mean()), **measured} if is_rounded else measured


UNROUNDED = ("cum_log_decay", "A", "state_out")


def measure(form: Form, given: dict[str, NDArray], fed: dict[str, NDArray] | None, seed: int) -> dict[str, dict]:
    """The worst distance of each output from the form that adds left to right in f32."""
    base = evaluate(form, given, fed)
    names = base if fed is not None else ("out", "state_out")
    worst: dict[str, dict] = {}
    generator = np.random.Generator(np.random.PCG64(seed))
    variants = [Form(form.dtype, form.kkt_operand, form.scale, np.float64)]
    for i in range(PERMUTATIONS):
        order = generator.permutation(given["k"].shape[2])
        variants.append(Form(form.dtype, form.kkt_operand, form.scale, np.float32, order,
                             None if fed is None else i))
    for variant in variants:
        other = evaluate(variant, given, fed)
        for name in names:
            found = _distance(other[name], base[name], name not in UNROUNDED)
            kept = worst.setdefault(name, found)
            worst[name] = {key: max(kept[key], value) for key, value in found.items()}
    return worst
