# SPDX-License-Identifier: Apache-2.0
"""A golden on disk: a folder with manifest.json and one .npy per tensor. bf16 is stored as its bits, uint16."""

import hashlib
import io
import json
from pathlib import Path

import numpy as np
import torch

NAMES = {torch.bfloat16: "bf16", torch.float16: "f16", torch.float32: "f32", torch.int32: "i32"}
TORCH = {name: dtype for dtype, name in NAMES.items()}
STORED = {"bf16": "<u2", "f16": "<f2", "f32": "<f4", "i32": "<i4"}


def to_torch(array: np.ndarray, dtype: str) -> torch.Tensor:
    """From the stored form."""
    array = np.ascontiguousarray(array)
    if dtype == "bf16":
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(array.copy())


def to_stored(tensor: torch.Tensor) -> np.ndarray:
    tensor = tensor.detach().contiguous()
    name = NAMES[tensor.dtype]
    array = tensor.view(torch.int16).numpy().view(np.uint16) if name == "bf16" else tensor.numpy()
    return array.astype(STORED[name], copy=False)


def widen(tensor: torch.Tensor) -> np.ndarray:
    """For computing: 16-bit floats as float32."""
    return tensor.float().numpy() if tensor.dtype in (torch.bfloat16, torch.float16) else tensor.numpy()


def read(folder: Path) -> tuple[dict, dict[str, torch.Tensor]]:
    manifest = json.loads((folder / "manifest.json").read_text())
    tensors = {}
    for name, entry in manifest["tensors"].items():
        tensors[name] = to_torch(np.load(folder / entry["file"]), entry["dtype"])
    return manifest, tensors


def contents(manifest: dict, inputs: dict[str, torch.Tensor], outputs: dict[str, torch.Tensor]) -> dict[str, bytes]:
    """Every file of the golden, by name. `manifest` has op, args, oracle and noise."""
    files, entries = {}, {}
    for name, tensor in (inputs | outputs).items():
        assert not torch.is_floating_point(tensor) or not torch.isnan(tensor).any(), f"{name} has a NaN"
        buffer = io.BytesIO()
        np.save(buffer, to_stored(tensor), allow_pickle=False)
        files[f"{name}.npy"] = buffer.getvalue()
        entries[name] = {"file": f"{name}.npy", "dtype": NAMES[tensor.dtype], "shape": list(tensor.shape),
                         "sha256": hashlib.sha256(buffer.getvalue()).hexdigest()}
    whole = {"op": manifest["op"], "args": manifest["args"], "tensors": entries,
             "inputs": list(inputs), "outputs": list(outputs), "oracle": manifest["oracle"]}
    if "noise" in manifest:
        whole["noise"] = manifest["noise"]
    files["manifest.json"] = (json.dumps(whole, indent=1) + "\n").encode()
    return files
