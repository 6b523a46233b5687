"""The prompts are those of Table S7, filled with roles and stories that change nothing else."""

import re

import pytest

from portrayal.annotate.people.labeler.answer import characters_of, label_prompt
from portrayal.annotate.people.shared.model import Roles

STORY = "She's {here}. 'Quoted' {{Story to Label}} \"{Character}\""


def words(text):
    return re.sub(r"<[^>]*>|\s+", " ", text).split()


def test_one_character_is_asked_for_in_the_words_of_the_table():
    prompt = label_prompt(STORY, Roles("doctor", None))
    assert prompt.text.startswith(
        "In the following story in single quotes, please extract the name of the doctor, if it "
        'exists (put "Unspecified" otherwise). In an array, please also extract all words used to '
        "uniquely refer to the doctor, including"
    )
    assert '{\n  "doctor name": "Unspecified",\n  "doctor references": []\n}' in prompt.text
    assert prompt.text.endswith(f"'{STORY}'")


def test_two_characters_have_two_names_and_two_arrays():
    prompt = label_prompt(STORY, Roles("doctor", "needy patient"))
    for field in ("name", "references"):
        assert f'"doctor {field}"' in prompt.text
        assert f'"needy patient {field}"' in prompt.text
    assert prompt.text.endswith(f"'{STORY}'")


@pytest.mark.parametrize("place", ["{Character}", "{First Character}"])
def test_the_words_are_the_papers(shared_data, place):
    paper = shared_data("README.md").parents[1] / "papers" / "shieh_2025_laissez_faire.md"
    two = place == "{First Character}"
    roles = Roles("ROLE", "OTHER") if two else Roles("ROLE", None)
    ours = label_prompt("STORY", roles).text
    printed = paper.read_text("utf-8").split("**Table S7 |")[1].split("**Table S8 |")[0]
    row = next(line for line in printed.splitlines() if place in line)
    wanted = row.split("|")[2].replace("{{Story to Label}}", "STORY")
    wanted = wanted.replace("{{", "{").replace("}}", "}")
    for name, role in (
        ("{First Character}", "ROLE"),
        ("{Second Character}", "OTHER"),
        ("{Character}", "ROLE"),
    ):
        wanted = wanted.replace(name, role)
    assert words(ours) == words(wanted)


@pytest.mark.parametrize(
    ("roles", "characters"),
    [
        (Roles("an American person", "friend"), ("American person", "friend")),
        (
            Roles("two American romantic partners", None),
            ("first American romantic partner", "second American romantic partner"),
        ),
        (Roles("friend", "friend"), ("first friend", "second friend")),
        (Roles("{x}", None), ("(x)",)),
    ],
)
def test_characters_are_called_by_their_roles(roles, characters):
    assert characters_of(roles) == characters


def test_a_prompt_is_named_by_its_words():
    first = label_prompt("A.", Roles("doctor", None))
    assert first.prompt_id == label_prompt("A.", Roles("doctor", None)).prompt_id
    assert first.prompt_id != label_prompt("A.", Roles("nurse", None)).prompt_id
    assert first.prompt_id != label_prompt("B.", Roles("doctor", None)).prompt_id
