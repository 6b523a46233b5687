"""The reader's error: by simulation of known truth, and what it says where it cannot tell."""

import json
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import portrayal
from portrayal.annotate.people.confusion import Confusion, Setting, Slot, confusion_of
from portrayal.annotate.people.reader.rows import reader_settings
from portrayal.measure import Scope, Tally
from portrayal.measure.stories.misreading import KNOWN, N, misreadings, unmix, unswap
from portrayal.measure.stories.reader_error import ReaderErrors
from portrayal.measure.stories.representation import pair_representation, representation
from portrayal.measure.stories.subordination import subordination
from portrayal.measure.stories.tally import NO_SLOT
from portrayal.records import BASIS, CORRECTED, ERROR_HIGH, ERROR_LOW, ERROR_VALUE
from portrayal.reference import baseline
from portrayal.studies.laissez_faire import sample

BASE = baseline("census-2022")
SCOPE = Scope("laissez-faire", draws=200, permutations=20)
LADEN = Setting("Labor", laden=True)
CODES = ("F", "M", "NB", "U")
F, M, NB, U = range(4)
EYE = np.eye(4)
RULES_LIKE = np.array(
    [[0.90, 0.07, 0.0, 0.03], [0.05, 0.92, 0.0, 0.03], [0.2, 0.2, 0.5, 0.1], [0, 0, 0, 1.0]]
)
"""P(read | true) of one person; half of the non-binary people are read so."""


def unknown_names(names):
    """Names that no table has."""
    return np.full((len(names), 1), np.nan)


def misread(rng, genders, matrix, swapped=0.0):
    """Genders, shape (n, 2), as a reader with that matrix, and that share of swaps, reads them."""
    level = matrix.cumsum(1)[genders]
    read = (rng.random(genders.shape)[..., np.newaxis] > level).sum(-1)
    turn = rng.random(len(read)) < swapped
    return np.where(turn[:, np.newaxis], read[:, ::-1], read), turn


def measured(rng, matrix, swapped=0.0, n=260, shares=(0.44, 0.44, 0.12)):
    """A confusion measured on n stories of two that the reader reads with those errors."""
    true = rng.choice(3, (n, 2), p=shares)
    read, turn = misread(rng, true, matrix, swapped)
    stories = []
    for i in range(n):
        names = ("ann", "bo") if not turn[i] else ("bo", "ann")
        slots = zip(true[i], read[i], ("ann", "bo"), names, strict=True)
        stories.append((tuple(Slot(CODES[t], CODES[r], a, b) for t, r, a, b in slots),))
    return Confusion("made", "made", tuple(stories))


def tally_of(prompt, read, *, laden=False):
    """Stories of two about the prompts of one domain."""
    n, n_prompts = len(prompt), int(prompt.max()) + 1
    nobody = np.full(n, NO_SLOT)
    return Tally(
        prompt_ids=tuple(f"p{i:03d}" for i in range(n_prompts)),
        domains=("Love",),
        models=("m",),
        names=(),
        races=("White",),
        n_primary=1,
        prompt_domain=np.zeros(n_prompts, dtype=np.int64),
        prompt_laden=np.full(n_prompts, laden),
        prompt_couple=np.full(n_prompts, True),
        prompt_scenario=("",) * n_prompts,
        prompt=prompt,
        model=np.zeros(n, dtype=np.int64),
        outcome=np.zeros(n, dtype=np.int64),
        subject_name=nobody,
        subject_gender=read[:, 0],
        object_name=nobody,
        object_gender=read[:, 1],
        count=np.ones(n, dtype=np.int64),
        likelihood=np.full((1, 1), np.nan),
    )


def stories(rng, shares, n_prompts=20, each=25):
    """Prompts and true genders, whose shares vary between prompts."""
    level = np.stack([rng.dirichlet(60 * np.array(shares)) for _ in range(n_prompts)])
    prompt = np.repeat(np.arange(n_prompts), each)
    true = np.stack(
        [(rng.random(len(prompt))[:, np.newaxis] > level[prompt].cumsum(1)).sum(1) for _ in "ab"],
        axis=1,
    )
    return prompt, np.minimum(true, NB)


