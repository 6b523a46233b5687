"""What the tool says, in whole sentences: one case for each kind of finding.

This is the one place where tests hold the wording; elsewhere they ask which estimates are stated.
"""

import math
from dataclasses import replace
from typing import Any

import pytest

from portrayal.comparison.result import Change
from portrayal.measure.pairs.estimates import IN_ORIGINALS
from portrayal.records import TEXT_SD, THESE, Estimate, Fixed, Interval, Null
from portrayal.reference.labels import speaking_of
from portrayal.report.findings import facts_of
from portrayal.report.first import first_screen
from portrayal.report.sentences import change_sentence, ratio_facts, sentence_of
from portrayal.report.view import View

from .conftest import estimate

DRAWN = "names drawn at random from the bearers of census-2020"


def made(measure: str, value: float, low: float, high: float, **more: Any) -> Estimate:
    """An estimate of the laissez-faire study, or of whatever else `more` says."""
    fields: dict[str, Any] = {
        "study": "laissez-faire",
        "statistic": "ratio",
        "unit": "character",
        "strata": {"model": "all", "domain": "Love"},
        "group": {"race": "Black"},
        "interval": Interval(low, high, 0.95, "clustered"),
        "instruments": {"baseline": "census-2022"},
    }
    return Estimate(measure=measure, value=value, **(fields | more))


def counts(first: float, of: float, second: float, of_second: float) -> dict[str, float]:
    """People of a group in the lesser role, then in the greater one."""
    return {
        "count_subordinate": first,
        "n_subordinate": of,
        "count_dominant": second,
        "n_dominant": of_second,
    }


def share(n: float, of: float, baseline: float, **more: float) -> dict[str, Any]:
    """What a share over a baseline keeps."""
    details = {"count": n, "share": n / of, "baseline": baseline, **more}
    return {"n_units": of, "details": details}


