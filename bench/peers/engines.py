# SPDX-License-Identifier: Apache-2.0
"""Everything that is measured, gdn included, behind one method: ask(test) -> {"seconds": ...}.

A test is ppN, tgN (whole models) or gdrHV (the operator); topN gives logits instead, for the check.
"""

import json
import os
import re
import select
import subprocess
from pathlib import Path

import protocol

ANSWER_S = 3600  # for the slowest: a prompt of 2048 tokens on a busy machine


class Failed(Exception):
    """The peer cannot do this; the message is its own last word."""


def last_error(text):
    """The last line that names an error, without the folders in it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"[Ee]rror|Illegal|assert", line)]
    return re.sub(r"\S*/", "", (errors or lines or ["no output"])[-1])[:300]


def split(test):
    kind, size = re.fullmatch(r"([a-z]+)(\d+)", test).groups()
    return kind, int(size)


def call(command, env=None):
    done = subprocess.run([str(x) for x in command], capture_output=True, encoding="utf-8",
                          errors="replace", env=os.environ | (env or {}), check=False)
    if done.returncode != 0:
        raise Failed(f"exit {done.returncode}: {last_error(done.stderr + done.stdout)}")
    return done.stdout


class Worker:
    """A process of protocol.py, with the model in memory from the first question to close()."""

    def __init__(self, command, env, log, warm_up):
        self.log = Path(log)
        with open(log, "w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(
                [str(x) for x in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=errors, encoding="utf-8", env=os.environ | env)
        self.versions = self.read()["versions"]
        for test in warm_up:
            self.ask(test)

    def read(self):
        if select.select([self.process.stdout], [], [], ANSWER_S)[0]:
            line = self.process.stdout.readline()
            if line:
                return json.loads(line)
        self.process.kill()
        self.process.wait()
        raise Failed(last_error(self.log.read_text(encoding="utf-8", errors="replace")))

    def ask(self, test):
        try:
            self.process.stdin.write(test + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # read() says why
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class LlamaBench:
    """llama.cpp's own tool, a process for each repetition: it warms up by itself."""

    def __init__(self, build, gguf, threads, vocab, env):
        self.build, self.gguf, self.threads, self.vocab = build, gguf, threads, vocab
        self.env = env
        self.versions = {"package": os.environ.get("PEERS_LLAMA_CPP", "")}

    def ask(self, test):
        kind, size = split(test)
        if kind == "top":
            ids = protocol.prompt(size, self.vocab)
            return json.loads(call([self.build / "bin/top_llama", self.gguf, self.threads, *ids],
                                   self.env))
        tokens = {"pp": ["-p", size, "-n", 0], "tg": ["-p", 0, "-n", size]}[kind]
        row, = json.loads(call([self.build / "bin/llama-bench", "-m", self.gguf, *tokens, "-r", 1,
                                "-t", self.threads, "-o", "json"], self.env))
        if row["n_threads"] != self.threads or len(row["samples_ns"]) != 1:
            raise Failed("llama-bench ran something else")
        self.versions |= {"backends": row["backends"], "flash_attn": row["flash_attn"],
                          "n_ubatch": row["n_ubatch"], "type_k": row["type_k"]}
        return {"seconds": row["samples_ns"][0] * 1e-9}

    def close(self):
        pass


class Gdn:
    """build/gdn: its own bench commands, a process for each repetition, as llama.cpp has."""

    def __init__(self, program, checkpoint, threads, vocab, op_tokens):
        self.program, self.checkpoint, self.threads = program, checkpoint, threads
        self.vocab, self.op_tokens = vocab, op_tokens
        self.versions = {
            "version": call([program, "--version"]).splitlines()[0].removeprefix("gdn ")}

    def bench(self, command, *args):
        row, = json.loads(call([self.program, command, *args, "-r", 1, "-t", self.threads,
                                "-o", "json"]))
        return row

    def ask(self, test):
        """Seconds of each form there is, with the machine's speed and the share of it."""
        kind, size = split(test)
        if kind == "top":
            return self.top(size)
        if kind == "gdr":
            rows = {form: self.bench(
                "bench-op", "gated_delta_rule", "--form", form, "--tokens", self.op_tokens,
                "--value-heads", size, "--key-heads", 16, "--head-dim", 128)
                for form in ("chunk", "recurrent")}
            seconds = {form: row["ms"] * 1e-3 for form, row in rows.items()}
        else:
            tokens = {"pp": ["-p", size, "-n", 0], "tg": ["-p", 0, "-n", size]}[kind]
            rows = {"model": self.bench("bench", "-m", self.checkpoint, *tokens)}
            seconds = {"model": size / rows["model"]["median"]}
        keys = ("pct_peak", "pct_bw", "peak_gflops", "read_gbytes")
        speeds = {form: {key: row.get(key) for key in keys} for form, row in rows.items()}
        return {"seconds": seconds, "machine": speeds}

    def top(self, size):
        ids = self.checkpoint / "prompt.ids"
        ids.write_text(" ".join(map(str, protocol.prompt(size, self.vocab))), encoding="utf-8")
        answer = json.loads(call([self.program, "run", "-m", self.checkpoint, "--ids", ids, "-n", 1,
                                  "--temp", 0, "--json", "--top-logits", 5, "-t", self.threads]))
        return {"top": answer["top_logits"][0]}

    def close(self):
        pass
