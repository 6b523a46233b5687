"""Agency corrected by sentences that people labelled: against a plain recount, and refusals."""

import csv
from pathlib import Path

import numpy as np
import pytest

import portrayal
from command import invoke
from portrayal.collect.tables import read_table, write_table
from portrayal.errors import DataError
from portrayal.measure.agency.estimates import corrected_sums
from portrayal.measure.agency.strata import strata
from portrayal.measure.drawing import (
    classes_of,
    draw_for,
    field_book,
    field_for,
    items_of,
    label_fields,
)
from portrayal.measure.judging import judge_card
from portrayal.measure.scope import Scope
from portrayal.raters.labels import read_hand_labels, read_labels, write_labels
from portrayal.raters.sheets import write_sheets
from portrayal.run import Run
from portrayal.studies.agency.audit import AgencyOptions, read_texts

ACTS = ("She led the team to victory.", "She founded a company and won.")
CARES = ("She is warm and kind to all.", "She helps her friends with love.")


def texts(n: int = 160) -> list[dict[str, str]]:
    rng, rows = np.random.default_rng(6), []
    for i in range(n):
        female = i % 2 == 0
        said = [
            str(rng.choice(ACTS if rng.random() < (0.4 if female else 0.6) else CARES))
            for _ in range(3)
        ]
        rows.append({"text_id": f"t{i}", "gender": "FM"[not female], "text": " ".join(said)})
    return rows


def audited(folder: Path, labels: list[tuple[str, str, str]]) -> Run:
    path = folder / "hand.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(("text_id", "unit", "field", "label", "rater"))
        writer.writerows((text, unit, "agency", label, "ann") for text, unit, label in labels)
    return portrayal.audit(
        study="agency",
        texts=texts(),
        out=folder / "run",
        by=("gender",),
        classifier="lexicon",
        hand_labels=str(path),
        permutations=20,
        draws=200,
        report=False,
    )


def truth(sentence: str) -> str:
    return "agentic" if sentence + "." in ACTS else "communal"


def drawn() -> list[tuple[str, str, str]]:
    sentences = [
        (row["text_id"], str(i), truth(sentence))
        for row in texts()
        for i, sentence in enumerate(row["text"].rstrip(".").split(". "), 1)
    ]
    return [sentences[i] for i in np.random.default_rng(7).permutation(len(sentences))[:150]]


def test_gaps_and_shares_stand_side_by_side(tmp_path: Path) -> None:
    run = audited(tmp_path, drawn())
    gaps = [e for e in run.records if e.measure == "agency_gap.v1" and e.strata["stratum"] == "all"]
    (found,) = (e for e in gaps if e.corrected)
    (raw,) = (e for e in gaps if e.strata["masking"] == found.strata["masking"] and not e.corrected)
    assert found.group == raw.group
    assert found.value is not None
    assert raw.value is not None
    assert found.details["naive"] == pytest.approx(raw.value)
    assert found.details["moved"] == pytest.approx(found.value - raw.value)
    assert raw.status.detail is not None
    assert found.interval is not None
    acts = {sex: [] for sex in "FM"}
    for row in texts():
        acts[row["gender"]] += [truth(s) == "agentic" for s in row["text"].rstrip(".").split(". ")]
    true = 2 * (np.mean(acts["M"]) - np.mean(acts["F"]))
    sign = 1 if "male − female" in found.group["gender"] else -1
    assert found.fixed is not None
    assert found.fixed.low < sign * true < found.fixed.high
    shares = [
        e
        for e in run.records
        if e.measure == "agency_share.v1" and e.corrected and e.strata["stratum"] == "all"
    ]
    assert {e.statistic for e in shares} == {"agentic", "communal", "ratio_gap"}
    both = {
        e.statistic: e.value
        for e in shares
        if e.group == {"gender": "female"} and e.value is not None
    }
    assert both["agentic"] + both["communal"] == pytest.approx(1.0)
    assert both["ratio_gap"] == pytest.approx(2 * both["agentic"] - 1.0)


def test_labels_that_say_what_the_classifier_says_move_nothing(tmp_path: Path) -> None:
    path = audited(tmp_path, drawn())
    table = AgencyOptions(
        by=("gender",), classifier="lexicon", hand_labels=str(tmp_path / "hand.csv")
    )
    read = read_texts(path, table)
    assert read.hand is not None
    np.copyto(read.hand.truth, read.hand.guess)
    place = next(s for s in strata(read, Scope("agency")) if s.labels["masking"] == "masked")
    _, members = place.groups(("gender",))
    for i in range(2):
        sums = corrected_sums(place, [members[:, [i]]]).sums
        raw = (place.observed.means(members[:, [i]])[0] + 1) / 2
        assert sums.share[0] == pytest.approx(raw)


