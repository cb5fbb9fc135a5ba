# SPDX-License-Identifier: Apache-2.0
"""Imports vLLM's GDN operators alone, from an installed wheel, without importing vLLM.

The folder of the ops and the convolution are loaded as packages of their own; the few names they ask of the rest
of vLLM are stubbed. Nothing of theirs is copied."""

import importlib.util
import os
import sys
import sysconfig
import types
from pathlib import Path

os.environ.setdefault("TRITON_INTERPRET", "1")  # before the first import of triton

import torch
import triton
import triton.language

import patches

OPS_FOLDERS = ("vllm/third_party/flash_linear_attention/ops", "vllm/model_executor/layers/fla/ops")
CONV_FILE = "vllm/model_executor/layers/mamba/ops/causal_conv1d.py"
MULTIPROCESSORS = 132  # only groups rows of the gated norm


class _Platform:
    """Neither CUDA nor ROCm: the ops then take their plain paths, without tensor descriptors or fast exp."""

    def __getattr__(self, name: str):
        return lambda *args: False


def _stub(name: str, **names) -> None:
    module = types.ModuleType(name)
    module.__path__ = []
    module.__dict__.update(names)
    sys.modules[name] = module
    parent, _, leaf = name.rpartition(".")
    if parent:
        if parent not in sys.modules:
            _stub(parent)
        setattr(sys.modules[parent], leaf, module)


def _stub_vllm() -> None:
    class NullContext:
        __enter__ = __exit__ = lambda self, *args: None

    class JitKernel:
        """Compiles ahead of time in later versions; a call does not go through it."""

        def __class_getitem__(cls, key):
            return cls

    _stub("vllm.triton_utils", tl=triton.language, triton=patches.FixedTriton(), tldevice=None, HAS_TRITON=True)
    _stub("vllm.platforms", current_platform=_Platform())
    _stub("vllm.utils.math_utils", cdiv=triton.cdiv, next_power_of_2=triton.next_power_of_2, RCP_LN2=1.4426950216)
    _stub("vllm.utils.platform_utils", num_compute_units=lambda index: MULTIPROCESSORS)
    _stub("vllm.utils.gpu_sync_debug", gpu_sync_allowed=NullContext)
    _stub("vllm.utils.torch_utils", async_tensor_h2d=lambda data, device, dtype: data.to(device, dtype))
    _stub("vllm.model_executor.custom_op", CustomOp=object)
    _stub("vllm.model_executor.warmup.jit_warmup", VllmJitKernel=JitKernel)
    _stub("vllm.model_executor.warmup.jit_warmup_triton_helper", TritonPointerInputVariant=object,
          TritonWarmupTensor=object, triton_scalar_specialization_rep=lambda value: value)
    _stub("vllm.v1.attention.backends.utils", NULL_BLOCK_ID=0, PAD_SLOT_ID=-1)
    _stub("einops", rearrange=None)  # of a torch function that is not called


def _load(name: str, file: Path, is_package: bool):
    folder = [str(file.parent)] if is_package else None
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=folder)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def load(site_packages: Path, name: str = "gdn_ops", interpreted: bool = True) -> types.SimpleNamespace:
    """The ops package, as `ops`, and the convolution, as `conv`."""
    if interpreted:
        patches.apply()
    _stub_vllm()
    torch.use_deterministic_algorithms(True)  # new tensors are filled with NaN: what a kernel leaves out is seen
    folder = next(site_packages / f for f in OPS_FOLDERS if (site_packages / f / "__init__.py").exists())
    ops = _load(name, folder / "__init__.py", is_package=True)
    conv = _load(name + "_conv", site_packages / CONV_FILE, is_package=False)
    return types.SimpleNamespace(ops=ops, conv=conv, folder=str(folder.relative_to(site_packages)), name=name)


def installed() -> Path:
    """Where the environment keeps its packages."""
    return Path(sysconfig.get_paths()["purelib"])


def module(loaded: types.SimpleNamespace, leaf: str):
    """One file of the ops package."""
    return importlib.import_module(f"{loaded.name}.{leaf}")
