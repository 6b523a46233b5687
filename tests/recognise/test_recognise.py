"""Recognition: designs of tables that people have, what users say, and what is refused."""

import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any

import pytest

import portrayal.registry as registry
from portrayal.collect.sources import open_source
from portrayal.errors import DataError, OptionError
from portrayal.recognise import recognise, text_column
from recognise.tables import JOBS, made, table, text

PAIR = ("woman", "man")


@pytest.fixture
def rng() -> random.Random:
    return random.Random(2)


def described(rng: random.Random, n: int = 3, **more: Any) -> list[dict[str, Any]]:
    return [
        {"gender": g, "prompt": f"Describe a {g} {job}.", "answer": text(rng, i), **more}
        for i, job in enumerate(JOBS)
        for g in PAIR
        for _ in range(n)
    ]


@pytest.mark.parametrize(
    ("file", "comparison", "group", "text_column"),
    [
        ("letters/clg.csv", "templates", ("gender",), "chatgpt_gen"),
        ("labe/chatgpt_bios.csv", "templates", ("race", "gender"), "text"),
        ("labe/chatgpt_professor.csv", "templates", ("race", "gender"), "text"),
        ("labe/chatgpt_professor_prompt_mitigated.csv", "templates", ("race", "gender"), "text"),
        ("care/summaries.csv.gz", "pairs", ("gender",), "text"),
        ("laissez_faire/gold_stories_dev.jsonl", "study", None, "text"),
        ("india/stories_dev.jsonl.gz", "people", None, "text"),
        ("news/gpt35_dev.jsonl", "people", None, "text"),
        ("lac/train.csv", "people", None, "text"),
        ("coref/gap/gap-development.tsv.gz", "people", None, "Text"),
    ],
)
def test_real_tables_have_their_comparison(
    file: str,
    comparison: str,
    group: tuple[str, ...] | None,
    text_column: str,
    shared_data: Callable[[str], Path],
) -> None:
    design = recognise(open_source(shared_data(file)))
    assert (design.comparison, design.options.get("group")) == (comparison, group)
    assert f"in `{text_column}`" in design.lines[0]
    assert not design.question
    assert len(design.lines) <= 5
    if file == "letters/clg.csv":
        rows = made(design)
        assert len({row["pair"] for row in rows}) == 12
        assert not any("<return>" in row["text"] for row in rows)


def test_a_column_of_texts_is_told_by_what_it_holds(rng: random.Random) -> None:
    texts = [text(rng, i) for i in range(6)]
    people = [
        {"comments": words, "sentences": str(words.split(". ")), "professor_name": "Ann Lee"}
        for words in texts
    ]
    assert text_column(open_source(people), {"professor_name"}) == "comments"
    two = [{"chatgpt_gen": a, "llama3_gen": b} for a, b in pairwise(texts)]
    assert text_column(open_source(two), {"llama3_gen"}) == "chatgpt_gen"
    with pytest.raises(DataError, match=r"'chatgpt_gen' and 'llama3_gen' .* text=chatgpt_gen"):
        text_column(open_source(two), ())
    with pytest.raises(DataError, match="no column holds texts; found 'comments', 'sentences'"):
        text_column(open_source(people), {"comments"})


@pytest.mark.parametrize(
    "file", ["names/tzioumis2018_first_names.csv", "published/wan_agency_by_group.csv"]
)
def test_real_tables_without_texts_are_refused(
    file: str, shared_data: Callable[[str], Path]
) -> None:
    with pytest.raises(DataError, match="no column holds texts"):
        recognise(open_source(shared_data(file)))


def test_columns_side_by_side_are_pairs_of_their_row(rng: random.Random) -> None:
    rows = [
        {"question": f"How to be a {job}?", "he_response": text(rng, i), "she_response": text(rng)}
        for i, job in enumerate(JOBS)
    ]
    design = table(*rows)
    assert (design.comparison, design.options) == ("pairs", {"group": ("gender",)})
    assert made(design)[:2] == [
        {"text": rows[0][f"{g}_response"], "prompt": "How to be a baker?", "pair": "1", "gender": g}
        for g in ("he", "she")
    ]
    # Columns whose names say nothing are sides where the user names both
    named = [dict(zip(("q", "a", "b"), row.values(), strict=True)) for row in rows]
    assert table(*named, by=["a", "b"]).options == {"group": ("group",)}
    models = [
        {"gpt4_answer": row.pop("answer"), "claude_answer": text(rng), **row}
        for row in described(rng)
    ]
    design = table(*models)
    assert (design.comparison, design.columns["model"]) == ("templates", "model")
    assert {row["model"] for row in made(design)} == {"gpt 4", "claude"}