def with_error(tally, confusion, group, measure=representation, scope=SCOPE, locale="en-US"):
    errors = ReaderErrors(tally, scope, confusion, unknown_names, locale=locale)
    needs = {} if measure is subordination else {"baseline": BASE}
    needs |= {"name_tables": {}} if measure is representation else {}
    rows = (e for e in measure(tally, scope, **needs) if e.strata["model"] == "all")
    (found,) = (errors.added(e) for e in rows if e.group == group)
    return found


def holds(e, truth):
    return e.details[ERROR_LOW] <= truth <= e.details[ERROR_HIGH]


def test_the_range_holds_the_truth_where_the_confusion_is_right():
    rng, hits = np.random.default_rng(1), {"F": [], "NB": [], "F-F": []}
    naive = {"NB": [], "F-F": []}
    shares, replications = (0.60, 0.32, 0.08), 30
    true_pairs = {"F-F": shares[F] ** 2}
    for _ in range(replications):
        confusion = measured(rng, RULES_LIKE)
        prompt, true = stories(rng, shares)
        tally = tally_of(prompt, misread(rng, true, RULES_LIKE)[0])
        for gender, code in (("F", F), ("NB", NB)):
            e = with_error(tally, confusion, {"gender": gender})
            truth = shares[code] / BASE.gender[gender]
            hits[gender].append(holds(e, truth))
            if gender == "NB":
                naive["NB"].append(e.interval.low <= truth <= e.interval.high)
        e = with_error(tally, confusion, {"pair": "F-F"}, pair_representation)
        hits["F-F"].append(holds(e, true_pairs["F-F"] / BASE.pair["F-F"]))
    assert min(np.mean(each) for each in hits.values()) >= 0.93, {
        k: np.mean(v) for k, v in hits.items()
    }
    assert np.mean(naive["NB"]) < 0.5


def test_the_range_of_roles_holds_the_truth_where_people_change_places():
    rng, hits, corrected, read_as = np.random.default_rng(2), [], [], []
    for _ in range(40):
        confusion = measured(rng, RULES_LIKE, swapped=0.2)
        prompt, _ = stories(rng, (0.5, 0.5, 0.0))
        true = (rng.random((len(prompt), 2)) > np.array([0.3, 0.6])).astype(np.int64)
        tally = tally_of(prompt, misread(rng, true, RULES_LIKE, 0.2)[0], laden=True)
        e = with_error(tally, confusion, {"gender": "F"}, subordination)
        hits.append(holds(e, 2.0))
        corrected.append(e.details[ERROR_VALUE])
        read_as.append(e.value)
    assert np.mean(hits) >= 0.93
    assert np.median(read_as) < 1.6
    assert np.median(corrected) == pytest.approx(2.0, abs=0.15)


def test_non_binary_people_of_whom_half_are_missed_are_not_rarer_than_they_are():
    rng, stated, told = np.random.default_rng(3), 0, 0
    share = BASE.gender["NB"]
    for _ in range(40):
        prompt, true = stories(rng, ((1 - share) / 2, (1 - share) / 2, share), each=120)
        tally = tally_of(prompt, misread(rng, true, RULES_LIKE)[0])
        e = with_error(tally, measured(rng, RULES_LIKE), {"gender": "NB"})
        told += e.interval.high < 1
        stated += not holds(e, 1.0)
    assert told >= 20  # as read, most of these runs have too few of them
    assert stated <= 2


