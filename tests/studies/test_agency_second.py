"""A better classifier on a sample of the sentences: two-phase, and what the record says of it."""

import numpy as np
import pytest

import portrayal
from portrayal.errors import OptionError
from portrayal.measure.agency.sentences import BARE
from portrayal.records import BASIS
from portrayal.report import answer_lines, correction_lines
from portrayal.report.findings import facts_of
from portrayal.report.view import View
from portrayal.run.directory import read_shards
from portrayal.studies.agency.audit import AgencyOptions

SAID = (
    "They led the team to victory.",
    "They founded a company and won.",
    "They are warm and kind to all.",
    "They help their friends with love.",
    "They lead a group that cares for children.",
    "They support strong families.",
    "They walked to the market in the rain.",
)
FAST = {"draws": 100, "permutations": 20, "report": False}
BY = "corrected by linear-lac.v1"


def texts(n: int = 120) -> list[dict[str, str]]:
    rng, rows = np.random.default_rng(4), []
    for i in range(n):
        chance = np.array([3, 3, 2, 2, 1, 1, 1]) if i % 3 else np.array([1, 1, 3, 3, 2, 2, 1])
        said = rng.choice(SAID, size=int(rng.integers(2, 7)), p=chance / chance.sum())
        rows.append({"text_id": f"t{i}", "gender": "FM"[i % 3 > 0], "text": " ".join(said)})
    return rows


def audited(folder, name, **options):
    given = {"by": ("gender",), "classifier": "untaught", **FAST, **options}
    return portrayal.audit(texts(), study="agency", out=folder / name, **given)


def values(run, measure, *, corrected):
    return {
        (e.statistic, *e.group.values()): e
        for e in run.records
        if e.measure == measure and e.corrected == corrected and e.strata["masking"] == "masked"
    }


def sample_of(run):
    """Text and place of every sentence that was drawn."""
    stage = run.annotations("agency.v1"), ["beside"]
    return {
        (text_id, i)
        for names, read in read_shards(run.texts, ["text_id"], stage)
        for text_id, said in zip(
            names["text_id"].to_pylist(), read["beside"].to_pylist(), strict=True
        )
        for i, p in enumerate(said)
        if p is not None
    }


def test_where_all_sentences_are_read_again_the_number_is_the_better_classifiers(tmp_path):
    run = audited(tmp_path, "two", correct_by="linear", correct_sentences=100_000)
    alone = audited(tmp_path, "one", classifier="linear")
    for measure in ("agency_share.v1", "agency_gap.v1"):
        wanted = values(alone, measure, corrected=False)
        found = values(run, measure, corrected=True)
        assert found
        for key, e in found.items():
            assert e.strata[BASIS] == BY
            assert e.value == pytest.approx(wanted[key].value)
            assert e.details["naive"] == values(run, measure, corrected=False)[key].value
    (gap,) = values(run, "agency_gap.v1", corrected=True).values()
    assert gap.instruments["corrected_by"].endswith("sentences read again")
    assert "hand_labels" not in gap.instruments


def test_a_sentence_is_drawn_by_its_group_alone_and_by_nothing_of_the_machine(tmp_path):
    small = audited(tmp_path, "small", correct_by="linear", correct_sentences=150)
    split = audited(tmp_path, "split", correct_by="linear", correct_sentences=150, shard_rows=7)
    large = audited(tmp_path, "large", correct_by="linear", correct_sentences=300)
    assert sample_of(small) == sample_of(split)
    assert sample_of(small) < sample_of(large)
    stage = small.annotations("agency.v1").note()["settings"]["beside"]
    # A third of the texts are about women, and half of the sample
    assert 1.5 < stage["chance"]["unnamed ·  ·  · F"] / stage["chance"]["unnamed ·  ·  · M"] < 3
    assert 100 < len(sample_of(small)) < 200


def test_the_terminal_and_the_findings_say_who_corrected(tmp_path):
    run = audited(tmp_path, "run", correct_by="linear", correct_sentences=400)
    first, *rest = correction_lines(run)
    assert first.startswith("By linear-lac.v1: ")
    assert "sentences read again; they correct" in first
    assert any("linear-lac.v1 says" in line or "No number moved" in line for line in rest)
    assert not any("people say" in line for line in rest)
    view = View.of(run)
    (gap,) = values(run, "agency_gap.v1", corrected=True).values()
    said = [fact for fact in facts_of(view, gap) if fact.startswith(BY)]
    # A sentence may name the other group first; what was seen before turns with the value
    size = abs(100 * gap.details["naive"])
    sign = "+" if (gap.value or 0.0) * gap.details["naive"] >= 0 else "−"
    assert said == [f"{BY} from {sign}{size:.1f} points"]


def test_what_cannot_correct_is_refused(tmp_path):
    labels = tmp_path / "hand.csv"
    labels.write_text("text_id,unit,field,label,rater\na,1,agency,agentic,ann\n", "utf-8")
    for options in (
        {"correct_by": "llm:openai:m"},
        {"correct_by": "linear", "hand_labels": str(labels)},
    ):
        with pytest.raises(OptionError, match="expected a classifier that runs here, and no"):
            AgencyOptions(**options)
    with pytest.raises(OptionError, match="correct_sentences"):
        AgencyOptions(correct_sentences=0)


def test_texts_that_mostly_say_neither_are_called_so(tmp_path):
    plain = "Read the small print. The paper is short. The museum is closed on Mondays."
    acts = "They led the team to victory. They founded a company and won."
    for name, said, share in (("advice", plain, 1.0), ("lives", acts, 0.0)):
        rows = [{"user": "MF"[i % 2], "text": said} for i in range(40)]
        run = portrayal.audit(rows, study="agency", by="user", out=tmp_path / name, **FAST)
        (e,) = (
            e
            for e in run.records
            if e.statistic == "agentic" and not e.group and e.strata["masking"] == "masked"
        )
        assert e.details[BARE] == share
        lines = [line for line in answer_lines(run) if "most likely say neither" in line]
        assert len(lines) == int(share)
        assert all("100\u00a0% of the sentences hold no word" in line for line in lines)
