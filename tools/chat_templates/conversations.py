# SPDX-License-Identifier: Apache-2.0
"""The conversations that every template is tried with."""

SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Current weather of a \"place\" – temperature in °C, <b>no</b> forecast.",
        "parameters": {
            "type": "object",
            "properties": {
                "place": {"type": "string", "description": "City, e.g. Zürich or 東京"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": None},
                "limits": {
                    "type": "array",
                    "items": {"type": "array", "items": {"type": "number"}},
                    "default": [[0.5, -1e-07], [1e+22, 100.0]],
                },
            },
            "required": ["place"],
        },
    },
}
SEARCH = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Searches.\nSecond line: 'quotes' & \\backslash",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {"type": ["string", "null"], "description": "What"},
                "options": {
                    "type": "object",
                    "properties": {
                        "top_k": {"type": "integer", "minimum": 0, "maximum": 18446744073709551615},
                        "exact": {"type": "boolean", "default": False},
                        "weights": {"type": "object", "additionalProperties": {"type": "number"}},
                    },
                    "required": [],
                },
            },
            "required": ["query", "options"],
        },
    },
}
TOOLS = [WEATHER, SEARCH]


def user(text):
    return {"role": "user", "content": text}


def system(text):
    return {"role": "system", "content": text}


def assistant(text, **more):
    return {"role": "assistant", "content": text, **more}


def call(name, arguments, call_id="call00001"):
    return {"type": "function", "id": call_id, "function": {"name": name, "arguments": arguments}}


def tool(text, **more):
    return {"role": "tool", "content": text, "tool_call_id": "call00001", "name": "get_weather",
            **more}


CALL = call("get_weather", {"place": "Zürich", "unit": "celsius", "limits": [[0.5, 2], []]})
CALL_SEARCH = call("search", {"query": "a \"b\" <c>", "options": {"top_k": 3, "exact": True,
                                                                  "weights": {}}}, "call00002")
MULTI = [user("Hi"), assistant("Hello! How can I help?"), user("What is 2 + 2?"),
         assistant("4"), user("Thanks\n\nand bye")]
TOOL_TURN = [user("Weather in Zürich?"), assistant("", tool_calls=[CALL]),
             tool("{\"temperature\": 21.5, \"sky\": \"klar ☀\"}")]
REASONED = [user("Hi"),
            assistant("Hello.", reasoning_content="The user greets.\nI greet back."),
            user("Again?"),
            assistant("Hello again.", reasoning_content="Once more.")]
INLINE = [user("Hi"), assistant("<think>\nThe user greets.\n</think>\n\nHello."), user("Again?"),
          assistant("<think>hm</think>Yes.")]
PARTS = [{"role": "user", "content": [{"type": "text", "text": "Look "},
                                      {"type": "text", "text": "here"}]}]


def case(name, messages, prompt=True, tools=None, **more):
    """`more`: variables; continue_final_message goes beside them."""
    out = {"name": name, "messages": messages, "add_generation_prompt": prompt}
    if tools is not None:
        out["tools"] = tools
    for key in ("continue_final_message", "documents"):
        if key in more:
            out[key] = more.pop(key)
    out["variables"] = {**SPECIAL, **more}
    return out