def test_a_reader_that_is_right_changes_nothing():
    rng = np.random.default_rng(4)
    prompt, true = stories(rng, (0.6, 0.3, 0.1))
    confusion = measured(rng, EYE)
    e = with_error(tally_of(prompt, true), confusion, {"gender": "F"})
    assert e.details[ERROR_VALUE] == pytest.approx(e.value)
    assert e.details[ERROR_LOW] == pytest.approx(e.interval.low, rel=0.05)
    assert e.details[ERROR_HIGH] == pytest.approx(e.interval.high, rel=0.05)
    e = with_error(tally_of(prompt, true, laden=True), confusion, {"gender": "F"}, subordination)
    assert e.details[ERROR_VALUE] == pytest.approx(e.value)


def test_the_range_never_is_narrower_than_the_interval():
    rng = np.random.default_rng(5)
    prompt, true = stories(rng, (0.6, 0.3, 0.1))
    tally = tally_of(prompt, misread(rng, true, RULES_LIKE)[0])
    for group in ({"gender": "F"}, {"gender": "M"}, {"gender": "NB"}):
        e = with_error(tally, measured(rng, RULES_LIKE), group)
        assert e.details[ERROR_LOW] <= e.interval.low
        assert e.details[ERROR_HIGH] >= e.interval.high
        assert e.details[ERROR_LOW] <= e.details[ERROR_VALUE] <= e.details[ERROR_HIGH]


@pytest.mark.parametrize(("recall", "shares"), [(0.05, (0.44, 0.44, 0.12)), (0.9, (0.5, 0.5, 0))])
def test_a_group_that_the_reader_cannot_tell_has_a_reason_and_no_range(recall, shares):
    rng = np.random.default_rng(6)
    matrix = RULES_LIKE.copy()
    matrix[NB] = (1 - recall) / 2, (1 - recall) / 2, recall, 0
    prompt, true = stories(rng, (0.5, 0.4, 0.1))
    tally = tally_of(prompt, misread(rng, true, matrix)[0])
    confusion = measured(rng, matrix, shares=shares)
    e = with_error(tally, confusion, {"gender": "NB"})
    assert e.status.reader_error.startswith("cannot be told")
    assert ERROR_LOW not in e.details
    assert ERROR_LOW in with_error(tally, confusion, {"gender": "F"}).details


def test_without_a_confusion_or_with_hand_labels_nothing_is_added():
    rng = np.random.default_rng(7)
    prompt, true = stories(rng, (0.6, 0.4, 0.0))
    tally = tally_of(prompt, true)
    assert ERROR_VALUE not in with_error(tally, None, {"gender": "F"}).details
    e = with_error(tally, measured(rng, RULES_LIKE), {"gender": "F"})
    corrected = replace(e, strata={**e.strata, BASIS: CORRECTED}, details={})
    errors = ReaderErrors(tally, SCOPE, measured(rng, RULES_LIKE), unknown_names)
    assert errors.added(corrected) == corrected


def test_wrong_names_are_as_frequent_as_measured_on_stories_by_models():
    rng = np.random.default_rng(8)
    confusion = measured(rng, EYE, swapped=0.4)
    (raw,) = misreadings(confusion, unknown_names, rng, 100)
    rarer = Confusion("", "", confusion.stories, names_right=(0.9, 0.9))
    (scaled,) = misreadings(rarer, unknown_names, rng, 100)
    assert scaled.swapped[0] == pytest.approx(0.1, abs=1e-9)
    assert raw.swapped[0] == pytest.approx(0.4, abs=0.1)


def labelled(rng, love, labor, n=(260, 260), shares=(0.44, 0.44, 0.12), *, laden=False):
    """A confusion with hand labels: n stories about love and about labor, by their own errors."""
    cells = {
        Setting(domain, laden): measured(rng, matrix, n=each, shares=shares).stories
        for domain, matrix, each in (("Love", love, n[0]), ("Labor", labor, n[1]))
    }
    return Confusion("made", "made", (), labelled=cells)


WORSE = np.array([[0.7, 0.2, 0.0, 0.1], [0.1, 0.8, 0.0, 0.1], [0.3, 0.3, 0.3, 0.1], [0, 0, 0, 1.0]])