def test_groups_are_read_from_requests_and_from_names(rng: random.Random) -> None:
    rows = [{k: row[k] for k in ("prompt", "answer")} for row in described(rng)]
    design = table(*rows)
    assert (design.comparison, design.options["group"]) == ("templates", ("gender",))
    assert {row["gender"] for row in made(design)} == {"women", "men"}
    named = [
        {"name": name, "prompt": f"Write a letter for {name}, a {job}.", "letter": text(rng, i)}
        for i, job in enumerate(JOBS)
        for name in ("Emily", "Sarah", "Jessica", "Michael", "David", "Robert")
    ]
    design = table(*named)
    assert (design.comparison, len({row["pair"] for row in made(design)})) == ("templates", 8)
    assert any("four of five bearers" in line for line in design.lines)


def test_texts_of_people_among_models_are_the_originals(rng: random.Random) -> None:
    rows = [
        {"model": model, "headline": f"News of the {job} in town {i}", "article": text(rng, i)}
        for i, job in enumerate(JOBS)
        for model in ("human", "gpt-4", "llama-3")
    ]
    design = table(*rows)
    assert design.comparison == "originals"
    by_pair: dict[tuple[str, str], list[str]] = {}
    for row in made(design):
        by_pair.setdefault((row["model"], row["pair"]), []).append(row["version"])
    assert len(by_pair) == 16
    assert all(sorted(versions) == ["original", "rewritten"] for versions in by_pair.values())


def test_a_group_that_no_request_names_is_asked_about(rng: random.Random) -> None:
    rows = [
        {"gender": g, "question": f"How do I become a {job}?", "answer": text(rng, i)}
        for i, job in enumerate(JOBS)
        for g in PAIR
        for _ in range(5)
    ]
    assert "was `gender` known before the answer" in table(*rows).question
    assert table(*rows, asked=True).comparison == "templates"
    assert table(*rows, by=["gender"]).comparison == "templates"
    user = [{"user_gender": row.pop("gender"), **row} for row in map(dict, rows)]
    design = table(*user)
    assert (design.question, design.comparison) == ("", "templates")


def test_likely_texts_are_asked_for_where_two_columns_may_hold_them(rng: random.Random) -> None:
    rows = [{"answer": text(rng), "response": text(rng), "gender": g} for g in PAIR * 20]
    with pytest.raises(DataError, match="'answer' and 'response' may hold the texts"):
        table(*rows)
    assert table(*rows, columns={"text": "response"}).question == ""


def test_scores_are_those_of_such_a_name_and_those_that_are_named(rng: random.Random) -> None:
    more = {"helpfulness": 0.25, "refused": "no", "depth": 3}
    rows = described(rng)
    rows = [{**row, **more, "depth": i % 4, "refused": ("yes", "no")[i % 2], "helpfulness": i / 9}
            for i, row in enumerate(rows)]  # fmt: skip
    assert table(*rows).options["score"] == ("helpfulness", "refused")
    design = table(*rows, scores=["depth"])
    assert {*design.options["score"]} == {"helpfulness", "refused", "depth"}
    assert made(design)[1]["depth"] == "1"
    with pytest.raises(OptionError, match="--score prompt holds 'Describe a woman baker"):
        table(*rows, scores=["prompt"])


def test_several_groups_are_compared_alike_and_joined_on_request(rng: random.Random) -> None:
    rows = [
        {"persona": f"{race} {g}", "race": race, "gender": g, "answer": text(rng, i),
         "prompt": f"You are a {race} {g}. Talk about a {job}."}
        for i, job in enumerate(JOBS)
        for race in ("Black", "white")
        for g in PAIR
        for _ in range(2)
    ]  # fmt: skip
    assert table(*rows).options == {"group": ("race", "gender")}
    design = table(*rows, by=["race*gender"])
    assert design.options == {"group": ("race*gender",)}
    assert {row["race*gender"] for row in made(design)} == {row["persona"] for row in rows}
    assert len({row["pair"] for row in made(design)}) == len(JOBS)