CASES = [
    case("user", [user("Hi")]),
    case("user, no prompt", [user("Hi")], False),
    case("system", [system("You are terse."), user("Hi")]),
    case("system parts", [{"role": "system", "content": [{"type": "text", "text": "Be kind."}]},
                          user("Hi")]),
    case("turns", MULTI),
    case("turns with system", [system(" Be brief. \n")] + MULTI),
    case("turns, no prompt", MULTI + [assistant("Bye")], False),
    case("thinking on", MULTI, enable_thinking=True, thinking=True),
    case("thinking off", MULTI, enable_thinking=False, thinking=False),
    case("thinking off with system", [system("S")] + MULTI, enable_thinking=False, thinking=False),
    case("unicode", [system("Ты — помощник 🤖"), user("日本語\u200d👩‍👩‍👧 é\u0301 \u00a0 ﷽"),
                     assistant("“ja”"), user("ok")]),
    case("special characters", [user("<|im_start|>{{ x }}{% if %}&amp;<b>\"'\\n\t\r\n  end  ")]),
    case("empty", [user("")]),
    case("empty system and turns", [system(""), user("a"), assistant(""), user("b")]),
    case("white space", [system("  \n"), user("  a  \n"), assistant("\n b \n\n"), user("\tc")]),
    case("parts", PARTS),
    case("empty parts", [{"role": "user", "content": []}]),
    case("image part", [{"role": "user", "content": [{"type": "image"},
                                                     {"type": "text", "text": "What?"}]}]),
    case("image in system", [{"role": "system", "content": [{"type": "image"}]}, user("Hi")]),
    case("tools", [user("Weather in Zürich?")], tools=TOOLS),
    case("tools with system", [system("Be exact."), user("Weather?")], tools=TOOLS),
    case("no tools", [user("Hi")], tools=[]),
    case("tool call", TOOL_TURN, tools=TOOLS),
    case("tool call, no tools", TOOL_TURN),
    case("tool call, no prompt", TOOL_TURN + [assistant("21.5 °C")], False, tools=TOOLS),
    case("tool call in turns", [system("S")] + TOOL_TURN + [assistant("21.5 °C"), user("Thanks")],
         tools=TOOLS),
    case("two tool calls", [user("Both"), assistant("Doing both.", tool_calls=[CALL, CALL_SEARCH]),
                            tool("21.5"), tool("[1, null]", tool_call_id="call00002",
                                               name="search")], tools=TOOLS),
    case("arguments as text", [user("W?"), assistant(None, tool_calls=[
        call("get_weather", "{\"place\": \"Bern\"}")]), tool("3")], tools=TOOLS),
    case("arguments without function", [user("W?"), assistant("", tool_calls=[
        {"name": "get_weather", "arguments": {"place": "Bern"}, "id": "call00001"}]), tool("3")],
         tools=TOOLS),
    case("tool parts", [user("W?"), assistant("", tool_calls=[CALL]),
                        {"role": "tool", "content": [{"type": "text", "text": "21"}],
                         "tool_call_id": "call00001", "name": "get_weather"}], tools=TOOLS),
    case("reasoning", REASONED + [user("More")]),
    case("reasoning, no prompt", REASONED, False),
    case("reasoning kept", REASONED + [user("More")], clear_thinking=False,
         preserve_thinking=True, preserve_reasoning=True, keep_past_thinking=True),
    case("reasoning named thinking", [user("Hi"), assistant("Yo", thinking="T"), user("?")]),
    case("reasoning and tools", [user("W?"), assistant("Let me look.", reasoning_content="Look up.",
                                                       tool_calls=[CALL]), tool("3"),
                                 assistant("", reasoning_content="So.", tool_calls=[CALL_SEARCH]),
                                 tool("4")], tools=TOOLS),
    case("inline thinking", INLINE + [user("More")]),
    case("inline thinking, no prompt", INLINE, False),
    case("continue", [user("Hi"), assistant("Hello, I")], False, continue_final_message="content"),
    case("continue with space", [user("Hi"), assistant("Hello, I ")], False,
         continue_final_message="content"),
    case("continue user", [user("Hi \n")], False, continue_final_message="content"),
    case("continue parts", [user("Hi"), {"role": "assistant", "content": [
        {"type": "text", "text": "Well,"}, {"type": "text", "text": " so"}]}], False,
         continue_final_message="content"),
    case("continue reasoning", [user("Hi"), assistant("", reasoning_content="Let me")], False,
         continue_final_message="reasoning_content"),
    case("continue nothing", [user("Hi"), {"role": "assistant", "tool_calls": [CALL]}], False,
         continue_final_message="content"),
    case("continue and prompt", [user("Hi"), assistant("x")], True,
         continue_final_message="content"),
    case("documents", [user("Sum up")], documents=[
        {"title": "A", "text": "Text of A", "doc_id": 1}, {"title": "B", "text": "ü"}]),
    case("assistant first", [assistant("I start"), user("Hi")]),
    case("two users", [user("a"), user("b")]),
    case("system in the middle", [user("a"), system("s"), user("b")]),
    case("only system", [system("s")]),
    case("unknown role", [{"role": "narrator", "content": "Once"}, user("Hi")]),
    case("developer", [{"role": "developer", "content": "Be short."}, user("Hi")]),
    case("no role", [{"content": "x"}]),
    case("no content", [{"role": "user"}]),
    case("content is a number", [user(5)]),
    case("content is a mapping", [user({"a": 1})]),
    case("messages of null", [{"role": "user", "content": None, "tool_calls": None}]),
    case("no messages", []),
    case("no special tokens", MULTI, bos_token="", eos_token=""),
    case("reasoning effort", [user("Hi")], reasoning_effort="high",
         model_identity="You are a machine.", builtin_tools=["browser", "python"]),
    case("vision ids", PARTS + [assistant("ok")] + PARTS, add_vision_id=True),
    case("dates", [system("S"), user("Hi")], date_string="01 Feb 2025", tools_in_user_message=False,
         custom_tools=None),
]
