"""A language model as agency classifier: limits, what is kept, and what is told before."""

import json
from collections import Counter

import numpy as np
import pytest

import portrayal
from command import invoke
from portrayal.annotate.agency.rows import classifying_of
from portrayal.collect.ask.limits import Retry
from portrayal.collect.ask.provider import Answer, RejectedError, StopError, TryAgainError, Usage
from portrayal.errors import OptionError, PortrayalError

QUICK = Retry(attempts=2, first_wait=0.0, longest_wait=0.0)
ROWS = [
    {"text": text, "prompt_id": f"p{i}", "model": "m", "gender": "female" if i % 2 else "male"}
    for i, text in enumerate(
        ["She led a firm. He cares for us.", "They led a firm.", "We led. It is odd."] * 4
    )
]
FAST = {"draws": 100, "permutations": 20, "by": ("gender",), "report": False}


class Model:
    """Says "agentic" of what was led, "communal" of who cares, and else nothing that counts."""

    name, parameters = "server:m", {"temperature": 0.0}

    def __init__(self, troubles=None, stop_after=None):
        self.asked, self.troubles, self.stop_after = Counter(), troubles or {}, stop_after

    async def ask(self, prompt):
        if self.stop_after is not None and self.asked.total() >= self.stop_after:
            raise StopError("the key was withdrawn")
        self.asked[prompt] += 1
        for word, error in self.troubles.items():
            if word in prompt.splitlines()[-1]:
                raise error
        text = "agentic" if " led" in prompt else "communal" if " cares" in prompt else "hm"
        return Answer(text, usage=Usage(50, 2))

    async def close(self):
        pass


def audit(out, model, settings=None, **options):
    given = {"provider": model, "retry": QUICK, **(settings or {})}
    return portrayal.audit(
        study="agency",
        texts=ROWS,
        out=out,
        classifier="llm:server:m",
        llm_settings=given,
        **(FAST | options),
    )


