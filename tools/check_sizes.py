#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what every text of the tree must be: short, licensed, and free of one machine's paths.

usage: check_sizes.py [SOURCE_DIR] | --self-test

Prints one line a violation and exits 1 when there is any.
"""

import fnmatch
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MAX_LINES = 800
# Longer files: path and the reason why it may be.
LONG_FILES = {}

# Neither counted nor read: data, however it is spelled, and the licence.
DATA = ["models/*", "tests/data/*", "tests/fuzz/*/*", "*.json", "*.npy", "*.npz", "*.safetensors",
        "*.gguf", "*.bin", "LICENSE"]
SPDX_FILES = ["*.h", "*.cc", "*.c", "*.cu", "*.comp", "*.py", "*.sh", "*.cmake", "*.cc.in",
              "*CMakeLists.txt"]
SPDX = "SPDX-License-Identifier: Apache-2.0"
SKIPPED_FOLDERS = {".git", "__pycache__", ".cache", ".venv", "venv"}

# Spelled so that this file does not match itself.
BANNED = [
    (re.compile(r"(?<![\w$}./*-])/(?:work|home|root|mnt|Users)/\w"), "a path of one machine"),
    (re.compile(r"/tmp/(?:bash)\w*"), "a path of one machine"),
    (re.compile(r"https?://[^\s/]*(?:artifactory|nexus|mirror|registry|\.internal\b)", re.I),
     "the host of a registry"),
    (re.compile(r"\b(?:TO" r"DO|FIX" r"ME)\b"), "unfinished: do it or open an issue"),
]


def matches(path, patterns):
    return any(fnmatch.fnmatch(path, pattern) for pattern in patterns)


def list_files(root):
    """What git would commit; without git, everything but build folders and caches."""
    if (root / ".git").exists():
        try:
            out = subprocess.run(
                ["git", "-C", str(root), "ls-files", "-z", "-c", "-o", "--exclude-standard"],
                capture_output=True, check=True).stdout
            return sorted(p for p in os.fsdecode(out).split("\0") if p and (root / p).is_file())
        except (OSError, subprocess.CalledProcessError):
            pass
    files = []
    for folder, names, leaves in os.walk(root):
        top = pathlib.Path(folder) == root
        names[:] = [n for n in names
                    if n not in SKIPPED_FOLDERS and not (top and n.startswith("build"))]
        files.extend(str((pathlib.Path(folder) / leaf).relative_to(root)) for leaf in leaves)
    return sorted(files)


def is_script(text):
    return text.startswith("#!")


def check_text(path, text):
    lines = text.splitlines()
    errors = []
    if len(lines) > MAX_LINES and path not in LONG_FILES:
        errors.append(f"{path}: {len(lines)} lines, at most {MAX_LINES}")
    if (matches(path, SPDX_FILES) or is_script(text)) and not any(SPDX in l for l in lines[:3]):
        errors.append(f"{path}: no line '{SPDX}' at its head")
    for number, line in enumerate(lines, 1):
        for pattern, what in BANNED:
            if pattern.search(line):
                errors.append(f"{path}:{number}: {what}: {line.strip()[:100]}")
    return errors


def check_tree(root):
    errors = []
    count = 0
    for path in list_files(root):
        if matches(path, DATA):
            continue
        raw = (root / path).read_bytes()
        if b"\0" in raw:
            errors.append(f"{path}: binary, and not among the data that this check knows")
            continue
        count += 1
        errors.extend(check_text(path, raw.decode("utf-8", "replace")))
    for path in LONG_FILES:
        if not (root / path).is_file():
            errors.append(f"{path}: exempt, but not there")
    return errors, count


HEAD = f"// {SPDX}\n"
# path, text, whether it passes
SELF_TEST = [
    ("a.cc", HEAD, True),
    ("a.cc", "int a;\n", False),
    ("script", "#!/bin/sh\n", False),
    ("script", f"#!/bin/sh\n# {SPDX}\n", True),
    ("a.md", "text\n", True),
    ("a.cc", HEAD + "\n" * (MAX_LINES - 1), True),
    ("a.cc", HEAD + "\n" * MAX_LINES, False),
    ("models/a.json", "\n" * 2 * MAX_LINES, True),
    ("a.md", "in /" + "work/main\n", False),
    ("a.md", "at \"/" + "root/x\"\n", False),
    ("a.md", "net/" + "work/x and \"$root/" + "home/x\"\n", True),
    ("a.md", "see /tmp/" + "bash_jobs\n", False),
    ("a.md", "from https://" + "nexus.example.org/simple\n", False),
    ("a.md", "TO" + "DO: more\n", False),
    ("a.bin2", "\0", False),
    ("build-x/a.cc", "\n", True),
]


def self_test():
    failures = 0
    for path, text, passes in SELF_TEST:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
            errors, _ = check_tree(root)
        if (not errors) != passes:
            print(f"self-test: {path}: want {'no error' if passes else 'an error'}: {errors}")
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