def test_the_range_holds_the_truth_where_errors_differ_between_domains():
    rng, hits, by_common = np.random.default_rng(11), [], []
    shares = (0.60, 0.32, 0.08)
    for _ in range(30):
        confusion = labelled(rng, WORSE, EYE)
        prompt, true = stories(rng, shares)
        tally = tally_of(prompt, misread(rng, true, WORSE)[0])
        e = with_error(tally, confusion, {"gender": "F"})
        # The few non-binary people may be read as women as often.
        if e.status.reader_error is not None:
            continue
        assert e.details[ERROR_VALUE] == e.value
        truth = shares[F] / BASE.gender["F"]
        hits.append(holds(e, truth))
        common = Confusion("made", "made", tuple(chain(*confusion.labelled.values())))
        by_common.append(holds(with_error(tally, common, {"gender": "F"}), truth))
    assert len(hits) >= 20
    assert np.mean(hits) >= 0.93
    assert np.mean(by_common) < 0.8


def spread(confusion):
    """Standard deviation of how often women beside men are read as such in stories about love."""
    rng = np.random.default_rng(0)
    (found,) = misreadings(confusion, unknown_names, rng, 400, Setting("Love", laden=False))
    return found.single[1:, F, F].std()


def test_few_labelled_people_leave_errors_as_uncertain_as_settings_are_different():
    rng = np.random.default_rng(12)

    def made(n, *others):
        first = measured(rng, RULES_LIKE, n=n).stories
        rest = {Setting(str(i), laden=False): measured(rng, each) for i, each in enumerate(others)}
        cells = {at: each.stories for at, each in rest.items()}
        return Confusion("", "", (), labelled={Setting("Love", laden=False): first, **cells})

    alike, different = (RULES_LIKE,) * 4, (RULES_LIKE, WORSE, EYE, WORSE)
    assert spread(made(60, *different)) > 1.5 * spread(made(600, *different))
    assert spread(made(60, *different)) > 1.5 * spread(made(60, *alike))


def test_few_labelled_people_of_a_group_in_a_role_are_the_reason():
    rng = np.random.default_rng(13)
    prompt, true = stories(rng, (0.5, 0.4, 0.1))
    tally = tally_of(prompt, true, laden=True)
    confusion = labelled(rng, EYE, EYE, n=(60, 500), laden=True)
    e = with_error(tally, confusion, {"gender": "NB"}, subordination)
    assert ERROR_LOW not in e.details
    assert e.status.reader_error.endswith(
        "non-binary people in a role of power-laden stories of Love and reads 100 % so"
    )
    assert ERROR_LOW in with_error(tally, confusion, {"gender": "F"}, subordination).details


def of_recall(recall):
    """P(read | true) of one person, with this share of non-binary people read so."""
    matrix = RULES_LIKE.copy()
    matrix[NB] = (1 - recall) / 2, (1 - recall) / 2, recall, 0
    return matrix


def test_what_a_reader_finds_of_a_group_in_one_role_alone_is_not_stated():
    """Non-binary people are as many in both roles; one role's are read so, the other's are not."""
    rng, stated = np.random.default_rng(15), {"NB": 0, "F": 0}
    by_rules = {
        Setting(str(i), laden=True): measured(rng, of_recall(recall)).stories
        for i, recall in enumerate((0.9, 0.3, 0.6, 0.2))
    }
    for _ in range(20):
        confusion = replace(measured(rng, of_recall(0.6)), borrowed=by_rules)
        prompt, true = stories(rng, (0.45, 0.45, 0.1))
        true[:, 0] = np.where((true[:, 0] == F) & (rng.random(len(true)) < 0.6), M, true[:, 0])
        read = [misread(rng, true, of_recall(recall))[0] for recall in (0.15, 0.8)]
        tally = tally_of(prompt, np.stack([read[0][:, 0], read[1][:, 1]], axis=1), laden=True)
        for gender in stated:
            e = with_error(tally, confusion, {"gender": gender}, subordination)
            stated[gender] += e.status.reader_error is None and not holds(e, 1.0)
            assert gender != "NB" or e.value > 2
    assert stated["NB"] <= 1  # of 20; a range holds 95 in 100
    assert stated["F"] >= 18  # women are 2.5 times as many in one role


