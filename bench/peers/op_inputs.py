# SPDX-License-Identifier: Apache-2.0
"""One layer's inputs of the gated delta rule, the same for every peer, and the check of the output.

A file holds f32, in this order: q, k [T, KEY_HEADS, DIM] (of length 1 each head), v [T, HV, DIM],
log_decay and beta [T, HV]; all but log_decay rounded to bf16, so that f32 and bf16 peers read the
same values. Value head h reads key head h / (HV / KEY_HEADS).
"""

import sys

import numpy as np

DIM = 128
KEY_HEADS = 16


def to_bf16(x):
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).view(np.float32)


def make(tokens, value_heads, seed=1):
    rng = np.random.default_rng(seed)
    q, k = rng.standard_normal((2, tokens, KEY_HEADS, DIM))
    v = rng.standard_normal((tokens, value_heads, DIM))
    gate, beta = rng.standard_normal((2, tokens, value_heads))
    unit = [x / np.sqrt((x * x).sum(-1, keepdims=True)) for x in (q, k)]
    return [*map(to_bf16, unit), to_bf16(v), -np.log1p(np.exp(gate)).astype(np.float32) * 0.1,
            to_bf16(1 / (1 + np.exp(-beta)))]


def write(path, tokens, value_heads):
    with open(path, "wb") as file:
        for array in make(tokens, value_heads):
            array.tofile(file)


def read(path, tokens, value_heads):
    data = np.fromfile(path, dtype=np.float32)
    shapes = [(tokens, KEY_HEADS, DIM)] * 2 + [(tokens, value_heads, DIM)] + [
        (tokens, value_heads)] * 2
    ends = np.cumsum([np.prod(s) for s in shapes])
    return [part.reshape(s) for part, s in zip(np.split(data, ends[:-1]), shapes)]


def rule(q, k, v, log_decay, beta):
    """[T, HV, DIM]: the recurrence in f64, for the check."""
    heads = v.shape[1]
    key_head = np.arange(heads) // (heads // KEY_HEADS)
    q, k, v, decay, beta = (x.astype(np.float64) for x in (q, k, v, np.exp(log_decay), beta))
    state, out = np.zeros((heads, DIM, DIM)), np.empty(v.shape)
    for t in range(v.shape[0]):
        kt, qt = k[t, key_head], q[t, key_head]
        state *= decay[t][:, None, None]
        read_back = np.einsum("hvk,hk->hv", state, kt)
        state += ((v[t] - read_back) * beta[t][:, None])[:, :, None] * kt[:, None, :]
        out[t] = np.einsum("hvk,hk->hv", state, qt) / np.sqrt(DIM)
    return out


def error(inputs, out_path, tokens, value_heads, checked):
    """RMS of the difference over RMS of the answer, in the first `checked` tokens."""
    out = np.fromfile(out_path, dtype=np.float32).reshape(tokens, value_heads, DIM)[:checked]
    answer = rule(*(x[:checked] for x in read(inputs, tokens, value_heads)))
    return float(np.sqrt(((out - answer) ** 2).sum() / (answer ** 2).sum()))


def main():
    """op_inputs.py write PATH TOKENS HV | op_inputs.py error PATH OUT TOKENS HV CHECKED"""
    command, path, *rest = sys.argv[1:]
    if command == "write":
        write(path, *map(int, rest))
    else:
        print(error(path, rest[0], *map(int, rest[1:])))


if __name__ == "__main__":
    main()
