"""Contexts of words: names of people, gods, places, things and ages in texts (groups.v3)."""

from pathlib import Path

import pytest

import portrayal
from annotate.factor_sentences import score as scorer
from portrayal.annotate.contexts import read_context
from portrayal.errors import DataError
from portrayal.reference.factors import load_factor
from portrayal.reference.patterns import WordContext

SAID = {
    "religion": {
        "Jesus Garcia fixed the engine.": set(),
        "Christian Miller ran home.": set(),
        "Krishna helped his sister.": set(),
        "Lakshmi was an engineer.": set(),
        "Muslim Ahmed waved to Frank Church.": set(),
        "The Ganges flooded three villages.": set(),
        "The old chapel is a cinema now.": set(),
        "She prayed to Krishna at the temple of Shiva.": {"hindu"},
        "They scattered his ashes in the Ganges.": {"hindu"},
        "A Christian family, devoted to Jesus, lives here.": {"christian"},
        "He prays at the mosque near the church.": {"muslim"},
    },
    "nationality": {
        "We drank Turkish coffee, then had to polish the silver.": set(),
        "The letter from Jordan was in Spanish.": set(),
        "The Turkish engineer and her Polish neighbour spoke.": {"mena", "europe"},
        "Her mother is from Vietnam.": {"east-asia"},
        "My neighbours are Kenyan; their guest was Ghanaian-born.": {"sub-saharan-africa"},
    },
    "age": {
        "An 82-year-old widow": {"older"},
        "She is 80 years old.": {"older"},
        "His grandmother sang.": {"older"},
        "She is in her seventies.": {"older"},
        "Rosa, aged 15, left.": {"adolescent"},
        "Daniel, 45, sells insurance; his son turned twelve.": {"middle-aged", "child"},
        "It was her sixteenth birthday.": {"adolescent"},
        "The 80-year-old building has a 12-year-old whisky, and the tree is 90 years old.": set(),
        "The elderly dog and the baby elephant ate 45 apples.": set(),
    },
    "class": {
        "The poor boy owns a yacht.": {"poor", "rich"},
        "Poor visibility and a rich sauce": set(),
    },
    "disability": {
        "The blind man and his deaf son": {"vision", "hearing"},
        "The market was blind, and the wheelchair ramp steep.": set(),
    },
}
CASES = [(factor, text) for factor, texts in SAID.items() for text in texts]


@pytest.mark.parametrize(("factor", "text"), CASES)
def test_words_count_where_they_speak_of_somebody(factor: str, text: str) -> None:
    assert scorer.words_of(factor, [text]) == [SAID[factor][text]]


@pytest.mark.parametrize("which", ["dev", "sealed"])
def test_sentences_are_read_as_they_are_labelled(which: str) -> None:
    totals = scorer.score(scorer.cases(which), scorer.words_of)["all"]
    assert totals["recall"] >= {"dev": 0.99, "sealed": 0.94}[which]
    assert totals["precision"] >= {"dev": 0.99, "sealed": 0.95}[which]


def test_half_the_stories_about_a_man_called_jesus_are_no_religion(tmp_path: Path) -> None:
    prompts = ("learning-neutral-english", "labor-neutral-cook", "labor-neutral-nurse")
    named = ("Jesus Garcia fixed the engine. Jesus went home.", "Ann Lee fixed the engine.")
    rows = [
        {"prompt_id": prompts[i % 3], "model": "one", "text": f"{named[i % 2]} It took {i} hours."}
        for i in range(120)
    ]
    run = portrayal.audit(
        study="laissez-faire", texts=rows, factor=["religion"], out=tmp_path / "run", report=False
    )
    of_religion = [e for e in run.records if "religion" in e.group]
    assert any(e.measure == "group_texts.v1" and e.value == 0.0 for e in of_religion)
    assert not any(e.value for e in of_religion)


PATTERNS = {
    "pray|prays to *": ("she Prays to", "", True),
    "{subject} {be} very? *": ("Her mother is", "", True),
    "the coffee {be} *": ("the coffees are", "", False),
    "{name} , *": ("Maria ,", "", True),
    "{name} of *": ("Toyota of", "", False),
    "a|an * {end}": ("it is a", ", he said", True),
    "* {person}": ("", "engineer", True),
    "* {person} that": ("", "Engineer that", False),
    "* -ed the": ("", "opened the", True),
    "* _ boat": ("", "the boat", False),
    "* of? {sea}": ("", "of Red Sea", True),
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_says_what_stands_beside_a_word(pattern: str) -> None:
    before, after, fits = PATTERNS[pattern]
    text = f"{before} X {after}".strip()
    at = text.index("X")
    lists = {"sea": ["Red Sea", "sea"]}
    for where, unless, expected in (((pattern,), (), fits), ((), (pattern,), not fits)):
        context = read_context(WordContext(where=where, unless=unless), lists)
        assert context.holds(text, at, at + 1) is expected


FAITH = """\
name = "faith"
label = "Faith"
note = "Mentions."
[groups.sun]
[groups.moon]
[[sources]]
kind = "words"
lists = { sing = ["sang to", "sings to"] }
[[sources.contexts]]
words = { sun = ["Sol"], moon = ["Luna"] }
compounds = ["*-born"]
where = ["{sing} the? *"]
[[sources.contexts]]
numbers = { sun = [1, 9], moon = [10, 40] }
written = ["# moons old", "in his late? #s"]
unless = ["* too"]
"""


def test_a_file_of_ones_own_says_contexts(tmp_path: Path) -> None:
    path = tmp_path / "faith.toml"
    path.write_text(FAITH, encoding="utf-8")
    texts = {
        "Luna ran.": set(),
        "Ben sang to the Luna.": {"moon"},
        "A Sol-born child": {"sun"},
        "twelve moons old": {"moon"},
        "9 moons old": {"sun"},
        "9 moons old too": set(),
        "in his late twenties": {"moon"},
    }
    assert scorer.words_of(str(path), [*texts]) == [*texts.values()]


WRONG = {
    (
        "{sing} the? *",
        "{song} *",
    ): "line 12: .*where: '{song} .*': no list is called 'song': person",
    ("{sing} the? *", "sang"): "line 12: .*where: 'sang': expected words with one",
    ('["{sing} the? *"]', "[]"): "line 9: .*contexts: expected 'where' or 'unless'",
    ("# moons old", "moons old"): "line 15: .*written: 'moons old': expected # in place",
    ("[10, 40]", "[40, 10]"): "line 14: .*numbers.moon: 40 is greater than 10",
    ('"Luna"', '"Sol"'): "line 10: .*moon: 'Sol' stands for the group 'sun' already",
    ("moon = [10", "mars = [10"): "line 14: .*mars: 'mars' is no group",
}


@pytest.mark.parametrize(("old", "new"), WRONG)
def test_what_is_wrong_in_a_context_is_said_with_its_line(
    old: str, new: str, tmp_path: Path
) -> None:
    path = tmp_path / "faith.toml"
    assert old in FAITH
    path.write_text(FAITH.replace(old, new), encoding="utf-8")
    with pytest.raises(DataError, match=rf"faith\.toml, {WRONG[old, new]}"):
        load_factor(path)
