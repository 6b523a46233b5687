"""Whom to ask: refused before anything is read, and a folder for each model and its parameters."""

import pytest

from annotate.people.labeler.conftest import story
from portrayal.annotate.people.labeler.answer import label_prompt
from portrayal.annotate.people.shared.model import Roles
from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.replies import ask_replies
from portrayal.errors import PortrayalError


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"model": "gpt-5"}, "SERVICE:MODEL"),
        ({"model": "openai:"}, "SERVICE:MODEL"),
        ({"model": ":gpt-5"}, "SERVICE:MODEL"),
        ({"model": "nobody:gpt-5"}, "nobody"),
        ({"model": "server:m", "samples": 0}, "samples"),
        ({"model": "server:m", "samples": 1.5}, "samples"),
        ({"model": "server:m", "concurrency": 0}, "concurrency"),
        ({"model": "server:m", "budget": "a lot"}, "budget"),
        ({"model": "server:m", "price": "cheap"}, "price"),
    ],
)
def test_what_cannot_be_asked_is_refused(given, words):
    with pytest.raises(PortrayalError, match=words):
        Asking(**given)


def test_a_folder_for_each_model_and_parameters_and_nothing_else():
    first = Asking("openai:ft:gpt-4.1:org/x", 3).folder_name
    assert first.startswith("openai-ft-gpt-4.1-org-x-")
    assert "/" not in first
    same = Asking("openai:ft:gpt-4.1:org/x", 5, budget="1M tokens", base_url="http://h/v1")
    assert same.folder_name == first
    other = Asking("openai:ft:gpt-4.1:org/x", 3, parameters={"temperature": 0})
    assert other.folder_name != first
    assert Asking("server:../../etc").folder_name.startswith("server-..-..-etc")


def test_answers_are_read_by_prompt_in_order_of_sample(asking, labeler, tmp_path):
    roles = Roles("teacher", "student")
    prompts = [label_prompt(story(i), roles) for i in (0, 1, 0)]
    replies = ask_replies(asking, prompts, tmp_path / "l")
    assert labeler.asked.total() == 4
    assert {name: [reply.outcome for reply in of] for name, of in replies.items()} == {
        prompt.prompt_id: ["ok", "ok"] for prompt in prompts
    }


def test_no_prompts_make_no_folder(asking, tmp_path):
    assert ask_replies(asking, [], tmp_path / "l") == {}
    assert not (tmp_path / "l").exists()
