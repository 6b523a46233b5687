"""Reasoning: what a model wrote to itself before its answer, told from the answer and removed.

Services send it in a field of its own, open models in marks within the text. Nobody reads it as the
answer, so it is no part of the text that is audited, wherever that text comes from.
"""

import re

_NAMES = r"(?:\w+:)?(?:think(?:ing)?|thoughts?|reasoning)"
_MARKS = re.compile(
    rf"""
    (?P<begin>
      <\s*{_NAMES}\s*>                              # DeepSeek, Qwen, Claude by request
    | \[THINK\]                                     # Mistral
    | ◁think▷                                       # Kimi
    | <\|(?:begin_of_thought|START_THINKING)\|>     # OpenThinker, Cohere
    | <\|channel\|?>\s*(?:analysis|commentary|thought)\b(?:[^<]*<\|message\|>)?  # gpt-oss, Gemma
    | \Aanalysis(?=[\s\S]*assistantfinal)           # gpt-oss, its special tokens left out
    )
  | (?P<end>
      <\s*/\s*{_NAMES}\s*> | \[/THINK\] | ◁/think▷
    | <\|(?:end_of_thought|END_THINKING)\|> | <channel\|>
    | (?:<\|end\|>\s*)?(?:<\|start\|>\s*assistant)?<\|channel\|>\s*final\s*<\|message\|>
    | assistantfinal
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HINT = re.compile(r"[<\[◁]|\Aanalysis", re.IGNORECASE)


def without_reasoning(text: str) -> str:
    r"""Return a text without the reasoning in it; the very same text where there is none.

    What follows a mark that nothing closes is reasoning to the end, as of an answer that was cut
    off; what stands before one that closes nothing is reasoning too, as of marks within marks, and
    of a model whose opening mark is in its prompt.

    >>> without_reasoning("<think>A nurse, then.</think>\n\nMaria was a nurse.")
    'Maria was a nurse.'
    >>> without_reasoning("She needs a name</think>Maria"), without_reasoning("<think>So")
    ('Maria', '')
    """
    if not _HINT.search(text):
        return text
    parts, reasons, start = list[str](), False, 0
    for mark in _MARKS.finditer(text):
        begins = mark["begin"] is not None
        if begins and not reasons:
            parts.append(text[start : mark.start()])
        # An end without a beginning, which some chat templates write into the prompt: all before it
        # was reasoning.
        if not begins and not reasons:
            parts.clear()
        reasons, start = begins, mark.end()
    if not start:
        return text
    if not reasons:
        parts.append(text[start:])
    return "".join(parts).replace("<|return|>", "").strip()