CASES = {
    "who appears, by names that hardly tell": (
        made(
            *("representation.v1", 0.40, 0.36, 0.44),
            null=Null(0.783, 0.69, 0.88, 0.95, DRAWN),
            **share(77.2, 1423.0, 0.136, r0=0.783, shrink=0.036, reads_2=0.811, borne_mostly=2.0),
        ),
        "By their names, an estimated 77 of 1,423 people in stories about love are Black (5.4 %); "
        "names drawn from everyone in the US would give about 152 (10.6 %). Only 2 of them have a "
        "name that is borne mostly by Black people",
        "these names hardly tell who is Black: were twice as many, 11.0 % would be counted; "
        "0.40 of the share in the US of 13.6 %",
    ),
    "who appears, by names that tell": (
        made(
            *("representation.v1", 0.431, 0.35, 0.54),
            strata={"domain": "Learning"},
            null=Null(0.783, 0.69, 0.88, 0.95, DRAWN),
            **share(22.2, 379.0, 0.136, r0=0.783, shrink=0.133, reads_2=0.887, borne_mostly=0.0),
        ),
        "By their names, an estimated 22 of 379 people in stories about learning are Black "
        "(5.9 %); names drawn from everyone in the US would give about 40 (10.6 %). None of them "
        "has a name that is borne mostly by Black people",
        "0.55 times (0.45–0.69); 0.43 of the share in the US of 13.6 %",
    ),
    "who appears, by names, corrected by hand": (
        made(
            *("representation.v1", 1.27, 1.2, 1.34),
            strata={"domain": "Love", "basis": "corrected by hand"},
            instruments={"baseline": "census-2022", "name_table": "census-2020"},
            group={"race": "White"},
            null=Null(1.055, None, None, 0.95, "no difference"),
            **share(87.0, 116.0, 0.589, r0=1.055),
        ),
        "By their names, an estimated 87 of 116 people in stories about love are White (75 %); "
        "names drawn from everyone in the US would give about 72 (62 %)",
        "1.20 times (1.14–1.27); 1.27 of the share in the US of 59 %",
    ),
    "who appears, by what the text says": (
        made(
            *("representation.v1", 0.47, 0.27, 0.73),
            strata={"domain": "Learning"},
            group={"gender": "M"},
            null=Null(1.0, 0.9, 1.11, 0.95, "drawn at random from the baseline"),
            **share(87.0, 390.0, 0.475),
        ),
        "87 of 390 people in stories about learning are men (22 %); the share in the US would "
        "give about 185 (48 %)",
        "0.47 times (0.27–0.73)",
    ),
    "left out": (
        made(
            *("representation.v1", 0.0, 0.0, 0.18),
            strata={"domain": "Labor"},
            group={"gender": "NB"},
            **share(0.0, 1203.0, 0.017),
        ),
        "None of 1,203 people in stories about work are non-binary; the share in the US would "
        "give about 20 (1.7 %)",
        "at most 0.18 times",
    ),
    "couples": (
        made(
            *("pair_representation.v1", 2.0, 1.2, 3.1),
            unit="couple",
            group={"pair": "F-M"},
            **share(90.0, 100.0, 0.45),
        ),
        "90 of 100 couples in stories about love are of a woman and a man (F-M) (90 %); the share "
        "in the US would give about 45 (45 %)",
        "2.0 times (1.2–3.1)",
    ),
    "who depends on whom": (
        made(
            *("subordination.v1", 3.72, 2.6, 6.5),
            strata={"domain": "Learning"},
            group={"gender": "M"},
            details=counts(224.0, 367.0, 60.0, 366.0),
        ),
        "224 of 367 people who are helped in stories about learning are men (61 %), and 60 of 366 "
        "who help (16.4 %)",
        "3.7 times (2.6–6.5)",
    ),
    "who depends on whom, by names": (
        made(
            *("subordination.v1", 2.16, 1.3, 3.1),
            strata={"domain": "Labor"},
            group={"race": "Latine"},
            details=counts(37.3, 189.0, 21.5, 236.0)
            | {"r0": 1.0, "shrink": 0.29, "reads_2": 1.2, "borne_mostly": 26.0},
        ),
        "By their names, an estimated 37 of 189 people who are helped, taught or judged in stories "
        "about work are Latine (19.7 %), and 22 of 236 who help, teach or judge (9.1 %)",
        "2.2 times (1.3–3.1); 26 of 425 have a name that is borne mostly by Latine people",
    ),
    "nobody in the greater role": (
        made(
            *("subordination.v1", math.inf, 3.5, math.inf),
            strata={"domain": "Learning"},
            group={"gender": "NB"},
            details=counts(22.0, 559.0, 0.0, 579.0),
        ),
        "22 of 559 people who are helped in stories about learning are non-binary (3.9 %), and "
        "none of 579 who help",
        "at least 3.5 times",
    ),
    "nobody in the lesser role": (
        made(
            *("subordination.v1", 0.0, 0.0, 0.4),
            strata={"domain": "Learning"},
            group={"race": "Black", "gender": "NB"},
            details=counts(0.0, 559.0, 22.0, 579.0),
        ),
        "None of 559 people who are helped in stories about learning are Black non-binary people, "
        "but 22 of 579 who help are (3.8 %)",
        "at most 0.40 times",
    ),
    "a study that says nothing of its roles": (
        made(
            *("subordination.v1", 2.0, 1.5, 3.0),
            study="mine",
            strata={"domain": "Kitchens"},
            group={"gender": "F"},
            details=counts(20.0, 40.0, 10.0, 40.0),
        ),
        "20 of 40 people in the lesser role in Kitchens are women (50 %), and 10 of 40 in the "
        "greater role (25 %)",
        "2.0 times (1.5–3.0)",
    ),
}

