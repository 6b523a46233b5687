"""Logs: what other tools write of requests and answers, as rows with ordinary columns.

Each form gives `text`, and as far as it has them `prompt`, `system`, `model`, `outcome`, `sample`
(which item of a data set was asked), scores by their names, and what else the item holds. Forms are
recognised by the fields of the first item, as each tool's documentation describes them.
"""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple

from portrayal.collect.fields import is_called
from portrayal.errors import DataError

Row = Mapping[str, Any]
Rows = Callable[[], Iterator[Row]]

log = logging.getLogger("portrayal.files")
"""Says which form a file was read as; the command line prints it."""
_HEAD = 5_000  # rows read ahead to learn the column names
_DEEPEST = 8  # objects within objects that are still taken apart
_FIELDS = ("text", "text_id", "prompt", "model", "outcome", "name")
_ROLES = {
    **dict.fromkeys(("assistant", "ai", "model", "gpt", "bot", "chatbot"), "assistant"),
    **dict.fromkeys(("aimessage", "aimessagechunk"), "assistant"),
    **dict.fromkeys(("user", "human", "humanmessage"), "user"),
    **dict.fromkeys(("system", "developer", "systemmessage"), "system"),
}
_CHATS = ("messages", "conversations")
_OF_CHATS = ("conversation", "conversation_id", "id", "thread_id", "session_id", "custom_id")
_RESPONSES = ("response", "completion", "output", "choices", "answer")
_OF_OUTPUTS = frozenset(("choices", "generations", "messages", "message", "content"))
_REASONING = ("reasoning", "thinking")


class Turn(NamedTuple):
    """A message: whose it is ("assistant", "user", "system", or a tool's), its text, and whether
    the provider marked it as refused.
    """

    role: str
    text: str
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """A form of log.

    Attributes
    ----------
    name
        How messages speak of it.
    fits
        Whether an item has this form.
    rows
        Rows of an item, given its number from 1; a DataError says what is wrong with it.
    alike
        Field in which items must be like the first; others are left out. None for no such field.
    """

    name: str
    fits: Callable[[Row], bool]
    rows: Callable[[Row, int], Iterable[Row]]
    alike: str | None = None


def table_of(
    rows: Rows, name: str, *, nested: bool, head: int = _HEAD
) -> tuple[tuple[str, ...], Rows]:
    """Return the columns of items, and their rows, whatever form of log they have.

    Parameters
    ----------
    rows
        Starts a fresh pass over the items.
    name
        How messages speak of them.
    nested
        Whether objects within items that have no form become columns too ("metadata.gender").
    head
        Rows that are read to learn the names of columns.

    Raises
    ------
    DataError
        When an item is not what the form's first item promises; names it by its number.
    """
    items = rows()
    first = next(items, {})
    form = next((form for form in FORMS if form.fits(first)), None)
    if form is not None:
        log.info("%s: read as %s", name, form.name)

    def table(items: Iterator[Row]) -> Iterator[Row]:
        shaped = items if form is None else _shaped(form, items, name)
        return map(flat, shaped) if nested or form is not None else shaped

    # Rows of JSON may each have other names; the first thousands tell them all but surely
    read_ahead = islice(table(chain([first], items)), head)
    columns = dict.fromkeys(key for row in read_ahead for key in row if str(key).strip())
    if form is not None and not columns:
        raise DataError(f"{name}: read as {form.name}, and there is no answer in it.")
    return tuple(columns), lambda: table(rows())


