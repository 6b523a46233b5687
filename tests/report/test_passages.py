"""Passages behind a finding: seeded, marked by span, shortened around the marks."""

from collections.abc import Callable

from portrayal.report.passages import MOST
from portrayal.report.view import View
from portrayal.run import Run
from portrayal.studies.stories.texts import texts_to_read

from .conftest import estimate

Maker = Callable[..., Run]

NAME = estimate(
    2.0, measure="name_subordination.v1", group={"name": "Maria"}, details={"share_Latine": 0.8}
)
FINDING = estimate(14.0, 9.0, 22.0, q=0.001, group={"race": "Latine", "gender": "F"})


def story(text: str, name: str = "Maria", gender: str = "F", **more: object) -> dict[str, object]:
    start = text.find(name)
    spans = [{"start": start, "end": start + len(name), "kind": "name"}] if start >= 0 else None
    return {
        "text": text,
        "subject_name": "John",
        "subject_gender": "M",
        "object_name": name,
        "object_gender": gender,
        "object_spans": spans,
    } | more


def read(make_run: Maker, *stories: dict[str, object]) -> list[object]:
    view = View.of(make_run([FINDING, NAME], stories=stories))
    return texts_to_read(view).readings


def test_stories_of_the_group_in_its_role_are_chosen(make_run: Maker) -> None:
    first, drawn = read(
        make_run,
        story("John helped Maria."),
        story("John helped Maria.", gender="M"),
        story("John helped Emma.", name="Emma"),
    )
    assert len(first.passages) == 1
    assert "subordinate character whose name is borne mostly by Latine people" in first.note
    assert first.passages[0].pieces == (
        ("John", "subject", "", ""),
        (" helped ", "", "", ""),
        ("Maria", "object", "", ""),
        (".", "", "", ""),
    )
    assert drawn.title == "Stories drawn at random"


def test_the_choice_is_the_same_each_time(make_run: Maker) -> None:
    view = View.of(
        make_run([FINDING, NAME], stories=[story(f"{i} John met Maria.") for i in range(50)])
    )
    assert texts_to_read(view) == texts_to_read(view)


def test_a_long_text_is_cut_around_its_people(make_run: Maker) -> None:
    first, _ = read(make_run, story("x" * 50_000 + " Maria " + "y" * 950_000, subject_name=None))
    (passage,) = first.passages
    assert sum(len(piece.text) for piece in passage.pieces) <= MOST + 4
    assert ("Maria", "object", "", "") in passage.pieces
    assert passage.cut == "Shortened: 1,200 of 1,000,007 characters."


def test_spans_that_overlap_or_point_outside_do_no_harm(make_run: Maker) -> None:
    spans = [
        {"start": 0, "end": 6, "kind": "name"},
        {"start": 2, "end": 5, "kind": "reference"},
        {"start": 90, "end": 99, "kind": "name"},
        {"start": 5, "end": 4, "kind": "name"},
    ]
    text = "Maria and John talk."
    first, _ = read(make_run, story(text, object_spans=spans, subject_spans=[spans[1]]))
    assert "".join(piece.text for piece in first.passages[0].pieces) == text


def test_where_no_story_fits_random_ones_stand_in(make_run: Maker) -> None:
    first, _ = read(make_run, story("John helped Emma.", name="Emma"))
    assert first.note.startswith("No story fits closely")
    assert len(first.passages) == 1


def test_a_run_without_texts_has_no_passages(make_run: Maker) -> None:
    assert all(not reading.passages for reading in read(make_run))
