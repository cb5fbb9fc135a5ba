# SPDX-License-Identifier: Apache-2.0
"""Clients that keep their connections: each answer must be the one to its request."""

import http.client
import random
import threading
import time
import urllib.parse

JSON = {"Content-Type": "application/json"}
# method, path, body, headers, how the answer begins
CALLS = (
    ("GET", "/v1/models", None, {}, b'{"object":"list"'),
    ("HEAD", "/v1/models", None, {}, b""),
    ("DELETE", "/v1/models", None, {}, b'{"error":{"message":"method is'),
    ("GET", "/health", None, {}, b'{"status"'),
    ("GET", "/health", "a body", {}, b'{"error":{"message":"GET /health comes with a body'),
    ("GET", "/version", None, {}, b'{"version"'),
    ("POST", "/tokenize", '{"prompt":"a"}', JSON, b'{"count"'),
    ("POST", "/v1/completions", '{"prompt":"a","max_tokens":2}', JSON, b'{"id"'),
)


def client(place, rng, deadline, counts, wrong):
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
    while time.monotonic() < deadline:
        method, path, body, headers, start = rng.choice(CALLS)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse().read()
        except (OSError, http.client.HTTPException) as error:
            answer = f"{type(error).__name__}: {error}".encode()
        counts.append(1)
        if not answer.startswith(start):
            wrong.append(f"{method} {path}: {answer[:200]!r}")
            connection.close()
    connection.close()


def run(url, clients, seconds, seed):
    """(number of requests, what is wrong with the answers)"""
    counts, wrong = [], []
    threads = [threading.Thread(target=client, args=(
        urllib.parse.urlsplit(url), random.Random(f"{seed} {i}"), time.monotonic() + seconds,
        counts, wrong)) for i in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(counts), wrong
