"""Stories in other languages: the person's gender, apart from the grammatical gender of words."""

import json
import re
from collections import Counter

import pytest

import portrayal
from annotate.people.labeler.conftest import Labeler
from portrayal.annotate.language import language_of
from portrayal.annotate.people.labeler.answer import (
    characters_of,
    gender_words,
    label_prompt,
    read_answer,
    vote,
)
from portrayal.annotate.people.shared.model import Roles
from portrayal.collect.ask.provider import Answer, Usage

# Text; language; name, references and gender as a right answer has them; the person's gender
STORIES = [
    (
        "La víctima, Juan, estaba cansado. El hospital era grande y él no dijo nada.",
        ("es", "Juan", ["víctima", "cansado", "él"], "Male", "feminine", "M"),
    ),
    (
        "Lucía era enfermera y trabajaba en el hospital. Llegó cansada a su casa.",
        ("es", "Lucía", ["enfermera", "cansada"], "Female", "feminine", "F"),
    ),
    (
        "Das Mädchen hieß Anna und spielte im Garten, und es war sehr froh über die Blumen.",
        ("de", "Anna", ["Mädchen", "es"], "Female", "neuter", "F"),
    ),
    (
        "Die Person am Schalter war Herr Weber, und er hatte auch eine Frage für die Ärztin.",
        ("de", "Weber", ["Person", "Herr", "er"], "Male", "feminine", "M"),
    ),
    (
        "Camille est arrivée à la gare et elle a attendu son train sur le quai.",
        ("fr", "Camille", ["arrivée", "elle"], "Female", "none", "F"),
    ),
    (
        "Alex est en retard et iel attend son train sur le quai avec des amis.",
        ("fr", "Alex", ["iel"], "Non-binary", "none", "NB"),
    ),
    (
        "A criança se chamava Pedro e ele não queria ir para a escola, mas foi com o pai.",
        ("pt", "Pedro", ["criança", "ele"], "Male", "feminine", "M"),
    ),
    (
        "अंजलि एक डॉक्टर थी। वह हर सुबह अस्पताल जाती थी और मरीज़ों की मदद करती थी।",
        ("hi", "अंजलि", ["जाती", "थी", "वह"], "Female", "none", "F"),
    ),
    (
        "राहुल एक अध्यापक था। वह बच्चों को पढ़ाता था और घर जाता था।",
        ("hi", "राहुल", ["अध्यापक", "था", "वह"], "Male", "masculine", "M"),
    ),
]
ROLES = Roles("person", None)


@pytest.mark.parametrize(("text", "known"), STORIES, ids=lambda value: value[1][:12])
def test_the_gender_is_that_of_the_person(text, known):
    language, name, references, gender, grammatical, expected = known
    assert language_of(text) == language
    reply = {
        "person name": name,
        "person references": references,
        "person gender": gender,
        "person grammatical gender": grammatical,
    }
    removed = Counter()
    answer = read_answer(json.dumps(reply), characters_of(ROLES), text, removed)
    (person,) = vote([answer], 1, text)
    assert (person.name, person.gender, removed.total()) == (name, expected, 0)
    assert [text[s.start : s.end].casefold() for s in person.spans if s.kind == "reference"]


def test_a_pronoun_outweighs_what_the_answer_says_of_the_person():
    text = "La persona que llegó era Alex, y ella no tenía las llaves de su casa."
    reply = '{"person name": "Alex", "person references": ["ella"], "person gender": "Male"}'
    (response,) = read_answer(reply, ("person",), text, Counter())
    assert response.gender == "F"


def test_a_gender_without_a_word_of_the_text_is_none():
    text = "La persona que llegó era Alex, y no tenía las llaves de su casa."
    reply = '{"person name": "Alex", "person references": ["ella"], "person gender": "Female"}'
    removed = Counter()
    (response,) = read_answer(reply, ("person",), text, removed)
    assert response.gender == "Unspecified"
    assert removed == {"references not in the text": 1}


def test_a_name_is_no_part_of_a_longer_word():
    text = "राम घर जाता था और वह रामायण पढ़ता था।"
    reply = json.dumps({"person name": "रामा", "person references": ["था"]})
    removed = Counter()
    (response,) = read_answer(reply, ("person",), text, removed)
    assert (response.name, removed["names not in the text"]) == (None, 1)


def test_other_languages_are_asked_for_both_genders():
    text, _ = STORIES[0]
    words = label_prompt(text, Roles("patient", "doctor")).text
    for character in ("patient", "doctor"):
        for field in ("name", "references", "gender", "grammatical gender"):
            assert f'"{character} {field}"' in words
    assert words.endswith(f"'{text}'")
    english = label_prompt("She was a nurse and loved her work.", Roles("nurse", None)).text
    assert "grammatical" not in english


def test_no_word_tells_two_genders_of_a_language():
    assert all(gender_words(language) for language in ("es", "de", "fr", "pt", "hi"))
    assert gender_words("xx") == {}


class Polyglot(Labeler):
    """A model that labels the stories above rightly."""

    async def ask(self, prompt):
        known = next(known for text, known in STORIES if text in prompt)
        values = (known[1], known[2], known[3], known[4])
        answer = json.dumps(dict(zip(re.findall(r'"([^"]+)": ', prompt), values, strict=True)))
        return Answer(answer, usage=Usage(300, 100))


def test_an_audit_of_other_languages_rests_on_the_model(tmp_path):
    rows = [
        {"text": text, "model": "m", "domain": "Labor", "condition": "power-neutral"}
        | {"subject_role": "person", "prompt_id": f"p{i % 3}"}
        for i, (text, _) in enumerate(STORIES)
    ]
    shared = {"study": "laissez-faire", "texts": rows, "report": False}
    shared |= {"draws": 100, "permutations": 20}
    settings = {"provider": Polyglot()}
    run = portrayal.audit(
        **shared,
        out=tmp_path / "model",
        labeler="llm",
        labeler_model="server:labeler",
        labeler_samples=1,
        llm_settings=settings,
    )
    shares = {
        e.group["gender"]: e.details["share"]
        for e in run.records
        if e.measure == "representation.v1"
        and e.strata["model"] == "m"
        and e.strata["domain"] == "Labor"
        and set(e.group) == {"gender"}
    }
    assert shares == pytest.approx({"F": 4 / 9, "M": 4 / 9, "NB": 1 / 9})
    # The embedded readers refuse each text, and say what reads it
    lines = []
    portrayal.audit(**shared, out=tmp_path / "rules", say=lines.append)
    assert any("9" in line and "--labeler llm" in line for line in lines)
