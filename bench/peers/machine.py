# SPDX-License-Identifier: Apache-2.0
"""What the report says of the machine."""

import os
import platform
from pathlib import Path

ISA = ("avx2", "fma", "f16c", "avx512f", "avx512_bf16", "avx512_fp16", "amx_bf16", "asimd", "sve")


def field(path, name):
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""


def describe():
    flags = (field("/proc/cpuinfo", "flags") or field("/proc/cpuinfo", "Features")).split()
    return {"cpu": field("/proc/cpuinfo", "model name") or platform.machine(),
            "cores": os.cpu_count(),
            "isa": [name for name in ISA if name in flags],
            "memory_gib": round(int(field("/proc/meminfo", "MemTotal").split()[0]) / 2**20, 1),
            "system": f"{platform.system()} {platform.machine()}"}
