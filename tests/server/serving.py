# SPDX-License-Identifier: Apache-2.0
"""A `gdn serve` of a test: started, asked by plain HTTP, stopped; and the count of its checks.

Only the standard library: each test adds the client that it is about.
"""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
TINY = ROOT / "models/tiny"
START_S = 60
STOP_S = 45  # more than the server gives its requests to end


class Server:
    """with Server("--slots", "16") as server: server.url"""

    def __init__(self, *options, model=TINY, binary=None, host="127.0.0.1"):
        binary = binary or ROOT / "build/gdn"
        self.lines, self.url, self.listening = [], None, threading.Event()
        self.key = options[options.index("--api-key") + 1] if "--api-key" in options else None
        self.process = subprocess.Popen(
            [str(x) for x in (binary, "serve", "-m", model, "--host", host, "--port", 0, *options)],
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, errors="replace")
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))
            found = re.search(r"listening on (http://\S+)", line)
            if found:
                self.url = found.group(1)
                self.listening.set()
        self.listening.set()

    def __enter__(self):
        if not self.listening.wait(START_S) or self.url is None:
            self.process.kill()
            raise RuntimeError("the server did not start:\n" + "\n".join(self.lines[-20:]))
        deadline = time.monotonic() + START_S
        while self.status("/health") != 200:
            if time.monotonic() > deadline:
                self.process.kill()
                raise RuntimeError("the server did not become ready")
            time.sleep(0.05)
        return self

    def __exit__(self, kind, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise RuntimeError("the server did not stop after SIGTERM") from None
        self.reader.join(STOP_S)
        if kind is None and code != 0:
            raise RuntimeError(f"the server ended with {code}:\n" + "\n".join(self.lines[-20:]))

    def open(self, path, body=None, timeout=60):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        return urllib.request.urlopen(
            urllib.request.Request(self.url + path, data, headers), timeout=timeout)

    def status(self, path):
        try:
            with self.open(path) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def json(self, path, body=None, timeout=60):
        with self.open(path, body, timeout) as answer:
            return json.load(answer)

    def metrics(self):
        """name -> the sum over its labels; buckets of histograms are left out."""
        found = {}
        with self.open("/metrics") as answer:
            for line in answer.read().decode().splitlines():
                match = re.fullmatch(r"([\w:]+)(?:\{.*\})? (\S+)", line)
                if match and not match[1].endswith("_bucket"):
                    found[match[1]] = found.get(match[1], 0) + float(match[2])
        return found

    def wait_idle(self, seconds=30):
        """Until nothing runs or waits; the metrics of that moment, or of the last one."""
        deadline = time.monotonic() + seconds
        while True:
            now = self.metrics()
            if now["gdn:num_requests_running"] == now["gdn:num_requests_waiting"] == 0:
                return now
            if time.monotonic() > deadline:
                raise AssertionError(f"still {now['gdn:num_requests_running']:g} running and "
                                     f"{now['gdn:num_requests_waiting']:g} waiting")
            time.sleep(0.05)


def model_with_template(folder, template="Qwen3.5"):
    """models/tiny in folder, with the chat template of a larger model: tools, thinking."""
    folder = pathlib.Path(folder)
    for path in TINY.iterdir():
        if path.name != "tokenizer_config.json":
            os.symlink(path, folder / path.name)
    config = json.loads((TINY / "tokenizer_config.json").read_text(encoding="utf-8"))
    source = ROOT / f"tests/data/chat_templates/templates/{template}.jinja"
    config["chat_template"] = source.read_text(encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def rename_token(folder, token, text):
    """In a model_with_template: an added token becomes text that is not special."""
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text(encoding="utf-8"))
    for entry in tokenizer["added_tokens"]:
        if entry["id"] == token:
            entry |= {"content": text, "special": False}
    path.unlink()  # a link
    path.write_text(json.dumps(tokenizer), encoding="utf-8")
    path = folder / "tokenizer_config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    config["added_tokens_decoder"][str(token)] |= {"content": text, "special": False}
    path.write_text(json.dumps(config), encoding="utf-8")


@contextlib.contextmanager
def thinking_model(token=None, text=None):
    """A temporary model_with_template, with a token renamed."""
    with tempfile.TemporaryDirectory() as folder:
        model = model_with_template(folder)
        if token is not None:
            rename_token(model, token, text)
        yield model


class Checks:
    """Functions that are run and counted: check(name)(function) runs it at once."""

    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, name):
        def run(function):
            try:
                function()
            except Exception as error:  # whatever it is, the check has failed
                self.failed += 1
                print(f"FAILED {name}: {type(error).__name__}: {error}", flush=True)
                traceback.print_exc()
            else:
                self.passed += 1
                print(f"passed {name}", flush=True)
            return function
        return run

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed or not self.passed else 0)


def want(condition, message):
    """An assertion that -O does not remove."""
    if not condition:
        raise AssertionError(message)


def want_equal(found, expected, what):
    want(found == expected, f"{what} is {found!r}, want {expected!r}")
