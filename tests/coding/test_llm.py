import json
import re
from collections import Counter

import pytest

from coding.coded import CODES, book, code_all, random_codes, small_project
from portrayal.coding import CodingItem, make_project, project_labels
from portrayal.coding.llm import code_by_model, coder_notes, coder_prompt, rater_of, read_answer
from portrayal.collect.ask.asking import Asking
from portrayal.errors import OptionError
from portrayal.raters import Codebook, CodebookQuestion
from servers.openai_server import OpenAIServer

STORY = "Maria, who had “just moved” here,\nlistened. John's patience saved her."


def said(answer, text=STORY):
    removed = Counter()
    return read_answer(answer, text, book(), removed), removed


def answer(*codes):
    return json.dumps({"codes": [{"code": code, "passage": words} for code, words in codes]})


def test_the_prompt_holds_the_codebook_and_the_story():
    item = CodingItem("a", STORY + " {not} a field")
    prompt = coder_prompt(book(), item)
    assert item.text in prompt.text
    for key in CODES:
        assert f"- {key}: {key.title()}. What {key} means." in prompt.text
    assert prompt.prompt_id != coder_prompt(book(), CodingItem("a", STORY)).prompt_id


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


def test_a_model_codes_a_project_and_is_no_human_rater(tmp_path):
    project = small_project(tmp_path / "p", 6)
    code_all(project, "a", random_codes(project, 1))

    def write(text, _):
        return answer(("foreigner", "just moved here")) if "Maria" in text else answer()

    with OpenAIServer(render=model_says(write)) as server:
        result = code_by_model(project, asking(server))
        assert code_by_model(project, asking(server)).rater == result.rater
        assert server.requests == 6
    assert (result.n_items, result.n_coded, dict(result.failed)) == (6, 6, {})
    codes = project_labels(project)
    assert codes.of("human").raters == ("a",)
    assert codes.of("llm").raters == ("server:test-model",)
    given = [d for d in codes.of("llm").rows if d.value == "1"]
    assert [(d.text_id, d.field) for d in given] == [(f"t{i}", "foreigner") for i in (0, 2, 4)]
    assert given[0].note == "foreigner: “just moved here”"


def test_more_than_half_of_the_answers_decide_and_failures_are_counted(tmp_path):
    project = small_project(tmp_path / "p", 4)

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
        result = code_by_model(project, asking(server, 3))
    given = {d.text_id for d in project_labels(project).rows if d.value == "1"}
    assert given == {"t0"}  # of story 3 one of two usable answers says so, which is not more
    assert dict(result.failed) == {"t2": "3 malformed"}
    assert dict(result.unusable) == {"malformed": 4}
    assert dict(result.removed) == {"passage not in the text": 1}
    assert {d.text_id for d in project_labels(project).rows} == {"t0", "t1", "t3"}
    (note,) = coder_notes(project)
    assert (note["n_items"], note["n_coded"], note["n_failed"]) == (4, 3, 1)


def test_a_codebook_without_codes_is_refused(tmp_path):
    fields = Codebook("f", "F", "", (CodebookQuestion("name", "Name", kind="text"),))
    project = make_project(tmp_path / "p", [CodingItem("a", STORY)], fields)
    with pytest.raises(OptionError, match="no codes"):
        code_by_model(project, Asking("server:m", base_url="http://127.0.0.1:9/v1"))


def test_long_names_of_models_stay_apart():
    names = {rater_of("server:" + "m" * 80 + end) for end in "ab"}
    assert len(names) == 2
    assert all(len(name) <= 60 for name in names)