def files_lacking(
    columns: Mapping[str, Sequence[str]], needed: Sequence[str], folder: str
) -> list[str]:
    """Return the files of a folder that lack a needed column, each of which is logged.

    Parameters
    ----------
    columns
        File → its columns.
    needed, folder
        Names of the columns, and how messages speak of the folder.

    Raises
    ------
    DataError
        When all of them lack one; says which of each.
    """
    absent = {file: [n for n in needed if n not in inside] for file, inside in columns.items()}
    lacks = {file: f"no column {', '.join(names)}" for file, names in absent.items() if names}
    if len(lacks) == len(columns):
        of_each = "; ".join(f"{file}: {reason}" for file, reason in lacks.items())
        raise DataError(f"{folder}: no file has {', '.join(needed)} ({of_each}).")
    for file, reason in lacks.items():
        log.info("%s: left out, as it has %s", file, reason)
    return [*lacks]


def _shaped(form: Form, items: Iterator[Row], name: str) -> Iterator[Row]:
    first: Row | None = None
    for number, item in enumerate(items, 1):
        first = item if first is None else first
        if form.alike is not None and item.get(form.alike) != first.get(form.alike):
            continue
        try:
            yield from form.rows(item, number)
        except (DataError, KeyError, RecursionError) as error:
            lacks = (
                f"it has no {error}, as other items have" if isinstance(error, KeyError) else error
            )
            raise DataError(f"{name}: item {number}: {lacks} (read as {form.name})") from error


def items_of(content: Any) -> list[Any] | None:
    """Return the items of a JSON value: an array's, a known log's, or the texts of each group.

    None where it is nothing of these.

    >>> items_of({"women": ["A nurse."], "men": ["A cook."]})
    [{'text': 'A nurse.', 'group': 'women'}, {'text': 'A cook.', 'group': 'men'}]
    """
    if isinstance(content, list):
        return content
    if not isinstance(content, dict):
        return None
    samples, results = content.get("samples"), content.get("results")
    if isinstance(content.get("eval"), dict) and isinstance(samples, list):
        return [{"eval": content["eval"], **_object(sample, "a sample")} for sample in samples]
    if isinstance(results, dict) and isinstance(results.get("results"), list):
        return list(results["results"])
    if not content or not all(isinstance(texts, list) for texts in content.values()):
        return None
    return [
        {**(text if isinstance(text, dict) else {"text": text}), "group": group}
        for group, texts in content.items()
        for text in texts
    ]


def flat(row: Row) -> Row:
    """Return a row whose objects are columns, and lists of one value that value.

    An object in a field that is read, such as `text`, stays, so that its reader refuses it.

    >>> flat({"text": "a", "metadata": {"gender": ["woman"], "tags": ["x", "y"]}})
    {'text': 'a', 'metadata.gender': 'woman', 'metadata.tags': ['x', 'y']}
    """
    if not any(isinstance(value, (dict, list)) for value in row.values()):
        return row
    columns: dict[str, Any] = {}
    for name, value in row.items():
        is_field = any(is_called(name, field) for field in _FIELDS)
        columns.update([(name, value)] if is_field else _leaves(name, value, _DEEPEST))
    return columns


def _leaves(name: str, value: Any, deepest: int) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value and deepest:
        for key, inner in value.items():
            yield from _leaves(f"{name}.{key}", inner, deepest - 1)
    elif isinstance(value, list) and len(value) == 1 and not isinstance(value[0], (dict, list)):
        yield name, value[0]
    else:
        yield name, value


def _object(value: Any, name: str) -> dict[str, Any]:
    """An object, {} where there is none."""
    if value is not None and not isinstance(value, dict):
        raise DataError(f"expected {name} to be an object, found {type(value).__name__}.")
    return value or {}


def _list(value: Any, name: str) -> list[Any]:
    """A list, [] where there is none."""
    value = _parsed(value)
    if value is not None and not isinstance(value, list):
        raise DataError(f"expected {name} to be a list, found {type(value).__name__}.")
    return value or []


