"""Pitfalls: tables whose obvious reading is wrong, each with the right one."""

import random

import pytest

from recognise.tables import JOBS, asked, made, table, text


@pytest.fixture
def rng() -> random.Random:
    return random.Random(1)


def test_a_counter_with_one_of_each_group_is_no_pair(rng: random.Random) -> None:
    rows = [
        {"run": str(i), "gender": gender, "answer": text(rng)}
        for i in range(40)
        for gender in ("woman", "man")
    ]
    design = table(*rows)
    assert (design.comparison, design.options) == ("groups", {"group": ("gender",), "apart": True})
    assert "pair" not in design.columns
    # The same rows under another name of the column
    renamed = table(*({"batch": row["run"], **row, "run": "1"} for row in rows))
    assert renamed.comparison == "groups"


def test_the_unit_is_the_id_within_its_settings(rng: random.Random) -> None:
    rows = [
        {"id": str(i), "setting": setting, "gender": gender, "answer": text(rng, i)}
        for i in range(30)
        for setting in ("m1", "m2")
        for gender in ("woman", "man")
    ]
    design = table(*rows)
    assert design.comparison == "pairs"
    assert made(design)[0] == {
        "text": rows[0]["answer"], "pair": "0 · m1", "source": "0", "gender": "woman"
    }  # fmt: skip
    by_model = table(*({"model": f"gpt-{row.pop('setting')}", **row} for row in map(dict, rows)))
    assert by_model.comparison == "pairs"
    assert made(by_model)[0]["pair"] == "0"


def test_a_group_that_somebody_read_in_the_texts_is_a_result(rng: random.Random) -> None:
    rows = [
        {
            "story": text(rng),
            "gender": rng.choice(["man", "woman", "unclear"]),
            "why": f"He is named {rng.choice(['Tom', 'Bob', 'Jim'])} in the {i}. sentence of it.",
        }
        for i in range(60)
    ]
    design = table(*rows)
    assert (design.comparison, design.study, design.columns["text"]) == ("people", "people", "text")
    assert "group" not in design.options
    assert any("`gender` = read from the texts" in line for line in design.lines)
    assert any("`why` (explanation)" in line for line in design.lines)
    assert table(*rows, by=["gender"], asked=True).comparison == "groups"


def test_a_group_counts_as_a_whole_word(rng: random.Random) -> None:
    rows = [
        {"prompt": f"Describe a woman who is a {job}.", "answer": text(rng), "land": land}
        for job in JOBS
        for land in ("Oman", "Chad")
        for _ in range(4)
    ]
    # "Oman" stands in no request: only "woman" does
    assert table(*rows).question
    design = table(*rows, by=["land"])
    assert all("woman" in row["pair"] for row in made(design))


def test_a_name_that_stands_under_all_groups_is_a_topic(rng: random.Random) -> None:
    people = ("Ann Lee", "Mary Ray", "John Day", "Paul May", "Jane Orr", "Mark Fox")
    rows = [
        {"prompt": f"A {party} voter on {person} is", "completion": text(rng, i), "party": party}
        for i, person in enumerate(people)
        for party in ("Green", "Blue")
        for _ in range(5)
    ]
    design = table(*rows)
    assert design.comparison == "templates"
    assert {row["pair"] for row in made(design)} == {f"A … voter on {name} is" for name in people}


def test_a_control_that_names_no_group_is_of_the_template(rng: random.Random) -> None:
    rows = [
        {"prompt": f"Describe a {words}{job}.", "answer": text(rng, i), "disability": value}
        for i, job in enumerate(JOBS)
        for words, value in (("", "none"), ("deaf ", "deaf"), ("blind ", "blind"))
        for _ in range(3)
    ]
    design = table(*rows)
    assert design.comparison == "templates"
    groups = {}
    for row in made(design):
        groups.setdefault(row["pair"], set()).add(row["disability"])
    assert len(groups) == len(JOBS)
    assert all(values == {"none", "deaf", "blind"} for values in groups.values())


def test_groups_that_were_asked_other_things_are_said_to_be(rng: random.Random) -> None:
    jobs = [(f"{job} of {place}", "female") for job in JOBS for place in ("Bern", "Turin")]
    jobs += [(f"{job} of {place}", "male") for job in JOBS for place in ("Oslo", "Ghent")]
    jobs += [("clerk", "female"), ("clerk", "male")]
    rows = [
        {"prompt": f"Describe a {gender} {job}.", "answer": text(rng), "gender": gender}
        for job, gender in jobs
        for _ in range(4)
    ]
    design = table(*rows)
    assert design.comparison == "groups"
    assert any("1 of 33 requests hold two groups" in line for line in design.lines)
    # Answers to one request are no independent texts
    assert len({row["request"] for row in made(design)}) == 33


def test_what_an_answer_scored_makes_no_blocks(rng: random.Random) -> None:
    rows = [
        {"answer": text(rng), "gender": rng.choice(["female", "male"]), **scored}
        for scored in ({"fair": "yes", "stars": "4"}, {"fair": "no", "stars": "5"})
        for _ in range(30)
    ]
    assert table(*rows).comparison == "groups"


def test_the_columns_of_an_intersection_are_not_what_else_groups_differ_in(
    rng: random.Random,
) -> None:
    rows = [
        {"answer": text(rng), "gender": gender, "race": race}
        for gender in ("female", "male")
        for race in ("Black", "White")
        for _ in range(20)
    ]
    lines = table(*rows, by=["gender*race"]).lines
    assert not any("also differ" in line for line in lines)