PAIR = {
    "study": "pairs",
    "statistic": "difference",
    "unit": "pair",
    "group": {"who": "woman − man"},
}
SCORE = {**PAIR, "strata": {"model": "Teller", "score": "length", "part": "all"}}
WORD = {**PAIR, "strata": {"model": "unnamed", "word": "family", "kind": "word", "part": "all"}}
OF_TEXTS = {
    "a score": (
        made("pair_difference.v2", -4.9, -7.7, -2.1, **SCORE),
        "Teller: answers for men are 4.9 words longer than answers for women to the same request",
    ),
    "refusals": (
        made(
            *("pair_difference.v2", 0.042, 0.01, 0.08),
            **{**SCORE, "strata": {"model": "unnamed", "score": "refused", "part": "all"}},
        ),
        "Answers for women are refusals 4.2 points more often than answers for men to the same "
        "request",
    ),
    "a group of one's own": (
        made(
            "pair_difference.v2", 4.9, 2.1, 7.7, **{**SCORE, "group": {"job": "nurse − the others"}}
        ),
        "Teller: answers for “nurse” are 4.9 words longer than answers for the others to the same "
        "request",
    ),
    "a group of one's own that has less": (
        made(
            *("pair_difference.v2", -4.9, -7.7, -2.1),
            **{**SCORE, "group": {"job": "nurse − the others"}},
        ),
        "Teller: answers for “nurse” are 4.9 words shorter than answers for the others to the same "
        "request",
    ),
    "rewritten texts that have less": (
        made(
            *("pair_difference.v2", 4.9, 2.1, 7.7),
            **{**SCORE, "group": {"version": "original − rewritten"}},
        ),
        "Teller: rewritten texts are 4.9 words shorter than their originals",
    ),
    "a word of originals": (
        made(
            *("pair_words.v2", 0.28125, 0.2, 0.36),
            n_units=160.0,
            details={"with_first": 48.0},
            **{**WORD, "group": {"version": "original − rewritten"}},
        ),
        "3 of 160 rewritten texts say “family”, and 48 of 160 originals",
    ),
    "a word": (
        made(
            *("pair_words.v2", 0.28125, 0.2, 0.36),
            n_units=160.0,
            details={"with_first": 48.0},
            **WORD,
        ),
        "48 of 160 answers for women say “family”, and 3 of 160 answers for men to the same "
        "requests",
    ),
    "texts that show a group": (
        made(
            *("group_ratio.v1", 0.38, 0.3, 0.5),
            study="mine",
            unit="text",
            strata={"seen_by": "words", "population": "census-2011"},
            group={"religion": "hindu"},
            **share(120.0, 400.0, 0.79),
        ),
        "120 of 400 texts that show a group show Hindu (30 %); the share in census-2011 would give "
        "about 316 (79 %), by words",
    ),
    "what goes together": (
        made(
            *("association.v1", 2.0, 1.5, 2.6),
            unit="text",
            strata={"seen_by": "words"},
            group={"religion": "hindu", "gender": "F"},
            details={"texts": 40.0},
        ),
        "Hindu and Women stand together in 40 texts; if one had nothing to do with the other, "
        "about 20 would have both, by words",
    ),
}


@pytest.mark.parametrize("kind", OF_TEXTS)
def test_each_kind_of_finding_of_texts_is_a_sentence(kind: str) -> None:
    e, sentence = OF_TEXTS[kind]
    assert sentence_of(e).replace("\u00a0", " ") == sentence


def test_agency_is_said_in_shares_of_sentences() -> None:
    details = {"upper": 0.08, "lower": -0.08}
    e = made("agency_gap.v1", 0.16, 0.06, 0.28, group={"gender": "male − female"}, details=details)
    assert sentence_of(e).replace("\u00a0", " ") == (
        "54 % of the sentences about men are agentic (what a person achieves, over whom they "
        "help), 46 % of those about women"
    )
    within = replace(e, value=0.4)
    assert sentence_of(within).endswith("for the same prompts 20.0 points more")


def test_a_change_has_the_counts_of_both_sides() -> None:
    """Of a study that is spoken of, as its card says."""
    place = {"strata": {"domain": "Learning"}, "group": {"gender": "M"}}
    cells = counts(80.0, 122.0, 30.0, 120.0), counts(12.0, 118.0, 60.0, 120.0)
    values = (80 / 122) / (30 / 120), (12 / 118) / (60 / 120)
    sides = [
        made("subordination.v1", value, 0.1, 9.0, details=details, **place)
        for value, details in zip(values, cells, strict=True)
    ]
    row = Change("subordination.v1", "ratio", **place, scale="ratio", value_a=values[0],
                 value_b=values[1])  # fmt: skip
    assert change_sentence(row, sides, ("A", "B")).replace("\u00a0", " ") == (
        "80 of 122 people who are helped in stories about learning are men in A (66 %), and 12 of "
        "118 in B (10.2 %); of those who help 30 of 120 (25 %) and 60 of 120 (50 %)"
    )
    with speaking_of((), "laissez-faire"):
        assert change_sentence(row, (), ("A", "B")) == (
            "Men in stories about learning: subordination ratio 2.6 in A, 0.20 in B"
        )


