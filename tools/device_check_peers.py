# SPDX-License-Identifier: Apache-2.0
"""usage: device_check_peers.py HK,HV,D,T,N...: times of fla's and vLLM's chunked gated delta rule.

A line of JSON a shape and peer: the median of a call by the device's own clock, after warm-up. bf16,
T tokens in N sequences of one length, q and k normalised beforehand. For tools/device-check.
"""

import importlib
import json
import sys

PEERS = {"fla": ("fla.ops.gated_delta_rule", "fla"),
         "vllm": ("vllm.model_executor.layers.fla.ops", "vllm")}
WARM_UPS = 3
REPETITIONS = 15


def say(**line):
    print(json.dumps(line), flush=True)


def inputs(torch, shape):
    key_heads, value_heads, dim, tokens, sequences = shape
    torch.manual_seed(0)

    def random(*size):
        return torch.randn(*size, device="cuda", dtype=torch.float32)

    def unit(heads):
        return torch.nn.functional.normalize(random(1, tokens, heads, dim), dim=-1).bfloat16()

    return {"q": unit(key_heads), "k": unit(key_heads),
            "v": random(1, tokens, value_heads, dim).bfloat16(),
            "g": -0.12 + 0.03 * random(1, tokens, value_heads),
            "beta": torch.sigmoid(random(1, tokens, value_heads)),
            "initial_state": 0.1 * random(sequences, value_heads, dim, dim),
            "output_final_state": True,
            "cu_seqlens": torch.arange(0, tokens + 1, tokens // sequences, device="cuda",
                                       dtype=torch.long)}


def median_ms(torch, call):
    for _ in range(WARM_UPS):
        call()
    times = []
    for _ in range(REPETITIONS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return sorted(times)[REPETITIONS // 2]


def measure(torch, function, shape):
    """Milliseconds, and a note where the kernel wants as many key heads as value heads."""
    arguments = inputs(torch, shape)
    try:
        return median_ms(torch, lambda: function(**arguments)), ""
    except (AssertionError, ValueError, RuntimeError):
        if shape[0] == shape[1]:
            raise
    for name in ("q", "k"):
        arguments[name] = arguments[name].repeat_interleave(shape[1] // shape[0], dim=2)
    return median_ms(torch, lambda: function(**arguments)), ", q and k repeated"


def main():
    shapes = [tuple(map(int, word.split(","))) for word in sys.argv[1:]]
    try:
        import torch
        if not torch.cuda.is_available():
            raise ImportError("torch sees no GPU")
    except ImportError as error:
        for peer in PEERS:
            say(peer=peer, why=str(error))
        return
    for peer, (module, package) in PEERS.items():
        try:
            function = importlib.import_module(module).chunk_gated_delta_rule
            version = getattr(importlib.import_module(package), "__version__", "?")
        except (ImportError, AttributeError) as error:
            say(peer=peer, why=str(error))
            continue
        for shape in shapes:
            try:
                with torch.inference_mode():
                    ms, note = measure(torch, function, shape)
                say(peer=peer, version=version, shape=shape, ms=ms, note=note)
            except Exception as error:  # of any of their libraries: the other shapes go on
                say(peer=f"{peer}, {shape}", why=f"{type(error).__name__}: {error}"[:200])
                torch.cuda.empty_cache()


main()