def _parsed(value: Any) -> Any:
    """What a cell of CSV holds as JSON; the cell itself where it is no JSON."""
    if isinstance(value, str) and value.strip()[:1] in ("{", "[", '"'):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def _rows(
    answers: list[Turn],
    fields: Row,
    further: Row,
    scores: Row | None = None,
    text_id: Any = None,
    failed: bool = False,
) -> Iterator[Row]:
    """A row for each answer to one request, with an empty text where there is none.

    It has what the form knows (`fields`), scores, and what else the item holds (`further`).
    """
    for number, answer in enumerate(answers or [Turn("assistant", "")]):
        # An error goes before what the text says: it may have broken off
        outcome = "failed" if failed else "refused" if answer.refused else None
        several = f"{text_id}/{number}" if len(answers) > 1 else text_id
        fields_of_text = {"text": answer.text, "text_id": several, "outcome": outcome, **fields}
        row = {name: value for name, value in fields_of_text.items() if value is not None}
        for name, value in (scores or {}).items():
            row[name if name not in row else f"score.{name}"] = value
        yield row | {name: value for name, value in further.items() if name not in row}


def _turn(message: Any) -> Turn:
    """A message of OpenAI, Anthropic or Inspect (role), LangChain (type) or ShareGPT (from)."""
    entry = _object(message, "a message")
    # LangChain's own way of writing a message down
    inner = entry.get("kwargs") or entry.get("data")
    fields = entry | (inner if isinstance(inner, dict) else {})
    role = fields.get("role") or fields.get("from") or fields.get("type")
    if role == "constructor" and isinstance(entry.get("id"), list):
        role = entry["id"][-1]
    if not isinstance(role, str):
        raise DataError("a message has no role; expected user, assistant or system.")
    refusal = fields.get("refusal")
    content = next((fields[key] for key in ("content", "value", "text") if key in fields), None)
    text = refusal if isinstance(refusal, str) and not content else _text(content)
    return Turn(_ROLES.get(role.casefold(), role), text, bool(refusal))


def _messages(value: Any) -> list[Turn]:
    """The messages of a list, or of a batch of one list; none where it holds something else."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    if not isinstance(value, list):
        return []
    marks = {"role", "from", "type", "kwargs"}
    has_roles = all(isinstance(v, dict) and not marks.isdisjoint(v) for v in value)
    return [_turn(message) for message in value] if has_roles else []


def _text(content: Any) -> str:
    """The words of a message; pictures, calls of tools and reasoning are none."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise DataError(
            f"expected the content of a message to be text or a list of parts, found "
            f"{type(content).__name__}."
        )
    parts = [
        part.get("text") if isinstance(part, dict) and part.get("type") not in _REASONING else part
        for part in content
    ]
    return "\n".join(part for part in parts if isinstance(part, str))


def _request(value: Any) -> dict[str, Any]:
    """Prompt and system prompt of an input, and what else it holds."""
    value = _parsed(value)
    if turns := _messages(value):
        answered = max((i for i, turn in enumerate(turns) if turn.role == "assistant"), default=-1)
        users = [turn.text for turn in turns[answered + 1 :] if turn.role == "user"]
        systems = [turn.text for turn in turns if turn.role == "system"]
        return {"prompt": "\n\n".join(users), "system": "\n\n".join(systems) or None}
    if not isinstance(value, dict):
        return {"inputs" if isinstance(value, list) else "prompt": value}
    name = "messages" if "messages" in value else _named(value, "prompt")
    further = {f"inputs.{key}": inner for key, inner in value.items() if key != name}
    return further if name is None else {**_request(value[name]), **further}


def _named(value: Row, field: str) -> str | None:
    """The key of an object under which a field stands: by its name, or as the only text."""
    texts = [key for key, inner in value.items() if isinstance(inner, str)]
    called = [key for key in texts if is_called(key, field)]
    return called[0] if called else texts[0] if len(texts) == 1 else None


