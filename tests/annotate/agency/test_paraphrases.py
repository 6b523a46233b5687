import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from portrayal.annotate.agency.labelled import Labelled, families, split

PLACES = "Lyon Oslo Lima Rome Cork Bern Kyiv Riga Baku Dakar Quito Sofia Tunis Hanoi Delhi".split()  # noqa: SIM905
PAIRS = tuple(
    sentence
    for k, place in enumerate(PLACES)
    for sentence in (
        f"She led the bank of {place} in 19{k}0 with Kim{'abcdefghijklmno'[k]}.",
        f"In 19{k}0 she helped the bank of {place} with Kim{'abcdefghijklmno'[k]} kindly.",
    )
)


def test_two_paraphrases_of_one_source_share_a_number_and_others_do_not():
    assert families(PAIRS).tolist() == [k for k in range(len(PLACES)) for _ in range(2)]


def test_overlap_is_of_all_words_weighted_by_rarity():
    # log(3/1) for a, b, d, e; log(3/2) for c: ln 1.5 / (ln 1.5 + 4 ln 3) = 0.084
    texts = ["aa bb cc", "cc dd ee", "ff"]
    assert families(texts, 0.08).tolist() == [0, 0, 1]
    assert families(texts, 0.09).tolist() == [0, 1, 2]


@given(st.lists(st.sampled_from([*PAIRS, "", "0 0", "..."]), min_size=1, max_size=40))
def test_the_same_sentence_is_one_family_wherever_it_stands(texts):
    found = families(texts)
    assert found.shape == (len(texts),)
    assert set(found.tolist()) == set(range(found.max() + 1))
    turned = families(texts[::-1])[::-1]
    for i, j in zip(*np.triu_indices(len(texts)), strict=True):
        assert (found[i] == found[j]) == (turned[i] == turned[j])


def test_blocks_of_rows_link_what_one_block_would(monkeypatch):
    whole = families(PAIRS).tolist()
    monkeypatch.setattr("portrayal.annotate.agency.labelled._ROWS", 7)
    assert families(PAIRS).tolist() == whole


def test_no_split_parts_paraphrases():
    labelled = Labelled("pairs", "0", PAIRS, np.array([1, 0] * len(PLACES)))
    for seed in range(5):
        kept, held = split(labelled, 0.2, seed)
        assert sorted(kept.sentences + held.sentences) == sorted(PAIRS)
        assert held.labels.tolist().count(1) == held.labels.tolist().count(0) == 3
        assert not {s.split(" with ")[1][:4] for s in kept.sentences} & {
            s.split(" with ")[1][:4] for s in held.sentences
        }
