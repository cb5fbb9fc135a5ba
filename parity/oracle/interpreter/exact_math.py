# SPDX-License-Identifier: Apache-2.0
"""Arithmetic that gives the same bits on every machine: IEEE adds, products and divisions of numpy arrays, one
element at a time, and nothing from BLAS, libm or numpy's dispatched kernels.

Dots and functions are evaluated in float64 and rounded once to float32, so that a golden has no accumulation
order of its own: it lies in the middle of what any order of a kernel gives."""

import numpy as np
from numpy.typing import NDArray

LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")  # 32 bits of ln 2: times a small integer it is exact
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")


def widen_bf16(bits: NDArray) -> NDArray:
    """bf16 bits (uint16) to the float32 of the same value."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def round_bf16(x: NDArray) -> NDArray:
    """float32 to bf16 bits (uint16): nearest, ties to even; a NaN stays one."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32).reshape(np.shape(x))
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(x), (bits >> np.uint32(16)) | np.uint32(0x40), rounded).astype(np.uint16)


def truncate_tf32(x: NDArray) -> NDArray:
    """What a tensor core reads of a float32 operand: the low 13 bits of the mantissa cleared."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32).reshape(np.shape(x))
    return (bits & np.uint32(0xFFFFE000)).view(np.float32)


def dot(a: NDArray, b: NDArray, accumulator: type = np.float64) -> NDArray:
    """[.., M, K] @ [.., K, N] to float32, the K products added left to right in `accumulator`."""
    a, b = a.astype(accumulator), b.astype(accumulator)
    result = a[..., :, 0, None] * b[..., 0, None, :]
    for k in range(1, a.shape[-1]):
        result += a[..., :, k, None] * b[..., k, None, :]
    return result.astype(np.float32)


def tree_cumsum(x: NDArray, axis: int = 0) -> NDArray:
    """Inclusive scan in lane-shift (Hillis-Steele) order, as lanes of a GPU add."""
    sums = np.moveaxis(np.array(x), axis, 0)
    step = 1
    while step < len(sums):
        sums[step:] = sums[step:] + sums[:-step]
        step *= 2
    return np.moveaxis(sums, 0, axis)


def total(x: NDArray, axis: int) -> NDArray:
    """Sum of float32 along an axis, rounded once. Halves are added, so that no library chooses the order."""
    wide = np.moveaxis(np.asarray(x, np.float64), axis, 0)
    while len(wide) > 1:
        half = (len(wide) + 1) // 2
        upper = wide[half:]
        wide = wide[:half].copy()
        wide[: len(upper)] += upper
    return wide[0].astype(np.float32)


def exp(x: NDArray) -> NDArray:
    """e^x of float32, rounded once."""
    wide = np.clip(np.where(np.isnan(x), 0, x).astype(np.float64), -120, 100)  # beyond: 0 and inf in float32
    power = np.rint(wide * 1.4426950408889634)
    rest = (wide - power * LN2_HIGH) - power * LN2_LOW
    series = np.ones_like(rest)
    for n in range(14, 0, -1):
        series = 1 + series * rest / n
    with np.errstate(over="ignore", under="ignore"):
        result = np.ldexp(series, power.astype(np.int32)).astype(np.float32)
    return np.where(np.isnan(x), np.float32(np.nan), result)


def log(x: NDArray) -> NDArray:
    """ln x of float32, rounded once. x > 0: the kernels take it of 1 + e^y only."""
    mantissa, power = np.frexp(np.where(np.isinf(x), 1, x).astype(np.float64))
    low = mantissa < 0.7071067811865476
    mantissa, power = np.where(low, mantissa * 2, mantissa), np.where(low, power - 1, power)
    s = (mantissa - 1) / (mantissa + 1)
    series = np.zeros_like(s)
    for n in range(23, 0, -2):
        series = series * (s * s) + 1 / n
    result = (2 * s * series + power * LN2_LOW) + power * LN2_HIGH
    return np.where(np.isposinf(x), np.inf, result).astype(np.float32)
