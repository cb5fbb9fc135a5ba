# SPDX-License-Identifier: Apache-2.0
"""Renders with transformers' own code, at a fixed time."""

import datetime

import jinja2
from transformers.utils import chat_template_utils as reference

# What strftime_now() sees; src/chat_template/prompt_testing.h has the same.
NOW = datetime.datetime(2026, 3, 14, 15, 9, 26)


class FixedClock:
    @staticmethod
    def now():
        return NOW


reference.datetime = FixedClock


def failure(error):
    """A message that the template itself raised, or that there is some error."""
    if type(error) is jinja2.exceptions.TemplateError:
        return {"error": str(error)}
    return {"fails": type(error).__name__}


def render_snippet(source, context):
    try:
        return reference._compile_jinja_template(source).render(**context)
    except Exception as error:  # the reference may raise anything
        return failure(error)


def build_prompt(source, request):
    """request: the members of PromptRequest of src/chat_template/prompt.h; missing: the default."""
    try:
        messages = reference._normalize_chat_messages(request["messages"])
        if not messages:
            raise ValueError("no messages")
        continued = request.get("continue_final_message", False)
        if continued and request.get("add_generation_prompt"):
            raise ValueError("continue_final_message and add_generation_prompt")
        rendered, _ = reference.render_jinja_template(
            conversations=[messages],
            tools=request.get("tools"),
            documents=request.get("documents"),
            chat_template=source,
            continue_final_message=continued,
            add_generation_prompt=request.get("add_generation_prompt", False),
            **request.get("variables", {}))
        return rendered[0]
    except Exception as error:  # the reference may raise anything
        return failure(error)