def _answers(value: Any) -> list[Turn]:
    """The answers in what a tool keeps of a model's output; none where its form is unknown."""
    if isinstance(value, str):
        return [Turn("assistant", value)]
    if not isinstance(value, dict):
        return [turn for turn in _messages(value) if turn.role == "assistant"][-1:]
    if "choices" in value:
        answers = []
        for entry in _list(value["choices"], "choices"):
            choice = _object(entry, "a choice")
            message = choice.get("message") or {"content": choice.get("text")}
            turn = _turn({"role": "assistant", **_object(message, "a message")})
            reason = choice.get("finish_reason") or choice.get("stop_reason")
            answers.append(turn._replace(refused=turn.refused or reason == "content_filter"))
        return answers
    if isinstance(value.get("generations"), list):  # LangChain's: a list for each request
        batches = (v if isinstance(v, list) else [v] for v in value["generations"])
        return [turn for batch in batches for generation in batch for turn in _answers(generation)]
    for key in ("messages", "message", "output", "text"):
        if isinstance(value.get(key), (str, list, dict)):
            return _answers(value[key])
    return [_turn({"role": "assistant", **value})] if "content" in value else []


def _exchange(request: Any, output: Any) -> tuple[list[Turn], dict[str, Any]]:
    """The answers in what a tool keeps as output, and the fields in its input and output.

    Where the output holds several texts and none is named as the answer, none is `text`.
    """
    parsed, fields = _parsed(output), _request(request)
    is_plain = isinstance(parsed, dict) and _OF_OUTPUTS.isdisjoint(parsed)
    name = _named(parsed, "text") if is_plain else None
    answers = _answers(parsed if name is None else parsed[name])
    if not answers and isinstance(output, str):  # a text may itself be JSON
        return [Turn("assistant", output)], fields
    if is_plain and (name is not None or not answers):
        further = {f"outputs.{key}": inner for key, inner in parsed.items() if key != name}
        fields |= further if answers or not further else {"text": None, **further}
    return answers, fields


def _chat(item: Row, number: int) -> Iterator[Row]:
    """A row for each turn of the assistant, addressed by `conversation` and `turn`."""
    chat = next((name for name in _CHATS if name in item), _CHATS[0])
    further = {name: value for name, value in item.items() if name != chat}
    identifiers = (further.get(name) for name in _OF_CHATS)
    conversation = str(next((v for v in identifiers if isinstance(v, (str, int))), number))
    systems, users, n_turns, role = list[str](), list[str](), 0, ""
    messages = _list(item[chat], chat)
    for message in messages:
        turn = _turn(message)
        if turn.role == "system":
            systems.append(turn.text)
        elif turn.role == "user":
            users = [*users, turn.text] if role == "user" else [turn.text]
        request = {"prompt": "\n\n".join(users), "system": "\n\n".join(systems) or None}
        # An assistant that only calls a tool has not answered yet
        if turn.role == "assistant" and (turn.text or not message.get("tool_calls")):
            n_turns += 1
            address: Row = {"conversation": conversation, "turn": n_turns}
            text_id = f"{conversation}/{n_turns}"
            yield from _rows([turn], {**request, **address}, further, text_id=text_id)
        role = turn.role
    if messages and not n_turns:  # the answer stands beside the messages
        response_field = next((name for name in _RESPONSES if further.get(name) is not None), "")
        value = further.pop(response_field, None)
        answers = _answers({response_field: value} if response_field == "choices" else value)
        yield from _rows(answers, {**request, "conversation": conversation}, further)


def _batch(item: Row, _: int) -> Iterator[Row]:
    """A row for each answer in a line of a batch's output, of OpenAI or Anthropic."""
    response = _object(item.get("response"), "response")
    result = _object(item.get("result"), "result")
    body = _object(response.get("body") or result.get("message"), "body")
    answers = _answers(body)
    status = response.get("status_code") or 200
    failed = bool(item.get("error")) or status != 200 or not answers
    name = item["custom_id"]
    fields = {"model": body.get("model"), "sample": name}
    yield from _rows(answers, fields, {"custom_id": name}, text_id=name, failed=failed)


