"""Batch files: requests as a service's own batch tool takes them, at half the price.

The user hands the file in, and gives the file that comes back as texts: `custom_id` says of each
answer which prompt it is of.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.provider import RAW, check_model, check_parameters
from portrayal.errors import OptionError
from portrayal.records import Prompt
from portrayal.run.files import write_atomically


def write_batch(path: Path, prompts: Sequence[Prompt], asking: Asking) -> int:
    """Write a request a line, in OpenAI's form, and return how many there are.

    Raises
    ------
    OptionError
        For a service that does not read this form, or a parameter that it would not take.
    """
    service, model = check_model(asking.model)
    if service not in ("openai", "server"):
        raise OptionError(f"{service} reads no batch file of OpenAI's form; collect without one.")
    settings = check_parameters(asking.model, asking.parameters, ("thinking_budget",))
    system, raw = settings.pop("system", ""), settings.pop(RAW, {})
    if service == "openai" and "max_tokens" in settings:
        settings["max_completion_tokens"] = settings.pop("max_tokens")
    lines = []
    for sample in range(asking.samples):
        for prompt in prompts:
            text, *of_prompt = prompt.asked
            before = "\n\n".join(filter(None, (system, *of_prompt)))
            messages = [{"role": "system", "content": before}] * bool(before)
            messages.append({"role": "user", "content": text})
            body: dict[str, Any] = {"model": model, "messages": messages, **settings, **raw}
            head = {"custom_id": f"{prompt.prompt_id}#{sample}", "method": "POST"}
            request = {**head, "url": "/v1/chat/completions", "body": body}
            lines.append(json.dumps(request, ensure_ascii=False) + "\n")
    write_atomically(path, "".join(lines))
    return len(lines)