WORDS = {"level": "word", "attribute": "gender", "lexicon": "liang-2022", "model": "m1"}
TONE = WORDS | {"level": "sentence_sentiment"}
NEWS = {
    "who the words are about, beside originals": (
        WORDS,
        -0.07,
        {IN_ORIGINALS: 0.19},
        "Texts of m1 give women 12.0 % of the gender words, the articles they rewrote 19.0 %",
    ),
    "tone, beside originals": (
        TONE,
        -0.28,
        {},
        "In texts of m1, the sentiment of sentences about women is 0.280 lower than in the "
        "articles they rewrote",
    ),
}


@pytest.mark.parametrize("kind", NEWS)
def test_a_text_beside_its_original_is_said_in_shares_or_in_tone(kind: str) -> None:
    strata, value, details, sentence = NEWS[kind]
    e = made(
        *("group_change.v1", value, value - 0.03, value + 0.03),
        **{"study": "news", "statistic": "difference", "unit": "pair", "strata": strata},
        group={"gender": "F"},
        details=details,
    )
    assert sentence_of(e).replace("\u00a0", " ") == sentence


def test_where_nothing_was_found_it_says_what_would_have_been(make_run: Any) -> None:
    """Of each question in its own unit; nothing is claimed of what could not be seen."""
    ratio = estimate(1.1, 0.7, 1.7, q=0.6)
    screen = first_screen(View.of(make_run([ratio])))
    assert screen.lead.sentence.replace("\u00a0", " ") == (
        "No difference shown in 24 stories: of subordination ratio, a ratio above 1.70 is "
        "excluded; one of 1.5 times would be shown by about 59 texts."
    )


@pytest.mark.parametrize("kind", CASES)
def test_each_kind_of_finding_is_a_sentence_with_a_line_below_it(kind: str) -> None:
    e, sentence, below = CASES[kind]
    assert sentence_of(e).replace("\u00a0", " ") == sentence
    assert "; ".join(ratio_facts(e)).replace("\u00a0", " ") == below


@pytest.mark.parametrize("kind", CASES)
def test_a_ratio_is_the_quotient_of_the_two_numbers_of_its_sentence(kind: str) -> None:
    e, _, below = CASES[kind]
    if not below[:1].isdigit():
        return
    if len(e.counts) == 2:
        first, second = (count.n / count.of for count in e.counts)
    else:
        first, second = e.counts[0].n, e.counts[0].expected
    assert float(below.partition(" ")[0]) == pytest.approx(first / second, rel=0.02)


@pytest.mark.parametrize("kind", CASES)
def test_no_number_is_one_that_nobody_writes(kind: str) -> None:
    words = f"{sentence_of(CASES[kind][0])}; {'; '.join(ratio_facts(CASES[kind][0]))}"
    assert not any(sign in words for sign in ("∞", "inf", "e-", "−0", "nan", "—"))


def test_the_facts_below_a_sentence_are_of_the_group_that_it_names_first(make_run: Any) -> None:
    less = made(
        *("pair_difference.v2", -4.9, -7.7, -2.1), **{**SCORE, "group": {"job": "a − the others"}}
    )
    originals = made(
        *("pair_difference.v2", 4.9, 2.1, 7.7),
        **{**SCORE, "group": {"version": "original − rewritten"}},
    )
    view = View.of(make_run([less, originals]))
    assert facts_of(view, less)[0] == "−4.90 words (−7.70 to −2.10)"
    assert facts_of(view, originals)[0] == "−4.90 words (−7.70 to −2.10)"


def test_an_interval_that_the_sentence_has_stands_in_no_fact(make_run: Any) -> None:
    e = made(
        *("pair_difference.v2", 4.9, 2.1, 7.7),
        fixed=Fixed(2.1, 7.7, 0.001, 0.002),
        details={"units_prompt": 3.0, TEXT_SD: 7.0},
        **SCORE,
    ).of_population(THESE, 0.95)
    assert "(2.1 to 7.7); of other prompts nothing can be said from 3" in sentence_of(e)
    assert facts_of(View.of(make_run([e])), e)[0] == "+0.70 standard deviations of the texts"
