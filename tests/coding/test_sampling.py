"""Samples: who is in them, their weights, and that the seed alone decides."""

from collections import Counter
from pathlib import Path

import pytest

from coding.stories import story_run
from portrayal.coding import Sampling, in_sentences, sample_items
from portrayal.errors import DataError, OptionError
from portrayal.run import Run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return story_run(tmp_path_factory.mktemp("run"), 80)


def test_by_names_takes_the_common_ones_of_each_race_and_role(run: Run) -> None:
    items = sample_items(run, Sampling(how="names", n=2))
    strata = Counter(s for item in items for s in item.strata["sampled_as"].split("; "))
    assert {"Latine: Maria, subordinate", "Black: Jamal, neutral"} <= set(strata)
    assert max(strata.values()) <= 2
    maria = next(i for i in items if "Maria" in i.strata["sampled_as"])
    labels = {person.slot: person for person in maria.people}
    assert labels["object"].name == "Maria"
    assert labels["object"].labels["race"] == "Latine"
    assert labels["object"].labels["power"] == "subordinate"
    assert labels["object"].role == "patient"
    start, end = labels["object"].spans[0]
    assert maria.text[start:end]
    assert maria.title.startswith("Write of doctor")


def test_weights_add_up_to_the_run(run: Run) -> None:
    items = sample_items(run, Sampling(how="random", n=20))
    assert len(items) == 20
    assert sum(item.weight for item in items) == pytest.approx(77)
    every = sample_items(run, Sampling(how="random", n=10_000))
    assert len(every) == 77
    assert {item.weight for item in every} == {1.0}


def test_weighted_counts_are_right_on_average(run: Run) -> None:
    totals = [
        sum(i.weight for i in sample_items(run, Sampling(how="group", n=3, seed=seed)))
        for seed in range(12)
    ]
    truth = len(sample_items(run, Sampling(how="group", n=1000)))
    assert sum(totals) / len(totals) == pytest.approx(truth, rel=0.15)


def test_by_cue_takes_texts_with_the_cue(run: Run) -> None:
    items = sample_items(run, Sampling(how="cue", n=3))
    assert len(items) == 3
    assert all("Navajo" in item.text for item in items)
    assert {item.strata["sampled_as"] for item in items} == {"AI: Navajo, subordinate"}


def test_by_group_stratifies_by_model_too(run: Run) -> None:
    items = sample_items(run, Sampling(how="group", n=1, by=("model",)))
    strata = {s for item in items for s in item.strata["sampled_as"].split("; ")}
    assert {"m1", "m2"} <= {part.strip() for part in strata}


def test_the_seed_and_not_the_shards_decide(run: Run, tmp_path: Path) -> None:
    other = story_run(tmp_path / "run", 80, shard_rows=33)
    for by in ("names", "group", "random", "cue"):
        sampling = Sampling(how=by, n=2, seed=5)
        first = sample_items(run, sampling)
        assert first == sample_items(other, sampling)
        assert first == sample_items(run, sampling)
    one, two = (sample_items(run, Sampling(how="random", n=5, seed=s)) for s in (1, 2))
    assert [i.item_id for i in one] != [i.item_id for i in two]


def test_what_cannot_be_drawn_is_refused(run: Run, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="how must be"):
        Sampling(how="luck")
    with pytest.raises(OptionError, match="n must be"):
        Sampling(n=0)
    bare = story_run(tmp_path / "bare", 8)
    bare.write_settings({"study": "laissez-faire"})
    with pytest.raises(DataError, match="not annotated"):
        sample_items(bare, Sampling(how="names"))
    assert len(sample_items(bare, Sampling(how="random", n=2))) == 2
    with pytest.raises(DataError, match="no text fits"):
        sample_items(run, Sampling(how="names", threshold=1.0))


def test_sentences_are_items_of_their_own(run: Run) -> None:
    texts = sample_items(run, Sampling(how="random", n=10))
    made = in_sentences(texts)
    assert len({item.item_id for item in made}) == len(made) > len(texts)
    whole = {item.item_id: item for item in texts}
    spans = 0
    for item in made:
        text = whole[item.item_id.split(":")[0]]
        assert item.text in text.text
        assert item.weight == text.weight
        for person, before in zip(item.people, text.people, strict=True):
            spans += len(person.spans)
            words = {text.text[start:end] for start, end in before.spans}
            assert {item.text[start:end] for start, end in person.spans} <= words
    assert spans == sum(len(person.spans) for item in texts for person in item.people)