@pytest.mark.parametrize(
    ("rows", "options", "words"),
    [
        ([{"id": i, "prompt": f"Describe a {j} in a small town."} for i, j in enumerate(JOBS)],
         {}, "no column holds texts"),
        ([{"g": g, "reply": "I'm sorry, but I can't help with that."} for g in PAIR],
         {}, "all 2 texts are the same"),
        ([{"g": g, "reply": f"I'm sorry, but I can't help with {g} things."} for g in PAIR],
         {}, "all 2 texts are refused"),
        ([{"g": "woman", "reply": f"She left in {i} days for the sea."} for i in range(9)],
         {"by": ["g"]}, "all texts have 'woman'"),
        ([{"g": f"u{i}", "reply": f"She left in {i} days for the sea."} for i in range(10_000)],
         {"by": ["g"]}, "10,000 values, which are no groups"),
        ([{"group": f"u{i}", "reply": f"She left in {i} days for the sea."} for i in range(30)],
         {}, "each value of 'group' has one text"),
        ([{"measure": "m", "statistic": "s", "n_clusters": 3, "summary": "a text of some words"}],
         {}, "estimates that Portrayal wrote"),
        ([{"g": g, "reply": f"She left in {g} days for the sea."} for g in PAIR],
         {"columns": {"text": "story"}}, "no column 'story'"),
        ([{"g": g, "reply": f"She left in {g} days for the sea."} for g in PAIR],
         {"columns": {"tone": "g"}}, "'tone' is not a field"),
        ([{"g": g, "reply": f"She left in {g} days for the sea."} for g in PAIR],
         {"by": ["h"]}, "no column 'h'"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused_in_one_line(
    rows: list[dict[str, Any]], options: dict[str, Any], words: str
) -> None:
    with pytest.raises((DataError, OptionError), match=words) as error:
        table(*rows, **options)
    assert "\n" not in str(error.value)


def test_people_are_read_by_source_and_checked_by_what_somebody_read(rng: random.Random) -> None:
    rows = [
        {
            "story": text(rng),
            "gender": g,
            "mood": mood,
            "headline": f"The {i}. news of a small town",
        }
        for i in range(20)
        for g, mood in (("woman", "sad"), ("man", "happy"), ("unclear", "sad"))
    ]
    design = table(*rows)
    assert (design.study, dict(design.columns)) == ("people", {"text": "text"})
    assert design.options == {"by": ("mood",), "check": "gender", "source": "headline"}
    assert made(design)[0]["headline"] == rows[0]["headline"]


def test_one_group_is_said_and_compared_with_nothing(rng: random.Random) -> None:
    rows = [row for row in described(rng) if row["gender"] == "woman"]
    design = table(*rows)
    assert design.comparison == "people"
    assert any("`gender` (one value)" in line for line in design.lines)


def test_columns_that_are_not_compared_are_said_with_the_option_that_compares(
    rng: random.Random,
) -> None:
    rows = [
        {"nr": i, "asker": ("tenant", "owner")[i % 2], "stars": i % 5 + 1, "answer": text(rng)}
        for i in range(40)
    ]
    assert any("(if `asker` does: --by asker)" in line for line in table(*rows).lines)
    assert any(
        "not compared (--score): `stars`." in line for line in table(*rows, by=["asker"]).lines
    )
    assert not any("--score" in line for line in table(*rows, by=["asker"], scores=["stars"]).lines)


def test_halves_of_pairs_of_another_name_are_asked_about(rng: random.Random) -> None:
    rows = [
        {"pair_id": i, "spelling": s, "prompt": text(rng, i), "output": text(rng, i)}
        for i in range(30)
        for s in ("plain", "typed")
    ]
    assert "is `spelling` the groups to compare within `pair_id`" in table(*rows).question
    assert table(*rows, by=["spelling"]).comparison == "pairs"


def test_models_side_by_side_are_models_whatever_their_version(rng: random.Random) -> None:
    rows = [
        {"prompt": f"Write of a {job}.", "gpt-4o": text(rng), "llama3": text(rng)} for job in JOBS
    ]
    assert {row["model"] for row in made(table(*rows))} == {"gpt 4 o", "llama 3"}


def test_colours_are_no_races(rng: random.Random) -> None:
    rows = [
        {"prompt": f"Describe a {colour} car of a {job}.", "answer": text(rng), "color": colour}
        for job in JOBS
        for colour in ("black", "white", "red")
        for _ in range(3)
    ]
    assert "`color` (black, white, red) the groups to compare, or a topic" in table(*rows).question


def test_files_of_any_size_are_read_row_by_row(rng: random.Random, tmp_path: Path) -> None:
    rows = described(rng, n=625)
    path = tmp_path / "big.csv"
    # Sorted by group, so that the first half of the rows holds one
    rows = sorted(rows, key=lambda row: str(row["gender"]))
    lines = [f"{row['gender']},{row['prompt']},{row['answer']}" for row in rows]
    tripled = [line for line in lines for _ in range(3)]
    path.write_text("\n".join(["gender,prompt,answer", *tripled]), encoding="utf-8")
    source = open_source(path)
    start = process_time()
    design = recognise(source)
    assert process_time() - start < 3
    assert "30,000 texts" in design.lines[0]
    assert sum(1 for _ in design.texts.rows()) == 30_000
    # The digest is of the file and of what is made of it
    assert design.texts.digest == recognise(open_source(path)).texts.digest
    other = recognise(source, columns={"source": "prompt"})
    assert "source" in other.columns
    assert design.texts.digest not in (source.digest, other.texts.digest)


def test_a_study_that_asked_other_words_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []
    get = registry.get
    monkeypatch.setattr(registry, "get", lambda *names: loaded.append(names[1]) or get(*names))
    rows = [
        {"prompt": f"Zeige Hund {i} im Garten.", "answer": f"Hund {i} lief {i * 7} Meter weit."}
        for i in range(20)
    ]
    assert table(*rows).comparison == "people"
    assert not {"agency", "laissez-faire", "news"}.intersection(loaded)
    prompts = get("studies", "laissez-faire").prompts()
    asked = [
        {"prompt": p.text, "answer": f"Ann {i} went over the hill to see her friend."}
        for i, p in enumerate(prompts)
    ]
    assert table(*asked).study == "laissez-faire"
