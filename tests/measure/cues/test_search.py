"""Finding cues: where they are, whom they describe, and what was left out."""

from pathlib import Path

import pytest

from measure.cues.stories import stories, story_run
from portrayal.collect.corpus import file_corpus, run_corpus
from portrayal.errors import DataError
from portrayal.measure.cues.lists import cue_list, cues_of
from portrayal.measure.cues.search import described, find_cues, role_of, unread_texts
from portrayal.run import Run


def test_mentions_have_their_place_and_role(tmp_path: Path) -> None:
    run = story_run(tmp_path / "run")
    hits = find_cues(run_corpus(run), cue_list())
    readable = stories()[:-3]
    assert hits.n_readable == len(readable)
    assert len(hits.mentions) == sum("Navajo" in row["text"] for row in readable)
    for mention in hits.mentions:
        text = readable[int(mention.text_id)]["text"]
        assert text[mention.start : mention.end] == mention.found == "Navajo"
        assert text.startswith(mention.before + mention.found, text.index(mention.before))
        assert mention.before + mention.found + mention.after in text
        assert (mention.slot, mention.role) == ("object", "subordinate")


def test_a_file_without_people_says_elsewhere_and_counts_outcomes(tmp_path: Path) -> None:
    import json

    path = tmp_path / "stories.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in stories()))
    hits = find_cues(file_corpus(path), cue_list())
    assert {mention.slot for mention in hits.mentions} == {"elsewhere"}
    by_outcome: dict[str, int] = {}
    for (_, _, outcome), n in hits.texts.items():
        by_outcome[outcome] = by_outcome.get(outcome, 0) + n
    assert by_outcome == {"ok": 37, "refused": 1, "empty": 2}


def test_nothing_depends_on_the_shards(tmp_path: Path) -> None:
    found = []
    for rows in (3, 100):
        run = story_run(tmp_path / str(rows), shard_rows=rows)
        hits = find_cues(run_corpus(run), cue_list())
        found.append((hits.mentions, hits.texts))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("text", "subject", "object_", "expected"),
    [
        ("Dale, a Native American, met Jon.", [(0, 4)], [(29, 32)], "subject"),
        ("Jon met Dale. A Native American book lay there.", [(0, 3)], [(8, 12)], "elsewhere"),
        ("The Native American elder smiled at him.", [(36, 39)], [(0, 25)], "object"),
        ("He (Native American), and she", [(0, 2)], [(26, 29)], "subject"),
        ("Ann Native American Bob", [(0, 3)], [(20, 23)], "elsewhere"),
        (
            "Native American art is what the doctor in the other town likes.",
            [(28, 38)],
            [],
            "subject",
        ),
        (
            "Native American art is, as one hears in many towns, liked by her.",
            [(61, 64)],
            [],
            "elsewhere",
        ),
    ],
)
def test_whom_a_mention_describes(text, subject, object_, expected) -> None:
    start = text.index("Native")
    spans = {"subject": subject, "object": object_}
    assert described(text, start, start + len("Native American"), spans) == expected


def test_roles_follow_the_prompt() -> None:
    assert role_of("subject", "power-laden") == "dominant"
    assert role_of("object", "power-laden") == "subordinate"
    assert role_of("object", "power-neutral") == "neutral"
    assert role_of("elsewhere", "power-laden") == "elsewhere"


def test_hostile_texts_are_only_texts() -> None:
    rows = [
        {"text": "<script>gay</script> \u202egay\u202c " + "gay" * 50_000},
        {"text": "ga\u0000y and gay\ud800 gay"},
        {"text": None},
    ]
    hits = find_cues(file_corpus(rows[:1] + rows[2:]), cues_of(["gay"]))
    assert [m.found for m in hits.mentions] == ["gay", "gay"]


def test_a_run_without_texts_says_so(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.write_settings({})
    with pytest.raises(DataError, match="no texts yet"):
        run_corpus(run)


def test_a_long_list_finds_what_a_short_one_does() -> None:
    terms = [f"term{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(100)]
    text = f"A {terms[3]} met a {terms[71]}s, then {terms[3]} {terms[99]}; the {terms[5]}x left."
    rows = [{"text": text}, {"text": f"only {terms[50]}"}, {"text": "none"}]
    hits = find_cues(file_corpus(rows), cues_of(terms))
    found = [(m.text_id[-1], m.cue.term) for m in hits.mentions]
    assert found == [
        ("0", terms[3]),
        ("0", terms[71]),
        ("0", terms[3]),
        ("0", terms[99]),
        ("1", terms[50]),
    ]


def test_terms_that_ship_are_not_looked_for_in_other_languages() -> None:
    texts = ("She said that her mother was a Navajo weaver.", "Su madre era una tejedora navajo.")
    rows = [{"text": text, "prompt": "p"} for text in (*texts, "Ella vivía con su abuela en casa.")]
    shipped = find_cues(file_corpus(rows), cue_list())
    assert (shipped.n_readable, len(shipped.mentions)) == (1, 1)
    assert unread_texts(shipped.texts) == {"not in English": 2}
    own = find_cues(file_corpus(rows), cues_of(["navajo"]))
    assert (own.n_readable, len(own.mentions)) == (3, 2)
