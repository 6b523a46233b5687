"""What else groups differ in is named where nothing, or another column, blocks."""

import random

import pytest

from portrayal.recognise.columns import InputColumn
from portrayal.recognise.matching import associated
from recognise.tables import table, text


def rows(share: float, n: int = 400) -> list[dict[str, str]]:
    """Answers to women by one channel in this share, to men in the share that is left."""
    rng = random.Random(3)
    genders = [rng.choice(["woman", "man"]) for _ in range(n)]
    return [
        {
            "user_gender": gender,
            "channel": "web"
            if rng.random() < (share if gender == "woman" else 1 - share)
            else "app",
            "tier": rng.choice(["gold", "silver", "tin"]),
            "answer": text(rng),
        }
        for gender in genders
    ]


def comparison(*lines: dict[str, str], **options: object) -> str:
    return next(x for x in table(*lines, **options).lines if x.startswith("Comparison"))


def test_groups_that_differ_in_nothing_else_are_not_said_to() -> None:
    assert "also differ" not in comparison(*rows(0.5))


def test_a_column_in_which_groups_differ_is_named_with_what_blocks_it() -> None:
    line = comparison(*rows(0.7))
    assert "groups also differ in `channel`: block by --column pair=channel, or read" in line
    blocked = table(*rows(0.7), columns={"pair": "channel"})
    assert (blocked.comparison, blocked.columns["pair"]) == ("templates", "pair")
    assert "within 2 values of `channel` (2 hold both)" in blocked.lines[2]


def test_of_three_groups_none_is_said_to_be_both() -> None:
    lines = [
        {
            "pair": job,
            "prompt": f"A letter for a {job}",
            "origin": origin,
            "text": f"{job} {origin}",
        }
        for job in ("nurse", "pilot", "baker", "clerk", "judge", "cook")
        for origin in ("Kenyan", "Brazilian", "Canadian")
    ]
    assert "(6 hold two groups or more)" in comparison(*lines, by=("origin",))


@pytest.mark.parametrize(("left_out", "kind"), [("tier", "groups"), ("", "templates")])
def test_what_no_group_shares_blocks_nothing(left_out: str, kind: str) -> None:
    lines = [{k: v for k, v in row.items() if k != left_out} for row in rows(1.0)]
    assert table(*lines).comparison == kind
    assert "groups also differ in `channel`: read with care" in comparison(*lines)


def test_one_of_many_columns_is_named_by_chance_in_one_table_of_twenty() -> None:
    rng, named, tables = random.Random(0), 0, 300
    for _ in range(tables):
        group = InputColumn("group", tuple(rng.choices("ab", k=200)))
        columns = [InputColumn(f"x{i}", tuple(rng.choices("pqr", k=200))) for i in range(10)]
        named += bool(associated(columns, group, [str(i) for i in range(200)]))
    assert named / tables == pytest.approx(0.05, abs=0.04)


def test_answers_to_one_request_count_once() -> None:
    # Four requests, each of one topic and group, with a hundred answers
    requests = [str(i) for i in range(4) for _ in range(100)]
    group = InputColumn("group", tuple("aabb"[int(i)] for i in requests))
    topic = InputColumn("topic", tuple("ppqq"[int(i)] for i in requests))
    assert associated([topic], group, requests) == []
    assert associated([topic], group, [str(i) for i in range(400)]) == [topic]