def said(run, name="agency.v1"):
    return run.annotations(name).note()["settings"]["asked"]["said"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A model that was asked, the run of the audit, and what the audit said."""
    model, lines = Model(), []
    return model, audit(tmp_path_factory.mktemp("whole") / "r", model, say=lines.append), lines


def test_numbers_depend_on_neither_workers_nor_shards(whole, tmp_path):
    two = audit(tmp_path / "b", Model(), workers=2, shard_rows=3)
    assert [repr(e) for e in whole[1].records] == [repr(e) for e in two.records]


def test_an_audit_asks_every_different_sentence_once(whole):
    model, run, lines = whole
    assert set(model.asked.values()) == {1}
    assert len(model.asked) == 6  # 5 as they stand; masked, "She led" is another one of them
    assert said(run) == {"agentic": 2, "communal": 1, "malformed": 1}
    assert any(
        "4 different sentences of agency.v1: 2 agentic, 1 communal, 1 malformed" in x for x in lines
    )
    gap = [e for e in run.records if e.measure == "agency_share.v1" and not e.undefined]
    assert gap
    again = audit(run.path, model, level=0.9)
    assert model.asked.total() == 6
    assert again.annotations("agency.v1").note() == run.annotations("agency.v1").note()


def test_what_was_answered_before_a_stop_is_not_asked_again(tmp_path):
    first, second = Model(stop_after=3), Model()
    with pytest.raises(StopError):
        audit(tmp_path / "r", first, {"concurrency": 1})
    assert first.asked.total() == 3
    run = audit(tmp_path / "r", second)
    assert not first.asked.keys() & second.asked.keys()
    assert first.asked.total() + second.asked.total() == 6
    assert said(run) == {"agentic": 2, "communal": 1, "malformed": 1}


def test_failures_are_counted_and_asked_again_but_refusals_are_not(tmp_path):
    troubles = {
        "It is odd": TryAgainError("server", "busy"),
        "We led": RejectedError("blocked", refused=True),
    }
    run = audit(tmp_path / "r", Model(troubles))
    assert said(run) == {"agentic": 1, "communal": 1, "failed": 1, "refused": 1}
    later = Model()
    again = audit(tmp_path / "r", later)
    assert [p.splitlines()[-1][-10:] for p in later.asked] == ["It is odd."]
    assert said(again) == {"agentic": 1, "communal": 1, "refused": 1, "malformed": 1}


def test_a_budget_stops_and_the_rest_is_counted(tmp_path):
    limits = {"budget": "160 tokens", "concurrency": 1, "parameters": {"max_tokens": 10}}
    model = Model()
    model.parameters = {"temperature": 0.0, "max_tokens": 10}
    run = audit(tmp_path / "r", model, limits)
    assert 1 <= model.asked.total() < 6
    words = Counter(said(run)) + Counter(said(run, "agency-unmasked.v1"))
    assert 0 < words["not asked"] <= 2 * (6 - model.asked.total())
    none = {**limits, "budget": "10 tokens"}
    with pytest.raises(OptionError, match="does not cover a first answer"):
        audit(tmp_path / "s", model, none)


def test_the_cost_is_told_before_and_may_be_declined(tmp_path):
    told, model = [], Model()

    def confirm(estimate):
        return told.append(estimate) or False

    with pytest.raises(OptionError, match="declined"):
        audit(tmp_path / "r", model, {"confirm": confirm, "price": "1/10"})
    assert not model.asked
    (estimate,) = told
    assert (estimate.model, estimate.requests, estimate.output_tokens) == ("server:m", 6, 240)
    assert estimate.cost == pytest.approx(estimate.input_tokens / 1e6 + 240 * 10 / 1e6)


@pytest.mark.parametrize(
    ("spec", "settings", "words"),
    [
        ("llm:server:m", {}, "llm_settings.base_url"),
        ("llm:gpt-5", {}, "llm:PROVIDER:MODEL"),
        ("llm:nobody:m", {}, "nobody"),
        ("llm:server:m", {"url": "x"}, "no setting 'url'"),
        ("llm:server:m", {"budget": "much"}, "budget"),
        ("llm:server:m", {"budget": "1 USD"}, "price of server:m is unknown"),
    ],
)
def test_options_that_cannot_be_used_are_told_before_a_text_is_read(
    tmp_path, spec, settings, words
):
    pytest.importorskip("openai", reason="needs the extra 'openai'")
    with pytest.raises(PortrayalError, match=words):
        portrayal.audit(
            study="agency",
            texts=ROWS,
            out=tmp_path / "r",
            classifier=spec,
            llm_settings=settings,
            **FAST,
        )
    assert not (tmp_path / "r" / "texts").exists()


def test_a_classifier_in_hand_keeps_its_answers(tmp_path):
    first, second = Model(), Model()
    for model in (first, second):
        asked = classifying_of("llm:server:m:zero-shot", {"provider": model, "retry": QUICK})
        found = asked.classifier(tmp_path, masked=False)(["We led.", "It is.", "We led."])
        assert np.array_equal(found[:, 1], [1.0, np.nan, 1.0], equal_nan=True)
    assert (first.asked.total(), second.asked.total()) == (2, 0)


def test_an_address_is_for_servers_only():
    assert classifying_of("linear", {"base_url": "http://x"}) is None
    given = {"base_url": "http://x/v1"}
    assert classifying_of("llm:openai:m", given).asking.base_url is None
    assert classifying_of("llm:server:m", given).asking.base_url == "http://x/v1"


def test_the_command_line_refuses_what_says_nothing(tmp_path):
    gold = tmp_path / "gold.csv"
    gold.write_text("text,label\nThey led.,1\nThey care.,0\n")
    scored = ("score", "agency", "--hand-labels", str(gold))
    for arguments, words in (
        ((*scored, "--classifier-budget", "1 USD"), "--classifier-budget says nothing"),
        ((*scored, "--classifier", "llm:openai:m"), "give --out"),
    ):
        done = invoke(*arguments)
        assert done.exit_code == 2
        assert words in done.stderr


def test_notes_hold_no_address_and_no_path(whole):
    run = whole[1]
    note = json.dumps(run.annotations("agency.v1").note())
    assert str(run.path.parent) not in note
    (folder,) = (run.path / "answers" / "agency").iterdir()
    assert folder.name.startswith("server-m-")
