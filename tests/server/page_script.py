# SPDX-License-Identifier: Apache-2.0
"""A server whose answers are scripted: what a page must bear and no small model says on demand."""

import http.server
import json
import threading
import time

XSS = "<img src=x onerror=\"window.hit=1\"><script>window.hit=1</script> &amp; <b>bold</b>"
CUT = "\u00e4 \u4e16\u754c \U0001F600 end"
USAGE = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8,
         "prompt_tokens_details": {"cached_tokens": 0}}


def event(delta, finish=None):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]}, ensure_ascii=False)}\n\n".encode()


LAST = f"data: {json.dumps({'choices': [], 'usage': USAGE})}\n\ndata: [DONE]\n\n".encode()


def script(question):
    """The pieces of bytes that answer it."""
    if question == "xss":
        return [event({"content": XSS}), LAST]
    if question == "think":
        return [event({"role": "assistant", "content": ""}), event({"reasoning_content": "let me "}),
                event({"reasoning_content": "see"}), event({"content": "seen"}), LAST]
    if question == "cut":
        whole = b": a comment\n\n" + (event({"content": CUT}) + LAST).replace(b"\n", b"\r\n")
        return [whole[i:i + 1] for i in range(len(whole))]
    if question == "break":
        return [event({"content": "half"})]
    return [event({"content": "Hello, "}), event({"content": "world."}, "stop"), LAST]


class ScriptedServer:
    def __init__(self, page):
        requests = self.requests = []  # (headers, body) of the chats so far

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def reply(self, status, kind, body):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                if self.path == "/v1/models":
                    self.reply(200, "application/json", b'{"data": [{"id": "scripted"}]}')
                else:
                    self.reply(200, "text/html; charset=utf-8", page.read_bytes())

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                requests.append((dict(self.headers), body))
                question = body["messages"][-1]["content"]
                if question == "refuse":
                    self.reply(429, "application/json",
                               b'{"error": {"message": "the server is full"}}')
                    return
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                for piece in script(question):
                    self.wfile.write(piece)
                    self.wfile.flush()
                    time.sleep(0.001 if len(piece) == 1 else 0.02)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
