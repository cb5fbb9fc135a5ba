#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes follow the layers, and that headers depend on no build flag.

usage: check_layers.py [SOURCE_DIR] | --self-test

Prints one line a violation and exits 1 when there is any. Only text is read: nothing is compiled.
"""

import pathlib
import re
import sys
import tempfile

# What each folder of src/ may include from src/, itself apart.
LAYERS = {
    "base": set(),
    "tensor": {"base"},
    "backend": {"base", "tensor"},
    "ops": {"base", "tensor"},  # and what OpMayInclude says
    "io": {"base", "tensor"},
    "tokenizer": {"base"},
    "chat_template": {"base", "io"},
    "parity": {"base", "tensor", "backend", "ops", "io"},
    "model": {"base", "tensor", "backend", "ops", "io"},
    "engine": {"base", "tensor", "backend", "ops", "model"},
    "session": {"base", "tensor", "backend", "io", "ops", "model", "engine", "tokenizer",
                "chat_template"},
    "capi": {"base", "backend", "engine", "session"},
    "bench": {"base", "tensor", "backend", "ops", "io", "model", "engine", "parity"},
    "bench_serve": {"base", "io"},
    "server": {"base", "tensor", "backend", "ops", "io", "tokenizer", "model", "engine", "session"},
    "cli": {"base", "tensor", "backend", "ops", "io", "tokenizer", "parity", "model", "engine",
            "session", "bench", "bench_serve", "server"},
}

# Headers of an op that another op may include: an embedding reads the weight of the output layer.
OP_EXCEPTIONS = {"embedding": {"ops/linear/weight.h", "ops/linear/weight_layout.h"}}

# Libraries and the layers that may see them.
LIBRARIES = {
    "hwy/": {"backend", "ops", "bench"},
    "nlohmann/": {"io", "tokenizer", "chat_template", "parity", "model", "session", "bench_serve",
                  "server", "cli"},
    "pcre2": {"tokenizer"},
    "utf8proc": {"tokenizer"},
    "CLI/": {"cli"},
    "boost/": {"bench_serve", "server"},
    "prometheus/": {"server"},
    "cuda": {"backend", "ops"},
    "hip/": {"backend", "ops"},
    "vulkan/": {"backend", "ops"},
    "gtest/": set(),  # tests alone
    "gmock/": set(),
}

# Conditions that headers may have: the compiler's own, and Highway's in *-inl.h.
HEADER_CONDITIONS = re.compile(r"#\s*(ifdef|ifndef|if defined\()\s*(NDEBUG|__cplusplus)\b|#\s*if HWY_|"
                               # Kernels: who compiles them, and for which device.
                               r"#\s*(el)?if defined\(__(CUDACC|HIPCC|CUDA_ARCH|GFX9|gfx\w+)__\)|#\s*(if|ifdef|elif) .*\b(GDN_GPU_(MMA_SYNC|TF32|MFMA|WMMA|WARP)|__clang_major__)\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
CONDITION = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif)\b")
SOURCES = {".h", ".cc", ".cpp", ".c", ".cu", ".cuh", ".comp", ".glsl"}
TEST_FILE = re.compile(r"_(test|testing|fuzz)$")


def is_for_tests(path):
    """Tests, and their helpers: x_testing.h, and folders named testing."""
    return TEST_FILE.search(path.stem) is not None or "testing" in path.parts


def op_may_include(source, target):
    """source and target are paths below src/ of which source lies in ops/."""
    if target.parts[:2] == ("ops", "common"):
        return True
    if target == pathlib.PurePath("backend/exec_context.h"):
        return True
    if target.parts[0] == "backend" and len(target.parts) >= 3:
        return re.search(rf"(^|_){re.escape(target.parts[1])}(_|$)", source.stem) is not None
    if len(source.parts) < 3 or source.parts[1] == "common":
        return False
    op = source.parts[1]
    if target.parts[:2] == ("ops", op) or target.as_posix() in OP_EXCEPTIONS.get(op, ()):
        return True
    return False


def why_not(source, target):
    """Why the file src/<source> may not include "<target>", or None where it may."""
    layer = source.parts[0]
    if target.parts[0] == "gdn":  # include/gdn/gdn.h, which sees nothing
        return None if layer == "capi" else "the C interface is above it"
    if target.parts[0] not in LAYERS:
        return "includes are written from src/ and name a layer"
    is_test = is_for_tests(source)
    if is_for_tests(target) and not is_test:
        return "only tests may include the helpers of tests"
    if layer == "ops" and target.parts[0] in ("ops", "backend"):
        if is_test or op_may_include(source, target):
            return None
        return ("an op sees its own folder, ops/common and backend/exec_context.h;"
                " backend/<x>/ is for <op>_<x>* alone")
    if target.parts[0] == layer or target.parts[0] in LAYERS[layer]:
        return None
    return f"{layer} sees only {', '.join(sorted(LAYERS[layer])) or 'itself'}"


def library_error(source, header):
    layer = source.parts[0]
    for prefix, layers in LIBRARIES.items():
        if header.startswith(prefix) and layer not in layers and not is_for_tests(source):
            return f"only {', '.join(sorted(layers)) or 'tests'} may see this library"
    return None


def header_condition_error(source, line):
    if source.suffix != ".h" or not CONDITION.match(line):
        return None
    if HEADER_CONDITIONS.match(line.strip()):
        return None
    if source.stem.endswith("-inl") and ("HWY_" in line or "_INL_H_" in line):
        return None
    return "headers have no build flags: the same text in every build"


def check_file(root, path):
    errors = []
    source = path.relative_to(root / "src")
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        error = header_condition_error(source, line)
        match = INCLUDE.match(line)
        if match and match[1] == '"':
            error = why_not(source, pathlib.PurePath(match[2]))
        elif match:
            error = library_error(source, match[2])
        if error:
            errors.append(f"{path.relative_to(root)}:{number}: {line.strip()}: {error}")
    return errors


def check_tree(root):
    errors = []
    files = [p for p in sorted((root / "src").rglob("*")) if p.suffix in SOURCES]
    for path in files:
        if path.relative_to(root / "src").parts[0] not in LAYERS:
            errors.append(f"{path.relative_to(root)}: lies in no layer")
        else:
            errors.extend(check_file(root, path))
    for path in sorted((root / "include").rglob("*.h")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match and match[1] == '"':
                errors.append(f"{path.relative_to(root)}:{number}: {line.strip()}:"
                              " the public header includes the C library alone")
    return errors, len(files)


# path, line, whether it is legal
SELF_TEST = [
    ("src/base/a.h", "#include <string>", True),
    ("src/base/a.h", '#include "tensor/tensor.h"', False),
    ("src/base/a.cc", "#include <hwy/highway.h>", False),
    ("src/base/check.h", "#ifdef NDEBUG", True),
    ("src/base/a.h", "#if GDN_WITH_CUDA", False),
    ("src/base/a.cc", "#if defined(__x86_64__)", True),
    ("src/tensor/a.h", '#include "base/status.h"', True),
    ("src/tensor/a.h", '#include "a.h"', False),
    ("src/tensor/a.h", '#include "../base/status.h"', False),
    ("src/ops/rope/rope.h", '#include "backend/exec_context.h"', True),
    ("src/ops/rope/rope.h", '#include "backend/cpu/x.h"', False),
    ("src/ops/rope/rope_cpu.cc", '#include "backend/cpu/x.h"', True),
    ("src/ops/rope/rope_cpu_avx512.cc", '#include "backend/cpu/x.h"', True),
    ("src/ops/rope/rope_gpu.cu", '#include "backend/cpu/x.h"', False),
    ("src/ops/rope/rope.cc", '#include "ops/common/validate.h"', True),
    ("src/ops/rope/rope.cc", '#include "ops/linear/linear.h"', False),
    ("src/ops/embedding/embedding.h", '#include "ops/linear/weight.h"', True),
    ("src/ops/embedding/embedding.h", '#include "ops/linear/linear.h"', False),
    ("src/ops/common/x.h", '#include "ops/rope/rope.h"', False),
    ("src/ops/common/x-inl.h", "#ifdef HWY_TARGET_TOGGLE", True),
    ("src/ops/rope/rope.cc", '#include "io/npy.h"', False),
    ("src/ops/rope/rope_test.cc", '#include "ops/linear/linear.h"', True),
    ("src/ops/rope/rope_test.cc", "#include <gtest/gtest.h>", True),
    ("src/ops/rope/rope.cc", "#include <gtest/gtest.h>", False),
    ("src/ops/rope/rope.cc", '#include "ops/common/testing/test_rows.h"', False),
    ("src/ops/rope/rope_test.cc", '#include "ops/common/testing/test_rows.h"', True),
    ("src/io/a.cc", '#include "model/config.h"', False),
    ("src/model/a.cc", '#include "io/safetensors.h"', True),
    ("src/model/a.cc", '#include "tokenizer/tokenizer.h"', False),
    ("src/model/a.cc", '#include "engine/engine.h"', False),
    ("src/engine/a.cc", '#include "tokenizer/tokenizer.h"', False),
    ("src/session/a.cc", '#include "tokenizer/tokenizer.h"', True),
    ("src/session/a.cc", '#include "chat_template/prompt.h"', True),
    ("src/chat_template/a.cc", '#include "io/json_file.h"', True),
    ("src/chat_template/a.cc", '#include "tokenizer/tokenizer.h"', False),
    ("src/tokenizer/a.cc", '#include "chat_template/prompt.h"', False),
    ("src/cli/a.cc", '#include "session/session.h"', True),
    ("src/cli/a.cc", '#include "tests/util.h"', False),
    ("src/engine/a.cc", '#include "parity/x.h"', False),
    ("src/engine/a.cc", '#include "bench/x.h"', False),
    ("src/bench/a.cc", '#include "parity/x.h"', True),
    ("src/bench/a.cc", '#include "session/session.h"', False),
    ("src/bench/a.cc", "#include <hwy/highway.h>", True),
    ("src/bench/a.cc", "#include <CLI/CLI.hpp>", False),
    ("src/cli/a.cc", '#include "bench/x.h"', True),
    ("src/cli/a.cc", '#include "bench_serve/x.h"', True),
    ("src/bench_serve/a.cc", "#include <boost/beast/core.hpp>", True),
    ("src/bench_serve/a.cc", '#include "server/x.h"', False),
    ("src/cli/a.cc", "#include <boost/beast/core.hpp>", False),
    ("src/capi/a.cc", '#include "session/session.h"', True),
    ("src/capi/a.cc", '#include "gdn/gdn.h"', True),
    ("src/capi/a.cc", '#include "model/model.h"', False),
    ("src/capi/a.cc", "#include <nlohmann/json.hpp>", False),
    ("src/session/a.cc", '#include "gdn/gdn.h"', False),
    ("src/helpers/a.cc", "#include <string>", False),
    ("include/gdn/gdn.h", '#include "base/status.h"', False),
]


def self_test():
    failures = 0
    for path, line, legal in SELF_TEST:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / path).parent.mkdir(parents=True)
            (root / path).write_text(line + "\n")
            errors, _ = check_tree(root)
        if (not errors) != legal:
            print(f"self-test: {path}: {line}: want {'legal' if legal else 'an error'}: {errors}")
            failures += 1
    print(f"{len(SELF_TEST)} cases, {failures} wrong")
    return 1 if failures else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    errors, count = check_tree(root)
    for error in errors:
        print(error)
    print(f"{count} files, {len(errors)} errors")
    return 1 if errors or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