def _promptfoo(item: Row, _: int) -> Iterator[Row]:
    response = _object(item.get("response"), "response")
    provider, prompt = item.get("provider"), item.get("prompt")
    if isinstance(provider, dict):
        provider = provider.get("id") or provider.get("label")
    if isinstance(prompt, dict):
        prompt = prompt.get("raw") or prompt.get("label")
    output = response.get("output")
    answers = _answers(output)
    if not answers and output is not None:
        answers = [Turn("assistant", json.dumps(output, ensure_ascii=False))]
    # `error` also says why a test did not pass: 2 is an error, 1 an assertion
    failed = bool(response.get("error")) or item.get("failureReason") == 2 or output is None
    scores = {name: item[name] for name in ("success", "score") if name in item}
    scores |= _object(item.get("namedScores"), "namedScores")
    names = ("vars", "metadata", "promptIdx", "testIdx")
    further = {name: item[name] for name in names if item.get(name) is not None}
    fields = {"model": provider, **_request(prompt), "sample": item.get("testIdx")}
    if response.get("isRefusal"):
        answers = [turn._replace(refused=True) for turn in answers]
    yield from _rows(answers, fields, further, scores, failed=failed)


def _harness(item: Row, _: int) -> Iterator[Row]:
    """A row for each response; of choices that were only scored, the likeliest is the text."""
    arguments = item.get("arguments")
    if isinstance(arguments, dict):  # {"gen_args_0": {"arg_0": context, "arg_1": continuation}}
        pairs = arguments.values()
        arguments = [[*pair.values()] if isinstance(pair, dict) else pair for pair in pairs]
    arguments = [pair for pair in _list(arguments, "arguments") if isinstance(pair, list) and pair]
    responses = [r if isinstance(r, list) else [r] for r in _list(item["resps"], "resps")]
    likelihoods = [_likelihood(response) for response in responses]
    texts = [text for response in responses for text in response if isinstance(text, str)]
    if None not in likelihoods and len(arguments) == len(responses) > 1:
        best = max(range(len(responses)), key=lambda i: likelihoods[i] or 0.0)
        texts = [str(arguments[best][-1]).strip()]
    prompt = arguments[0][0] if arguments else None
    hashes = ("doc_hash", "prompt_hash", "target_hash")
    format_fields = ("arguments", "resps", "filtered_resps", "filter", "metrics", *hashes)
    further = {name: value for name, value in item.items() if name not in format_fields}
    answers = [Turn("assistant", text) for text in texts]
    yield from _rows(answers, {"prompt": prompt, "sample": item.get("doc_id")}, further)


def _likelihood(response: list[Any]) -> float | None:
    """The log-likelihood in [[log-likelihood, whether it is the likeliest]], maybe as words."""
    inner = response[0] if len(response) == 1 and isinstance(response[0], list) else response
    if len(inner) == 2 and str(inner[1]) in ("True", "False"):
        with suppress(TypeError, ValueError):
            return float(inner[0])
    return None


def _inspect(item: Row, _: int) -> Iterator[Row]:
    task, output = _object(item["eval"], "eval"), _object(item.get("output"), "output")
    model = task.get("model")
    if model in (None, "", "none", "none/none"):
        model = output.get("model")
    answers = _answers({"choices": output.get("choices")})
    failed = item.get("error") is not None or item.get("invalidation") is not None or not answers
    scores: dict[str, Any] = {}
    for name, score in _object(item.get("scores"), "scores").items():
        value = score.get("value") if isinstance(score, dict) else score
        parts = value.items() if isinstance(value, dict) else [("", value)]
        scores |= {f"{name}.{part}" if part else name: v for part, v in parts}
    # With the log's own id, as two logs may number their samples alike
    text_id = "/".join(str(part) for part in (task.get("eval_id"), item.get("id"), item["epoch"]))
    fields = {"model": model, **_request(item.get("input")), "sample": item.get("id")}
    fields["epoch"] = item["epoch"]
    further = _object(item.get("metadata"), "metadata")
    yield from _rows(answers, fields, further, scores, text_id, failed)