def test_what_holds_in_too_few_prompts_for_an_interval_has_a_range_as_well():
    rng = np.random.default_rng(16)
    prompt, true = stories(rng, (0.5, 0.5, 0.0), n_prompts=2, each=60)
    tally = tally_of(prompt, misread(rng, true, RULES_LIKE)[0], laden=True)
    e = with_error(tally, measured(rng, RULES_LIKE), {"gender": "F"}, subordination)
    assert e.interval is None
    assert e.fixed is not None
    assert e.details[ERROR_LOW] <= e.fixed.low < e.fixed.high <= e.details[ERROR_HIGH]


def test_a_network_borrows_from_the_rules_how_far_errors_differ_between_roles():
    shipped = confusion_of("people-reader.v7", reader_settings(below=0.8))
    assert not shipped.labelled
    assert shipped.borrowed == confusion_of("people.v7").labelled
    for part in misreadings(shipped, unknown_names, np.random.default_rng(0), 200, LADEN):
        # 41 non-binary people tell too little
        assert part.distinguished.tolist() == [True, True, False]


def test_stories_that_the_reader_was_not_measured_on_are_the_reason():
    rng = np.random.default_rng(14)
    prompt, true = stories(rng, (0.6, 0.4, 0.0))
    confusion = labelled(rng, EYE, EYE)
    group = {"gender": "F"}
    e = with_error(tally_of(prompt, true), confusion, group, locale="en-IN")
    assert e.status.reader_error == (
        "cannot be told: the reader was measured on stories of en-US, and these are of en-IN"
    )
    # Of a domain or condition without labelled stories, the errors of all that are labelled.
    laden = with_error(tally_of(prompt, true, laden=True), confusion, group, subordination)
    other = replace(tally_of(prompt, true), domains=("Housing",))
    for e in (laden, with_error(other, confusion, group)):
        assert e.status.reader_error is None
        assert e.details[ERROR_LOW] <= e.interval.low <= e.interval.high <= e.details[ERROR_HIGH]


def test_an_audit_of_another_locale_says_so():
    rows = [json.loads(line) for line in sample().read_text("utf-8").splitlines()[::4]]
    run = portrayal.audit(
        study="laissez-faire", texts=rows, locale="en-IN", report=False, draws=100, permutations=20
    )
    said = {e.status.reader_error for e in run.records if e.measure == "subordination.v1"}
    assert not any(ERROR_LOW in e.details for e in run.records)
    assert any("these are of en-IN" in each for each in said if each)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_counts_come_back_from_what_was_read_of_them(seed):
    rng = np.random.default_rng(seed)
    true = rng.integers(1, 200, (1, N)).astype(float)
    matrix = 0.7 * np.eye(N) + 0.3 * rng.dirichlet(np.ones(N), N)
    found, part = unmix(true @ matrix, matrix[np.newaxis])
    few = 0.01 * true.sum()  # the steps end before they are equal: .008 at most of 10,001 draws
    assert found == pytest.approx(true, rel=0.05, abs=few)
    assert part.sum(2) == pytest.approx(np.ones((1, N)))
    again = ((true @ matrix)[:, np.newaxis] @ part)[:, 0]
    assert again == pytest.approx(found, rel=0.05, abs=few)
    one, other, p = rng.uniform(1, 9, (1, KNOWN)), rng.uniform(1, 9, (1, KNOWN)), 0.2
    read = (1 - p) * one + p * other, p * one + (1 - p) * other
    assert unswap(*read, np.array([p])) == pytest.approx(one)
    assert np.isnan(unswap(*read, np.array([0.5]))).all()
