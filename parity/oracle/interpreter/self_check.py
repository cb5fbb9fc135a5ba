# SPDX-License-Identifier: Apache-2.0
"""Proves the patches: each primitive against torch, mpmath or exact rationals, first alone and then through a
kernel of our own that the interpreter runs."""

from fractions import Fraction

import load_ops  # first: it turns the interpreter on
import mpmath
import numpy as np
import torch
import triton
import triton.language as tl

import exact_math
import golden_files
import patches

mpmath.mp.dps = 40


def _bits(generator, count: int) -> np.ndarray:
    """float32 of every exponent, infinities, NaNs, and ties of bf16."""
    bits = generator.integers(0, 2**32, count, np.uint32)
    bits[::3] = bits[::3] & np.uint32(0xFFFF0000) | np.uint32(0x8000)
    return bits.view(np.float32)


def check_roundings(generator) -> None:
    x = _bits(generator, 200_000)
    ours, theirs = exact_math.round_bf16(x), golden_files.to_stored(torch.from_numpy(x).bfloat16())
    is_nan = np.isnan(x)
    assert np.array_equal(ours[~is_nan], theirs[~is_nan])
    assert np.isnan(exact_math.widen_bf16(ours[is_nan])).all()
    cut = exact_math.truncate_tf32(x[np.isfinite(x)])
    whole = x[np.isfinite(x)]
    assert (np.abs(cut) <= np.abs(whole)).all() and not (cut.view(np.uint32) & 0x1FFF).any()


def _rounded(value: mpmath.mpf) -> np.float32:
    return np.float32(float(value))  # 53 bits first: no value of these samples lies within 2^-29 ulp of a tie


def check_functions(generator) -> None:
    x = (generator.random(1000) * 130 - 110).astype(np.float32)
    assert all(got == _rounded(mpmath.exp(float(v))) for v, got in zip(x, exact_math.exp(x)))
    assert exact_math.exp(np.float32([-200, 0, 200])).tolist() == [0, 1, np.inf]
    y = np.exp(generator.random(1000) * 80 - 20).astype(np.float32)
    assert all(got == _rounded(mpmath.log(float(v))) for v, got in zip(y, exact_math.log(y)))
    assert exact_math.log(np.float32([1, np.inf])).tolist() == [0, np.inf]


def check_sums(generator) -> None:
    a = golden_files.widen(torch.from_numpy(generator.standard_normal((5, 128), np.float32)).bfloat16())
    b = golden_files.widen(torch.from_numpy(generator.standard_normal((128, 7), np.float32)).bfloat16())
    product, total = exact_math.dot(a, b), exact_math.total(a, 1)
    for i in range(5):
        assert total[i] == np.float32(float(sum(map(Fraction, a[i].tolist()))))
        for j in range(7):
            exact = sum(Fraction(x) * Fraction(y) for x, y in zip(a[i].tolist(), b[:, j].tolist()))
            assert product[i, j] == np.float32(float(exact))
    x = generator.standard_normal(8, np.float32)
    pairs = [x[i] + x[i - 1] for i in range(1, 8)]
    fours = pairs[6] + pairs[4]
    assert exact_math.tree_cumsum(x)[7] == fours + (pairs[2] + pairs[0])
    linear = np.cumsum(x)
    assert np.allclose(linear, exact_math.tree_cumsum(x), atol=1e-5)


@triton.jit
def _kernel(a, b, bf16_out, product, scan, dot_bf16, dot_f32, N: tl.constexpr):
    i = tl.arange(0, N)
    square = i[:, None] * N + i[None, :]
    tl.store(bf16_out + square, tl.load(a + square).to(tl.bfloat16))
    left, right = tl.load(bf16_out + square), tl.load(b + square)
    tl.store(product + square, (left * right).to(tl.float32))
    tl.store(scan + i, tl.cumsum(tl.load(a + i), 0))
    tl.store(dot_bf16 + square, tl.dot(left, right))
    tl.store(dot_f32 + square, tl.dot(tl.load(a + square), right.to(tl.float32)))


def check_kernel(generator) -> None:
    n = 16
    a = torch.from_numpy(generator.standard_normal((n, n), np.float32))
    b = torch.from_numpy(generator.standard_normal((n, n), np.float32)).bfloat16()
    for option in patches.KKT_OPERANDS:
        patches.set_kkt_operand(option)
        bf16_out = torch.empty(n, n, dtype=torch.bfloat16)
        product, dot_bf16, dot_f32, scan = (torch.empty(n, n) for _ in range(4))
        _kernel[(1,)](a, b, bf16_out, product, scan, dot_bf16, dot_f32, n)
        assert torch.equal(bf16_out, a.bfloat16())
        assert torch.equal(product, (bf16_out * b).float())
        assert np.array_equal(scan[0].numpy(), exact_math.tree_cumsum(a[0].numpy()))
        wide = golden_files.widen(b)
        assert np.array_equal(dot_bf16.numpy(), exact_math.dot(golden_files.widen(bf16_out), wide))
        operand = exact_math.truncate_tf32(a.numpy()) if option == "tf32" else a.numpy()
        assert np.array_equal(dot_f32.numpy(), exact_math.dot(operand, wide))


def main() -> None:
    patches.apply()
    generator = np.random.Generator(np.random.PCG64(7))
    for check in (check_roundings, check_functions, check_sums, check_kernel):
        check(generator)
    print("self check: roundings, exp and log, sums and dots, and a kernel of our own are as they should be")


if __name__ == "__main__":
    main()
