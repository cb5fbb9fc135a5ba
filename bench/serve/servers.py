# SPDX-License-Identifier: Apache-2.0
"""The servers that are measured: each a process, started, waited for and stopped in one way."""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
START_S = 900  # vLLM imports torch and sizes its memory first
STOP_S = 60


class Failed(Exception):
    """The server does not run; the message is its own last words."""


def free_port():
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


def command_of(name, port, args):
    """(command, environment)"""
    if name == "gdn":
        return [args.gdn, "serve", "-m", args.checkpoint, "--host", "127.0.0.1", "--port", port,
                "-t", args.threads], {}
    if name == "llama.cpp":
        # A slot of the context each, as long as a request is; without its page.
        return [args.peers_folder / "llama.cpp-server/bin/llama-server",
                "-m", args.peers_folder / "bf16.gguf", "--host", "127.0.0.1", "--port", port,
                "-t", args.threads, "-np", args.concurrency, "-c", args.concurrency * args.longest,
                "--no-webui"], {}
    return [os.environ.get("PEERS_PYTHON_VLLM", "python3"), HERE / "vllm_server.py",
            args.checkpoint, port, args.longest, args.concurrency], {
                "HF_HUB_OFFLINE": "1", "LD_PRELOAD": os.environ.get("PEERS_PRELOAD", ""),
                "OMP_NUM_THREADS": str(args.threads),
                # Waiting threads that spin take the core from the server beside them.
                "OMP_WAIT_POLICY": os.environ.get("OMP_WAIT_POLICY", "PASSIVE")}


class Server:
    def __init__(self, name, args):
        self.name, port = name, free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.log = args.folder / f"{name}.log"
        command, environment = command_of(name, port, args)
        with open(self.log, "w", encoding="utf-8") as log:
            try:
                self.process = subprocess.Popen([str(x) for x in command], stdout=log, stderr=log,
                                                env=os.environ | environment)
            except OSError as error:
                raise Failed(str(error)) from None
        self.wait()

    def wait(self):
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
                raise Failed((lines or ["it ended without a word"])[-1][:300])
            try:
                with urllib.request.urlopen(self.url + "/health", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        self.stop()
        raise Failed(f"it was not ready after {START_S} s")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def bench_serve(args, url, *options):
    """The report of `gdn bench-serve`."""
    done = subprocess.run(
        [str(x) for x in (args.gdn, "bench-serve", "--url", url, "--concurrency", args.concurrency,
                          "--json", *options)],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(done.stderr.strip()[:300] or f"bench-serve ended with {done.returncode}")
    return json.loads(done.stdout)
