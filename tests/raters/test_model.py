import json
import re
from collections import Counter

import pytest

from portrayal.collect.ask.asking import Asking
from portrayal.errors import OptionError
from portrayal.raters.labels import read_labels
from portrayal.raters.model import label_by_model, model_prompt, read_answer
from portrayal.raters.sheets import Codebook, CodebookQuestion, SheetItem, write_sheets
from raters.coded import CODES, book, items
from servers.openai_server import OpenAIServer

STORY = "Maria, who had “just moved” here,\nlistened. John's patience saved her."


def said(answer, text=STORY):
    removed = Counter()
    return read_answer(answer, text, book(), removed), removed


def answer(*codes):
    return json.dumps({"codes": [{"code": code, "passage": words} for code, words in codes]})


def test_the_prompt_holds_the_codebook_and_the_story():
    text = STORY + " {not} a field"
    prompt = model_prompt(book(), text)
    assert text in prompt.text
    for key in CODES:
        assert f"- {key}: {key.title()}. What {key} means." in prompt.text
    assert prompt.prompt_id != model_prompt(book(), STORY).prompt_id


def test_a_code_needs_a_passage_of_the_text():
    given = answer(("savior", "John's patience  SAVED her"), ("foreigner", "from Mexico"))
    assert said(given) == (
        {"savior": "John's patience SAVED her"},
        {"passage not in the text": 1},
    )
    curly, _ = said(answer(("foreigner", 'had "just moved" here, listened')))
    assert set(curly) == {"foreigner"}


@pytest.mark.parametrize(
    ("reply", "given", "removed"),
    [
        ('{"codes": []}', set(), {}),
        ("```json\n" + answer(("Savior", "saved her")) + "\n```", {"savior"}, {}),
        (answer(("hero", "saved her")), set(), {"not a code of the codebook": 1}),
        (answer(("savior", "")), set(), {"without a passage": 1}),
        ('{"codes": ["savior"]}', set(), {"without a passage": 1}),
        ("{'codes': [{'code': 'savior', 'passage': 'saved her',}]}", {"savior"}, {}),
    ],
)
def test_answers_are_read_leniently(reply, given, removed):
    passages, out = said(reply)
    assert (set(passages), out) == (given, removed)


@pytest.mark.parametrize("reply", ["", "I cannot code this.", "[]", '{"result": 1}', '{"codes":'])
def test_an_answer_without_a_list_is_unusable(reply):
    assert said(reply)[0] is None


def model_says(write):
    """Answers of the local server: `write` takes the story and how often it was asked before."""
    asked = {}

    def render(path, body, kind):
        prompt = body["messages"][-1]["content"]
        text = re.search(r"<story>\n(.*)\n</story>", prompt, re.S).group(1)
        asked[text] = asked.get(text, -1) + 1
        message = {"role": "assistant", "content": write(text, asked[text])}
        return {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [
                {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
            ],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        }

    return render


def asking(server, samples=1):
    return Asking("server:test-model", samples=samples, base_url=server.base_url)


def test_a_model_labels_beside_the_sheets_and_is_no_human_rater(tmp_path):
    write_sheets(items(6), book(), tmp_path, ["ann"])

    def write(text, _):
        return answer(("foreigner", "just moved here")) if "Maria" in text else answer()

    with OpenAIServer(render=model_says(write)) as server:
        result = label_by_model(tmp_path, asking(server))
        assert label_by_model(tmp_path, asking(server)) == result
        assert server.requests == 6
    assert result.path == tmp_path / "server-test-model.csv"
    assert (result.n_texts, result.n_labelled, dict(result.failed)) == (6, 6, {})
    labels = read_labels(result.path)
    assert labels.of("human").rows == ()
    assert labels.raters == ("server:test-model",)
    assert len(labels.rows) == 6 * len(CODES)
    given = [row for row in labels.rows if row.value == "1"]
    assert [(row.text_id, row.field) for row in given] == [
        (f"t{i}", "foreigner") for i in (0, 2, 4)
    ]
    assert (given[0].note, given[0].prompt_id) == ("“just moved here”", "p0")


def test_more_than_half_of_the_answers_decide_and_failures_are_counted(tmp_path):
    write_sheets(items(4), book(), tmp_path, [])

    def write(text, before):
        number = int(re.search(r"Tale (\d)", text).group(1))
        yes, no = answer(("savior", "ended well")), answer()
        return {
            0: [yes, yes, no],
            1: [yes, no, no],
            2: ["What?", "No.", "Why?"],
            3: [yes, "What?", answer(("savior", "they married"))],
        }[number][before]

    with OpenAIServer(render=model_says(write)) as server:
        result = label_by_model(tmp_path, asking(server, 3))
    rows = read_labels(result.path).rows
    # Of story 3 one of two usable answers says so, which is not more
    assert {row.text_id for row in rows if row.value == "1"} == {"t0"}
    assert dict(result.failed) == {"t2": "3 malformed"}
    assert dict(result.unusable) == {"malformed": 4}
    assert dict(result.removed) == {"passage not in the text": 1}
    assert {row.text_id for row in rows} == {"t0", "t1", "t3"}


def test_a_codebook_without_codes_is_refused(tmp_path):
    fields = Codebook("f", "F", "", (CodebookQuestion("name", "Name", kind="text"),))
    write_sheets([SheetItem("a", STORY)], fields, tmp_path, [])
    with pytest.raises(OptionError, match="no codes"):
        label_by_model(tmp_path, Asking("server:m", base_url="http://127.0.0.1:9/v1"))