def test_sheets_of_sentences_are_blind_and_correct_their_run(tmp_path: Path) -> None:
    run = audited(tmp_path, drawn())
    assert label_fields(run) == ["agency"]  # no refusals are measured here
    assert field_for(run, "agency_gap.v1 gender=female") == "agency"
    chosen = draw_for(run, "agency", 150)
    items = items_of(run, chosen, with_prompt=False)
    book = field_book(run, "agency")
    assert book.questions[0].choices == ("communal", "neither", "agentic")
    sheets = write_sheets(items, book, tmp_path / "agency", ["ann", "ben"])[:2]
    named = {f"{i:09d}": row["text"] for i, row in enumerate(texts())}
    for sheet in sheets:
        rows = read_table(sheet, ["text_id", "unit", "label", "text"])
        assert {*rows[0]} >= {"text_id", "unit", "field", "label", "rater", "text"}
        for row in rows:
            own = named[row["text_id"]].rstrip(".").split(". ")[int(row["unit"]) - 1]
            assert row["text"].rstrip(".") == own
            row["label"] = truth(own)
        write_table(sheet, list(rows[0]), rows)
    hand = write_labels(tmp_path / "joined.csv", read_labels(*sheets))
    table = read_hand_labels(str(hand), ["agency"])
    weights = table.weights("agency", table.labels["agency"], 0.0)
    drawn_so = {round(size / n, 6) for size, n in chosen.strata.values()}
    assert {*weights.round(6).tolist()} == drawn_so
    options = {"by": ("gender",), "classifier": "lexicon", "report": False, "permutations": 20}
    again = portrayal.audit(
        study="agency", out=run.path, hand_labels=str(hand), draws=200, **options
    )
    shares = [e for e in again.records if e.instruments.get("hand_labels", "").endswith("2 raters")]
    assert any(e.value is not None for e in shares)


def test_sentences_that_were_picked_are_called_so(tmp_path: Path) -> None:
    acts = [row for row in drawn() if row[2] == "agentic"]
    for labels, called in ((acts, True), (drawn(), False)):
        run = audited(tmp_path, labels)
        notes = {e.instruments.get("hand_labels", "") for e in run.records} - {""}
        assert notes
        assert all(("not drawn at random" in note) == called for note in notes)


def test_a_card_of_sentences_is_a_plain_recount(tmp_path: Path) -> None:
    labels = [(text, unit, label) for text, unit, label in drawn() if unit != "3"]
    flipped = [(t, u, "communal" if int(t[1:]) % 5 == 0 else x) for t, u, x in labels]
    run = audited(tmp_path, flipped)
    table = read_hand_labels(str(tmp_path / "hand.csv"), ["agency"])
    card = judge_card(run, table, "agency", by="gender")
    said = classes_of(run, "agency", unsure=False)
    for sex, rest in (("female", 0), ("male", 1)):
        rows = [
            (said.get((f"{int(t[1:]):09d}", u)), x) for t, u, x in flipped if int(t[1:]) % 2 == rest
        ]
        rows = [(a, b) for a, b in rows if a is not None]
        part = "FM"[rest]
        found = [a == "agentic" for a, b in rows if b == "agentic"]
        right = [b == "agentic" for a, b in rows if a == "agentic"]
        assert card.recall["agentic", part].value == pytest.approx(np.mean(found)), sex
        assert card.precision["agentic", part].value == pytest.approx(np.mean(right))
        same = np.mean([a == b for a, b in rows])
        names = {a for pair in rows for a in pair}
        chance = sum(
            np.mean([a == n for a, _ in rows]) * np.mean([b == n for _, b in rows]) for n in names
        )
        assert card.kappa[part].value == pytest.approx((same - chance) / (1 - chance))
    asked = ("--hand-labels", tmp_path / "hand.csv", "--field", "agency", "--by", "gender")
    shown = invoke("score", "judge", run.path, *asked).stdout
    assert f"F {card.kappa['F'].value:.2f}, M" in shown  # one prompt has no interval
    assert "nan" not in shown


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (("t1", "9", "agentic"), "has sentences 1 to 3, and the column 'unit' says '9'"),
        (
            ("t1", "1", "brave"),
            "of agency expected communal, neither, agentic, or a number from -1 to 1; got 'brave'",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(
    tmp_path: Path, label: tuple[str, str, str], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        audited(tmp_path, [label])
