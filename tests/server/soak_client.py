# SPDX-License-Identifier: Apache-2.0
"""Clients of the soak test: requests of many kinds, and users who wait, dawdle or hang up."""

import http.client
import json
import random
import socket
import struct
import time
import urllib.parse

TIMEOUT_S = 120
WORDS = ("and the of that he shall in unto for lord they be is his with a not which them it "
         "people was upon house day king son land men came").split()


class HungUp(Exception):
    """The client went away, as it was told to."""


class Overloaded(Exception):
    """429: to be asked again."""


def make_requests(count, seed, longest_prompt, longest_answer):
    """Paths and bodies, of all lengths between: chats and completions, greedy and seeded."""
    rng, made = random.Random(seed), []
    for i in range(count):
        words = " ".join(rng.choices(WORDS, k=int(longest_prompt ** rng.random())))
        body = {"max_tokens": int(longest_answer ** rng.random()), "ignore_eos": rng.random() < 0.5}
        if i % 3 == 0:
            body |= {"temperature": 0}
        else:
            body |= {"temperature": 0.9, "top_p": 0.95, "top_k": 50, "seed": rng.randrange(1000)}
        if i % 2 == 0:
            made.append(("/v1/chat/completions", body | {
                "messages": [{"role": "user", "content": words}],
                "logprobs": True, "top_logprobs": 2}))
        else:
            ids = [rng.randrange(2000) for _ in words.split()]
            made.append(("/v1/completions", body | {
                "prompt": ids if i % 4 == 1 else words, "logprobs": 2,
                "n": 2 if i % 5 == 0 else 1}))
    return made


class Answer:
    """What of an answer must not depend on circumstances, whole or out of a stream."""

    def __init__(self):
        self.choices, self.tokens = {}, None

    def add(self, value):
        if "error" in value:
            raise AssertionError(f"an error in the answer: {value['error']}")
        for part in value["choices"]:
            said = part.get("message") or part.get("delta") or {"content": part.get("text")}
            choice = self.choices.setdefault(
                part["index"], {"text": "", "reasoning": "", "logprobs": [], "finish": None})
            choice["text"] += said.get("content") or ""
            choice["reasoning"] += said.get("reasoning_content") or ""
            log_probs = part.get("logprobs") or {}
            # Chats have an entry a token, completions a list of each kind.
            choice["logprobs"] += [json.dumps(entry, sort_keys=True)
                                   for entry in log_probs.get("content") or []]
            choice["logprobs"] += list(zip(log_probs.get("tokens") or [],
                                           log_probs.get("token_logprobs") or []))
            choice["finish"] = part.get("finish_reason") or choice["finish"]
        usage = value.get("usage")
        if usage:
            self.tokens = (usage["prompt_tokens"], usage["completion_tokens"])

    def key(self):
        return json.dumps([self.choices, self.tokens], sort_keys=True)


def pieces(response, user):
    """The bytes of an answer as this user reads them."""
    read = 0
    while True:
        piece = response.read1(64 if user.slow else 65536)
        if not piece:
            return
        read += len(piece)
        if user.hangs_up_after is not None and read > user.hangs_up_after:
            raise HungUp
        if user.slow and user.patience > 0:
            time.sleep(user.patience / 20)
            user.patience -= user.patience / 20
            user.slow = user.patience > 0.1
        yield piece


class User:
    """How one request is treated. hang_up: the share of users who want to go before the end; some
    have had all of their answer by then, and a third really goes."""

    def __init__(self, rng, hang_up=0.45, slow=1 / 8):
        self.stream = rng.random() < 0.6
        self.hangs_up_after, self.hangs_up_early, self.resets = None, False, rng.random() < 0.5
        self.slow = rng.random() < slow
        self.patience = rng.uniform(0.5, 4)
        if rng.random() < hang_up:
            self.hangs_up_early = rng.random() < 0.3
            self.hangs_up_after = int(4000 * rng.random() ** 2)
        self.wait = rng.uniform(0, 0.3)


def read_answer(response, user):
    answer, rest = Answer(), b""
    if not user.stream:
        answer.add(json.loads(b"".join(pieces(response, user))))
        return answer
    done = False
    for piece in pieces(response, user):
        *events, rest = (rest + piece).split(b"\n\n")
        for event in events:
            data = event.removeprefix(b"data: ")
            done = done or data == b"[DONE]"
            if data != b"[DONE]" and not event.startswith(b":"):
                answer.add(json.loads(data))
    if not done:
        raise AssertionError("a stream ended without [DONE]")
    return answer


def leave(connection, user):
    """Closes, half of the users with a reset in place of a farewell."""
    if connection.sock is not None and user.resets:
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def ask(url, request, user):
    """Answer.key() of a request. Raises HungUp, Overloaded, or what is wrong."""
    path, body = request
    body = body | {"stream": True, "stream_options": {"include_usage": True}} if user.stream else body
    place = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=TIMEOUT_S)
    try:
        connection.connect()
        if user.slow:
            connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        if user.hangs_up_early:
            time.sleep(user.wait)
            raise HungUp
        response = connection.getresponse()
        if response.status == 429:
            raise Overloaded(response.headers.get("Retry-After"))
        if response.status != 200:
            raise AssertionError(f"status {response.status}: {response.read(500)!r}")
        try:
            return read_answer(response, user).key()
        finally:
            if user.resets:
                leave(connection, user)
            response.close()
    finally:
        leave(connection, user)
