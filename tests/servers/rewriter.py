"""What a rewriting model says, for the local server's `render`: edits, good ones and bad ones."""

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

_TASK = re.compile(r"\] Text: (.*)\. Agency List: (\[.*\])\. List of edits", re.S)
BAD = (
    "Sorry, here you go: edits are [",  # cut off
    '{"edits": [{"original": "Nobody wrote this", "edited": "led"}]}',
    '{"edits": [{"original": "", "edited": ""}]}',
    '{"edits": "none"}',
)
"""Answers from which nothing can be applied."""


def text_of(prompt: str) -> str:
    """Return the text that a prompt of Table 15 holds."""
    found = _TASK.search(prompt)
    assert found is not None, prompt
    return found.group(1)


def body(content: str) -> dict[str, Any]:
    """Return the body of an answer of a chat with this content."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "test-model",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content},
                "finish_reason": "stop",
                "logprobs": None,
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30},
    }


class Rewriter:
    """Answers `bad` prompts by an answer of `BAD`, and others by the edits of `edits(text)`."""

    def __init__(
        self,
        edits: Callable[[str], list[tuple[str, str]]],
        bad: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        self.edits, self.bad = edits, bad
        self.asked: Counter[str] = Counter()

    def __call__(self, _: str, asked: dict[str, Any], kind: str) -> dict[str, Any] | None:
        prompt = asked["messages"][-1]["content"]
        if kind != "ok" or _TASK.search(prompt) is None:
            return None
        self.asked[prompt] += 1
        text = text_of(prompt)
        said = self.bad(text)
        if said is None:
            pairs = [{"original": old, "edited": new} for old, new in self.edits(text)]
            said = "```json\n" + json.dumps({"edits": pairs}) + "\n```"
        return body(said)
