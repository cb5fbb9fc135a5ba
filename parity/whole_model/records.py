# SPDX-License-Identifier: Apache-2.0
"""The files that the engines' scripts read and write.

A task is {"checkpoint", "new_tokens", "eos", "prompts": [[id]]}. A record is
what one engine made of it: {"engine", "versions", "outputs": [{"ids", "top":
[[[id, logit] x TOP] per id]}]}, or {"engine", "cannot_run": reason}.
"""

import json
import re
import sys
from pathlib import Path

TOP = 5  # largest logits kept of each token


def read(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))


def write(path, value):
    Path(path).write_text(json.dumps(value, separators=(",", ":")) + "\n", encoding="utf-8")


def reason(log, status):
    """The last line of a log that names an error, without the folders in it."""
    lines = Path(log).read_text(encoding="utf-8", errors="replace").splitlines()
    errors = [line for line in lines if re.search(r"[Ee]rror|SIGILL|Illegal", line)]
    last = (errors or lines or [""])[-1].strip()
    signal = f"ended by signal {status - 128}: " if status > 128 else ""
    return signal + re.sub(r"\S*/", "", last)[:300]


def main():
    """records.py OUT ENGINE STATUS LOG: the record of an engine that failed."""
    out, engine, status, log = sys.argv[1:]
    write(out, {"engine": engine, "cannot_run": reason(log, int(status))})


if __name__ == "__main__":
    main()