def test_one_request_says_nothing_of_other_wordings(rng: random.Random) -> None:
    rows = [
        {"prompt": f"Write a {nation} tale of the sea.", "text": text(rng), "nation": nation}
        for nation in ("Danish", "Thai")
        for _ in range(30)
    ]
    design = table(*rows)
    assert (design.comparison, design.options["apart"]) == ("groups", True)
    assert any("within one request" in line for line in design.lines)
    assert any("anything about other requests" in line for line in design.lines)


def test_a_group_may_stand_in_another_column_of_the_request(rng: random.Random) -> None:
    rows = [
        {"system": f"User is a {g}.", "question": q, "reply": text(rng, i), "gender": g}
        for i, q in enumerate(("Which job?", "Which town?", "Which car?", "Which book?"))
        for g in ("man", "woman")
        for _ in range(6)
    ]
    design = table(*rows)
    assert (design.comparison, design.question) == ("templates", "")
    assert made(design)[0]["pair"] == "User is a …. Which job?"


def test_a_word_of_its_own_in_one_place_is_asked_about(rng: random.Random) -> None:
    rows = [
        {"prompt": f"Describe {make} {job}.", "answer": text(rng, i), "make": make.split()[1]}
        for i, job in enumerate(JOBS)
        for make in ("a Lumi", "an Orra")
        for _ in range(4)
    ]
    design = table(*rows)
    assert "`make` (Lumi, Orra) the groups to compare, or a topic" in design.question
    design = table(*rows, by=["make"])
    assert (design.comparison, design.question) == ("templates", "")
    # Where another column says the groups, the words are found by their place
    coded = [{**row, "group": str(row["make"] == "Lumi")} for row in rows]
    coded = [{name: row[name] for name in ("prompt", "answer", "group")} for row in coded]
    design = table(*coded)
    assert design.comparison == "templates"
    assert len({row["pair"] for row in made(design)}) == len(JOBS)


def test_a_source_beside_its_rewriting_is_the_reference(rng: random.Random) -> None:
    rows = [
        {"source_text": text(rng, i), "rewritten": text(rng, i), "model": model}
        for i in range(12)
        for model in ("gpt-4", "llama-3")
    ]
    for i in range(0, 24, 2):
        rows[i + 1]["source_text"] = rows[i]["source_text"]
    design = table(*rows)
    assert (design.comparison, design.options) == ("originals", {"group": ("version",)})
    rows_made = made(design)
    assert len(rows_made) == 48
    assert rows_made[0]["text"] == rows[0]["rewritten"]
    assert rows_made[1] == rows_made[0] | {"text": rows[0]["source_text"], "version": "original"}
    assert len({row["pair"] for row in rows_made}) == 12


def test_a_text_that_begins_with_its_prompt_is_cut(rng: random.Random) -> None:
    rows = asked(rng, "The {group} worked as a {job} and")
    rows = [{**row, "answer": f"{row['prompt']} {row['answer']}"} for row in rows]
    design = table(*({**row, "gender": row.pop("group_in")} for row in rows))
    assert not any(row["text"].startswith("The woman worked") for row in made(design))
    assert any("64 began with the prompt, which was cut" in line for line in design.lines)


def test_texts_of_one_model_that_repeat_are_still_the_texts(rng: random.Random) -> None:
    rows = asked(rng, "Describe a {group} who is a {job}.", n=6)
    rows = [{**row, "model": f"gpt-{i % 2}"} for i, row in enumerate(rows)]
    for i, row in enumerate(rows):
        if row["model"] == "gpt-1":
            row["answer"] = rows[i % 10 // 9]["answer"]
    design = table(*({**row, "gender": row.pop("group_in")} for row in rows))
    assert design.comparison == "templates"
    assert made(design)[0]["text"] == rows[0]["answer"]
    (line,) = (line for line in design.lines if "of the texts of gpt-1 repeat another" in line)
    assert line.startswith("Counted all the same: ")  # nothing of them is set aside


def test_what_stands_around_a_text_is_cleaned_and_empty_ones_are_counted(
    rng: random.Random,
) -> None:
    rows = asked(rng, "Write about a {group} who is a {job}.", n=7)
    story = "Here is a story:<return><return>## The day<return>**She** left. - {}"
    for i, row in enumerate(rows):
        row["answer"] = "" if i % 7 == 0 else story.format(row["answer"])
    design = table(*({**row, "gender": row.pop("group_in")} for row in rows))
    assert made(design)[1]["text"].startswith("The day\nShe left. - ")
    assert any("16 empty" in line for line in design.lines)


def test_a_column_named_for_pairs_is_believed_though_its_texts_share_few_words():
    words = ("tea and toast", "an old red bus", "rain over hills", "a long report", "green doors")
    rows = [
        {"item": f"q{i}", "gender": gender, "answer": f"{words[(i + j) % 5]}, number {i * 2 + j}."}
        for i in range(30)
        for j, gender in enumerate(("woman", "man"))
    ]
    design = table(*rows)
    assert design.comparison == "pairs"


def test_groups_that_differ_in_capitals_alone_are_one_and_all_are_counted(
    rng: random.Random,
) -> None:
    rows = asked(rng, "Describe a {group} who is a {job}.", n=6)
    spelled = ("Woman", "WOMAN", "woman"), ("Man", "Man", "man")
    for i, row in enumerate(rows):
        row["gender"] = spelled[row.pop("group_in").casefold() == "man"][i % 3]
    design = table(*rows, by=["gender"])
    assert {row["gender"] for row in made(design)} <= {"Woman", "WOMAN", "woman", "Man"}
    assert len({row["gender"] for row in made(design)}) == 2
    for i, row in enumerate(rows):
        row["gender"] = f"g{i % 6}"
    design = table(*rows, by=["gender"])
    assert any("`gender` (g0 / g1 / g2 / g3 and 2 more)" in line for line in design.lines)
