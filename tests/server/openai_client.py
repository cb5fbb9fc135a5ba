#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The official openai client against `gdn serve`, call by call.

usage: openai_client.py   (with the python that tests/server/venv.sh prints)

Starts build/gdn with models/tiny, prints a line a check and "N passed, M failed"; exit code 1 where
one failed. --gdn FILE takes another build.
"""

import argparse
import concurrent.futures
import json
import time

import openai

import serving
from serving import want, want_equal

KEY = "a-key-of-this-test"
QUESTION = [{"role": "user", "content": "In the beginning God created the heaven and the earth."}]
TOOL = {"type": "function", "function": {
    "name": "find_verse", "description": "Finds a verse by its words.",
    "parameters": {"type": "object", "properties": {"words": {"type": "string"}},
                   "required": ["words"]}}}


def client_of(server, key=KEY):
    return openai.OpenAI(base_url=server.url + "/v1", api_key=key, max_retries=0, timeout=60)


def want_error(kind, status, call, *words):
    """call fails with this class of the client, this status and a message with these words."""
    try:
        call()
    except openai.APIStatusError as error:
        want(isinstance(error, kind), f"the error is {type(error).__name__}, want {kind.__name__}")
        want_equal(error.status_code, status, "the status")
        for word in words:
            want(word in error.message, f"the error is {error.message!r}, want {word!r} in it")
        return error
    raise AssertionError(f"no error, want {status}")


def read_stream(stream):
    """(text, reasoning, finish reasons, usage or None) of a stream of chat chunks"""
    text, reasoning, finishes, usage = "", "", [], None
    for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            reasoning += getattr(choice.delta, "reasoning_content", None) or ""
            finishes += [choice.finish_reason] if choice.finish_reason else []
    return text, reasoning, finishes, usage


class Session:
    def __init__(self, server, check):
        self.server, self.check, self.client = server, check, client_of(server)
        self.model = self.client.models.list().data[0].id

    def chat(self, **options):
        options = {"max_tokens": 16, "temperature": 0} | options
        return self.client.chat.completions.create(
            model=self.model, messages=options.pop("messages", QUESTION), **options)

    def complete(self, prompt="In the beginning", **options):
        options = {"max_tokens": 16, "temperature": 0} | options
        return self.client.completions.create(model=self.model, prompt=prompt, **options)

    def run(self):
        for group in (self.chats, self.streams, self.stops, self.sampling, self.log_probs,
                      self.completions, self.errors, self.cancels, self.threads):
            group()

    def chats(self):
        @self.check("chat: one answer with usage")
        def _():
            answer = self.chat()
            want_equal(answer.object, "chat.completion", "object")
            want_equal(answer.model, self.model, "model")
            want_equal(answer.choices[0].message.role, "assistant", "role")
            want(answer.choices[0].message.content, "the answer has no text")
            want(answer.choices[0].finish_reason in ("stop", "length"), "finish_reason")
            usage = answer.usage
            want(usage.prompt_tokens > 10 and 1 <= usage.completion_tokens <= 16, f"usage: {usage}")
            want_equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens, "total")

        @self.check("chat: the second turn has cached tokens")
        def _():
            long = [{"role": "user", "content": "And God said, Let there be light. " * 20}]
            first = self.chat(messages=long)
            reply = {"role": "assistant", "content": first.choices[0].message.content}
            more = {"role": "user", "content": "And the evening and the morning?"}
            second = self.chat(messages=[*long, reply, more])
            cached = second.usage.prompt_tokens_details.cached_tokens
            want(64 <= cached < second.usage.prompt_tokens, f"cached tokens are {cached}")

        @self.check("chat: content in parts, system message, max_completion_tokens")
        def _():
            parts = [{"type": "text", "text": "Who art "}, {"type": "text", "text": "thou?"}]
            answer = self.chat(messages=[{"role": "system", "content": "Speak."},
                                         {"role": "user", "content": parts}],
                               max_tokens=openai.omit, max_completion_tokens=5)
            want(answer.usage.completion_tokens <= 5, f"usage: {answer.usage}")

    def streams(self):
        @self.check("stream: the text of the answer at once, usage when asked")
        def _():
            whole = self.chat()
            text, _, finishes, usage = read_stream(
                self.chat(stream=True, stream_options={"include_usage": True}))
            want_equal(text, whole.choices[0].message.content, "text")
            want_equal(finishes, [whole.choices[0].finish_reason], "finish reasons")
            want_equal(usage.completion_tokens, whole.usage.completion_tokens, "completion tokens")

        @self.check("stream: no usage when not asked")
        def _():
            want_equal(read_stream(self.chat(stream=True))[3], None, "usage")

        @self.check("stream: n completions, each told apart by its index")
        def _():
            options = {"n": 3, "temperature": 1, "seed": 11}
            whole = [c.message.content for c in self.chat(**options).choices]
            texts = ["", "", ""]
            for chunk in self.chat(stream=True, **options):
                for choice in chunk.choices:
                    texts[choice.index] += choice.delta.content or ""
            want_equal(texts, whole, "texts")

    def stops(self):
        @self.check("stop: a string ends the text and is not in it")
        def _():
            text = self.complete(max_tokens=48).choices[0].text
            stop = text.split()[4]
            answer = self.complete(max_tokens=48, stop=[stop])
            want_equal(answer.choices[0].text, text[:text.index(stop)], "text")
            want_equal(answer.choices[0].finish_reason, "stop", "finish_reason")
            streamed = "".join(c.choices[0].text for c in
                               self.complete(max_tokens=48, stop=stop, stream=True) if c.choices)
            want_equal(streamed, text[:text.index(stop)], "streamed text")

        @self.check("ignore_eos: all of max_tokens are generated")
        def _():
            answer = self.chat(max_tokens=200, extra_body={"ignore_eos": True})
            want_equal(answer.usage.completion_tokens, 200, "completion tokens")
            want_equal(answer.choices[0].finish_reason, "length", "finish_reason")

    def sampling(self):
        @self.check("seed: the same one gives the same text, another one another")
        def _():
            def text(seed):
                return self.complete(temperature=1, seed=seed, max_tokens=32).choices[0].text
            want_equal(text(1), text(1), "text")
            want(len({text(seed) for seed in range(5)}) > 1, "five seeds give one text")

        @self.check("n: completion i is that of seed + i")
        def _():
            options = {"temperature": 1, "max_tokens": 24}
            three = self.complete(n=3, seed=20, **options).choices
            want_equal([c.index for c in three], [0, 1, 2], "indices")
            single = [self.complete(seed=20 + i, **options).choices[0].text for i in range(3)]
            want_equal([c.text for c in three], single, "texts")

        @self.check("logit_bias: a token of +100 is the answer")
        def _():
            answer = self.complete(max_tokens=3, logit_bias={"100": 100}, logprobs=0)
            tokens = answer.choices[0].logprobs.tokens
            want(len(set(tokens)) == 1 and len(tokens) == 3, f"tokens: {tokens}")

        @self.check("top_k 1 is greedy; min_p, top_p and penalties are taken")
        def _():
            greedy = self.complete().choices[0].text
            top = self.complete(temperature=1, extra_body={"top_k": 1}).choices[0].text
            want_equal(top, greedy, "text")
            only = self.complete(temperature=1, extra_body={"min_p": 1.0}).choices[0].text
            want_equal(only, greedy, "text")
            other = self.complete(max_tokens=64, frequency_penalty=2, presence_penalty=2,
                                  top_p=0.9, extra_body={"repetition_penalty": 1.5})
            want(other.choices[0].text != self.complete(max_tokens=64).choices[0].text,
                 "penalties change nothing")

    def log_probs(self):
        @self.check("logprobs: of a chat, with the largest")
        def _():
            answer = self.chat(logprobs=True, top_logprobs=3)
            content = answer.choices[0].logprobs.content
            want_equal(len(content), answer.usage.completion_tokens, "number of logprobs")
            for entry in content:
                want(entry.logprob <= 0 and len(entry.top_logprobs) == 3, f"entry: {entry}")
                want_equal(entry.logprob, entry.top_logprobs[0].logprob, "the greedy choice's")

        @self.check("logprobs: of a completion, and the same in a stream")
        def _():
            whole = self.complete(logprobs=2).choices[0].logprobs
            want_equal(len(whole.tokens), len(whole.token_logprobs), "number of logprobs")
            want(all(len(top) == 2 for top in whole.top_logprobs), "top_logprobs has not 2 each")
            streamed = [value for chunk in self.complete(logprobs=2, stream=True)
                        for choice in chunk.choices if choice.logprobs
                        for value in choice.logprobs.token_logprobs]
            want_equal(streamed, whole.token_logprobs, "logprobs")

    def completions(self):
        @self.check("completions: text, ids, and lists of both")
        def _():
            ids = self.server.json("/tokenize", {"model": self.model, "prompt": "In the beginning",
                                                 "add_special_tokens": False})["tokens"]
            text = self.complete().choices[0].text
            want_equal(self.complete(ids).choices[0].text, text, "text of ids")
            want_equal([c.text for c in self.complete(["In the beginning"] * 2).choices],
                       [text] * 2, "texts of two")
            want_equal([c.text for c in self.complete([ids, ids[:1]]).choices][0], text,
                       "text of a list of ids")

        @self.check("tokenize and detokenize are inverse")
        def _():
            text = "And the earth was without form, \u00e4\u4e16\U0001F600."
            tokens = self.server.json("/tokenize", {"model": self.model, "prompt": text})["tokens"]
            back = self.server.json("/detokenize", {"model": self.model, "tokens": tokens})
            want_equal(back["prompt"], text, "text")

    def errors(self):
        check = self.check

        @check("error 401: a wrong key, and none")
        def _():
            wrong = client_of(self.server, "wrong")
            want_error(openai.AuthenticationError, 401, wrong.models.list)

        @check("error 404: a model and a path that are not there")
        def _():
            want_error(openai.NotFoundError, 404, lambda: self.client.completions.create(
                model="no-such-model", prompt="a"), "no-such-model")
            want_error(openai.NotFoundError, 404,
                       lambda: self.client.get("/no/such/path", cast_to=object))

        @check("error 400: values out of their range name the field")
        def _():
            for field, value in (("temperature", -1), ("top_p", 2), ("n", 0), ("max_tokens", 0),
                                 ("logit_bias", {"9999999": 1}), ("presence_penalty", "x")):
                error = want_error(openai.BadRequestError, 400,
                                   lambda f=field, v=value: self.complete(**{f: v}), field)
                want(isinstance(error.body, dict) and error.body.get("message"),
                     f"the body is {error.body!r}")
            want_error(openai.BadRequestError, 400, lambda: self.chat(messages=[]), "messages")
            want_error(openai.BadRequestError, 400, lambda: self.complete([5000000]), "5000000")

        @check("error 400: a prompt that is longer than the context says both numbers")
        def _():
            error = want_error(openai.BadRequestError, 400, lambda: self.complete([5] * 100000))
            want("100000" in error.message, f"the error is {error.message!r}")

        @check("error before a stream has the status, too")
        def _():
            want_error(openai.BadRequestError, 400, lambda: self.chat(stream=True, temperature=-1))

    def cancels(self):
        @self.check("cancel: a client that goes ends its request, and all it held is free")
        def _():
            self.server.json("/reset_prefix_cache", {})
            before = self.server.wait_idle()
            stream = self.chat(max_tokens=1500, stream=True, extra_body={"ignore_eos": True})
            # The first chunk says who speaks, before the engine has begun.
            next(chunk for chunk in stream if chunk.choices[0].delta.content)
            want(self.server.metrics()["gdn:num_requests_running"] == 1, "it does not run")
            stream.close()
            started = time.monotonic()
            after = self.server.wait_idle(10)
            want(time.monotonic() - started < 5, "it took more than 5 s")
            want_equal(after["gdn:free_slots"], before["gdn:free_slots"], "free slots")
            want_equal(after["gdn:free_blocks"], before["gdn:free_blocks"], "free blocks")

    def threads(self):
        @self.check("8 threads at once: each has the answer that it has alone")
        def _():
            prompts = [f"And it came to pass in the year {i}, that" for i in range(8)]
            alone = [self.complete(p, temperature=1, seed=i).choices[0].text
                     for i, p in enumerate(prompts)]
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                for _ in range(3):
                    together = list(pool.map(
                        lambda pair: self.complete(pair[1], temperature=1, seed=pair[0])
                        .choices[0].text, enumerate(prompts)))
                    want_equal(together, alone, "texts")


def thinking(server, check):
    """With the chat template of Qwen3.5: tools, and reasoning that is told apart."""
    session = Session(server, check)

    @check("tools: their definitions are part of the prompt")
    def _():
        plain, tools = session.chat(), session.chat(tools=[TOOL])
        want(tools.usage.prompt_tokens > plain.usage.prompt_tokens + 40, "the prompt is no longer")
        none = session.chat(tools=[TOOL], tool_choice="none")
        want_equal(none.usage.prompt_tokens, plain.usage.prompt_tokens, "prompt without tools")

    @check("tools: a call and its result in the conversation")
    def _():
        call = {"id": "c1", "type": "function", "function": {
            "name": "find_verse", "arguments": json.dumps({"words": "light"})}}
        answer = session.chat(tools=[TOOL], messages=[
            *QUESTION, {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "Genesis 1:3"}])
        want(answer.usage.prompt_tokens > 60, f"usage: {answer.usage}")

    @check("enable_thinking: reasoning apart from the answer, or none")
    def _():
        def ask(enabled, **options):
            extra = {"chat_template_kwargs": {"enable_thinking": enabled}}
            return session.chat(extra_body=extra, **options)
        on, off = ask(True).choices[0].message, ask(False).choices[0].message
        # The small model never ends its reasoning: all of its answer is of that kind.
        want(getattr(on, "reasoning_content", None), "there is no reasoning")
        want(not on.content, f"content is {on.content!r} beside the reasoning")
        want(off.content and not getattr(off, "reasoning_content", None), f"message: {off}")
        text, reasoning, _, _ = read_stream(ask(True, stream=True))
        want_equal((text, reasoning), ("", on.reasoning_content), "stream")


# What Qwen3.5 writes; one token of the model that calling() asks.
CALL_TOKEN = 2045
CALL = ("<tool_call>\n<function=find_verse>\n<parameter=words>\nlight\n</parameter>\n</function>\n"
        "</tool_call>")


def calling(server, check):
    """With a model that calls a tool as soon as it may."""
    session = Session(server, check)
    # The call comes first; the penalty then halves it, and token 1000 ends the answer.
    extra = {"chat_template_kwargs": {"enable_thinking": False}, "ignore_eos": True,
             "repetition_penalty": 2, "stop_token_ids": [1000]}
    options = {"extra_body": extra, "logit_bias": {str(CALL_TOKEN): 100, "1000": 80}}

    def want_call(name, arguments):
        want_equal((name, json.loads(arguments)), ("find_verse", {"words": "light"}), "call")

    @check("tools: a call is a member of the message")
    def _():
        choice = session.chat(tools=[TOOL], **options).choices[0]
        want_equal(choice.finish_reason, "tool_calls", "finish_reason")
        want_equal(len(choice.message.tool_calls), 1, "number of calls")
        call = choice.message.tool_calls[0]
        want_call(call.function.name, call.function.arguments)
        want(choice.message.content is None and call.id and call.type == "function", str(choice))
        # And goes back as it came.
        again = session.chat(tools=[TOOL], messages=[
            *QUESTION, choice.message,
            {"role": "tool", "tool_call_id": call.id, "content": "Genesis 1:3"}])
        want(again.choices[0].finish_reason, "no answer to the tool's result")

    @check("tools: a call in a stream")
    def _():
        name, arguments, finishes = "", "", []
        for chunk in session.chat(tools=[TOOL], stream=True, **options):
            for choice in chunk.choices:
                want(not choice.delta.content, f"content is {choice.delta.content!r}")
                finishes += [choice.finish_reason] if choice.finish_reason else []
                for call in choice.delta.tool_calls or []:
                    want_equal(call.index, 0, "index")
                    name += call.function.name or ""
                    arguments += call.function.arguments or ""
        want_call(name, arguments)
        want_equal(finishes, ["tool_calls"], "finish reasons")

    @check("tools: without any, the same is text")
    def _():
        choice = session.chat(**options).choices[0]
        want_equal((choice.message.content, choice.finish_reason), (CALL, "stop"), "answer")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--gdn", default=serving.ROOT / "build/gdn", help="(default: build/gdn)")
    args = parser.parse_args()
    check = serving.Checks()
    with serving.Server("--api-key", KEY, binary=args.gdn) as server:
        Session(server, check).run()
    with serving.thinking_model() as model, serving.Server("--api-key", KEY, model=model,
                                                           binary=args.gdn) as server:
        thinking(server, check)
    with serving.thinking_model(CALL_TOKEN, CALL) as model, \
            serving.Server("--api-key", KEY, model=model, binary=args.gdn) as server:
        calling(server, check)
    check.finish()


if __name__ == "__main__":
    main()
