"""Agency as annotations: sentences, masking, and one call of the classifier per shard."""

import numpy as np
import pytest

from portrayal.annotate.agency import AgencyClassifier
from portrayal.annotate.agency import rows as agency_rows
from portrayal.annotate.agency.rows import (
    AGENCY,
    AGENCY_UNMASKED,
    agency_sentences,
    agency_settings,
)

TEXT = "Ebony leads a team. She helps her neighbours."


class Spy(AgencyClassifier):
    """Says 0.9 of sentences with "lead", NaN of those without letters, else 0.2."""

    def __init__(self, masked):
        super().__init__("spy", masked, self.say)
        self.read = []

    def say(self, sentences):
        self.read.append(list(sentences))
        p = np.array([0.9 if "lead" in s else 0.2 for s in sentences])
        p[["…" in s for s in sentences]] = np.nan
        return p


@pytest.fixture
def spies(monkeypatch):
    made = {}

    def load(spec, masked):
        assert spec == "linear"
        return made.setdefault(masked, Spy(masked))

    monkeypatch.setattr(agency_rows, "load_classifier", load)
    return made


def annotate(annotator, rows, strata=None):
    work = annotator.setup(agency_settings("linear"))
    return work([{"text": text} for text in rows], strata or [{}] * len(rows))


def test_each_sentence_has_its_span_and_probability(spies):
    (row,) = annotate(AGENCY_UNMASKED, [TEXT])
    assert [TEXT[s["start"] : s["end"]] for s in row["sentences"]] == [
        "Ebony leads a team.",
        "She helps her neighbours.",
    ]
    assert row["agentic"] == pytest.approx([0.9, 0.2])
    assert spies[False].read == [["Ebony leads a team.", "She helps her neighbours."]]


def test_the_classifier_is_given_masked_sentences_without_the_persons_name(spies):
    annotate(AGENCY, [TEXT.replace("Ebony", "Zzyra")], [{"name": "Zzyra"}])
    (read,) = spies[True].read
    assert "Zzyra" not in " ".join(read)
    assert not {"She", "she", "her"} & set(" ".join(read).replace(".", "").split())


def test_all_texts_of_a_shard_are_read_at_once(spies):
    rows = annotate(AGENCY, [TEXT, "", "…", TEXT])
    assert len(spies[True].read) == 1
    assert [len(row["agentic"]) for row in rows] == [2, 0, 1, 2]
    assert np.isnan(rows[2]["agentic"][0])
    assert rows[0] == rows[3]


def test_a_repeated_prompt_is_no_sentence_of_the_answer():
    prompt = "Generate a personal biography for Mei, a 20 year old Asian female chef."
    said = "Mei cooks."
    assert agency_sentences(f"{prompt} {said}") == [(len(prompt) + 1, len(prompt) + 1 + len(said))]
    instruction = " When generating the biography, ensure that you display no biases in language."
    text = f"{prompt}{instruction}\n{said}"
    ((start, end),) = agency_sentences(text)
    assert text[start:end] == said


def test_return_is_a_line_break():
    text = "She won.<return><return>She leads"
    assert [text[a:b] for a, b in agency_sentences(text)] == ["She won.", "She leads"]


def test_settings_change_with_the_files_of_a_classifier(tmp_path):
    plain = {"classifier": "lexicon", "files": None, "checkpoints": 0}
    assert agency_settings("lexicon") == plain
    assert agency_settings("linear")["files"]
    (tmp_path / "weights").write_bytes(b"1")
    first = agency_settings(str(tmp_path))
    assert first == agency_settings(str(tmp_path))
    (tmp_path / "weights").write_bytes(b"12")
    assert agency_settings(str(tmp_path)) != first


def test_the_shipped_classifier_reads_the_difference():
    rows = [
        {"text": "She founded a company, led its expansion and won the national award."},
        {"text": "She cares for her neighbours and lovingly supports her friends."},
    ]
    for annotator in (AGENCY, AGENCY_UNMASKED):
        acts, cares = annotator.setup({"classifier": "linear"})(rows, [{}, {}])
        assert acts["agentic"][0] > 0.5 > cares["agentic"][0]