def _langfuse(item: Row, _: int) -> Iterator[Row]:
    """A row for each trace or generation; other observations hold no answer of a model."""
    if item.get("type", "GENERATION") != "GENERATION":
        return
    format_fields = ("input", "output")
    further = {name: _parsed(value) for name, value in item.items() if name not in format_fields}
    scores: dict[str, Any] = {}
    for score in _list(further.pop("scores", None), "scores"):
        if isinstance(score, dict) and "name" in score:
            scores[str(score["name"])] = score.get("value")
    names = ("model", "providedModelName", "provided_model_name")
    model = next((further[name] for name in names if further.get(name)), None)
    has_failed = item.get("level") == "ERROR"
    answers, fields = _exchange(item.get("input"), item.get("output"))
    yield from _rows(
        answers, {**fields, "model": model}, further, scores, item.get("id"), has_failed
    )


def _langsmith(item: Row, _: int) -> Iterator[Row]:
    """A row for each run that no other run called."""
    if item.get("parent_run_id"):
        return
    further: dict[str, Any] = {}
    for name, value in item.items():  # a table has "inputs.question" where JSON has an object
        head, dot, key = name.partition(".")
        part = further.setdefault(head, {}) if dot else None
        if isinstance(part, dict):
            part[key] = _parsed(value)
        else:
            further[name] = _parsed(value)
    scores = _object(further.pop("feedback", None), "feedback")
    for name, stats in _object(further.pop("feedback_stats", None), "feedback_stats").items():
        scores[name] = stats.get("avg") if isinstance(stats, dict) else stats
    for name in ("reference_outputs", "reference_output", "reference"):
        references = _exchange(None, further.pop(name, None))[0]
        if references and references[0].text:
            further["reference"] = references[0].text
    answers, fields = _exchange(further.pop("inputs", None), further.pop("outputs", None))
    yield from _rows(answers, fields, further, scores, item.get("id"), bool(item.get("error")))


def _is_chat(item: Row) -> bool:
    name = next((name for name in _CHATS if name in item), "")
    messages = _parsed(item.get(name))
    return isinstance(messages, list) and all(isinstance(m, dict) for m in messages[:1])


def _is_batch(item: Row) -> bool:
    if "custom_id" not in item:
        return False
    has_failed = item.get("response") is None and "error" in item
    return isinstance(item.get("response", item.get("result")), dict) or has_failed


def _is_promptfoo(item: Row) -> bool:
    is_test = not {"vars", "testCase", "testIdx"}.isdisjoint(item)
    has_response = isinstance(item.get("response"), dict) or "namedScores" in item
    return is_test and "provider" in item and has_response


_TRACES = {"traceId", "trace_id", "sessionId", "session_id", "bookmarked", "observationCount"}


def _is_langsmith(item: Row) -> bool:
    both = {"inputs", "outputs"} <= item.keys()
    return any(name.startswith("outputs.") for name in item) or (
        both and isinstance(_parsed(item["inputs"]), dict)
    )


FORMS = (
    Form("a log of Inspect AI", lambda item: {"eval", "epoch"} <= item.keys(), _inspect),
    Form("the output of a batch", _is_batch, _batch),
    Form("results of promptfoo", _is_promptfoo, _promptfoo),
    Form(
        "samples of lm-evaluation-harness, of several filters those of the first",
        lambda item: "doc" in item and isinstance(item.get("resps"), list),
        _harness,
        alike="filter",
    ),
    Form("chats, each turn of the assistant a text", _is_chat, _chat),
    Form(
        "an export of Langfuse, of observations the generations",
        lambda item: {"input", "output"} <= item.keys() and not _TRACES.isdisjoint(item),
        _langfuse,
    ),
    Form("an export of LangSmith, the runs that no run called", _is_langsmith, _langsmith),
)
"""Forms of logs, tried in this order."""
