# SPDX-License-Identifier: Apache-2.0
"""What the processes that hold a model or an operator have in common.

Each prints {"versions": {...}} when it is ready, then answers every line of its standard input, the
name of a test, with one line of JSON. Whatever else its libraries print goes to standard error.
"""

import json
import os
import re
import sys
import time


def take_stdout():
    """The stream of the answers; from here on everybody else's print lands on standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def serve(answers, versions, answer):
    """answer(kind, size) -> dict, for names such as pp512: kind pp, size 512."""
    def say(value):
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    say({"versions": versions})
    for line in sys.stdin:
        kind, size = re.fullmatch(r"([a-z]+)(\d+)", line.strip()).groups()
        say(answer(kind, int(size)))


def seconds(work):
    start = time.perf_counter()
    work()
    return {"seconds": time.perf_counter() - start}


def prompt(tokens, vocab):
    """The same ids for every engine: their values matter to none, but to the check."""
    state, ids = 1, []
    for _ in range(tokens):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        ids.append((state >> 33) % vocab)
    return ids
