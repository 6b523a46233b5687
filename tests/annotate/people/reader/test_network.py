"""The heads on drawn states: shapes, padding, order, and people who are not there."""

import numpy as np
import pytest

from portrayal.annotate.people.reader.network import hide, load_network
from portrayal.errors import DataError

PIECES = [
    ([0, " taught ", 1, ". She smiled at him."], 2),
    (["Nobody was there, and they left."], 0),
    ([0, " won, and ", 0, " laughed with her team for a long time."], 1),
]


def stories(vocabulary):
    return [hide("Write a story of a cook.", pieces, n, vocabulary) for pieces, n in PIECES]


def test_shapes_and_probabilities(network):
    for (_, n), reading in zip(PIECES, network.read(stories(network.vocabulary)), strict=True):
        assert reading.roles.shape == (2, n + 1)
        assert reading.genders.shape == (n + 2, 4)
        np.testing.assert_allclose(np.exp(reading.roles).sum(1), 1.0)
        np.testing.assert_allclose(np.exp(reading.genders).sum(1), 1.0)


def test_a_story_is_read_alike_alone_and_among_others(network):
    hidden = stories(network.vocabulary)
    together = network.read(hidden * 20)
    assert max(network._session.batches) > 1
    for at, story in enumerate(hidden):
        (alone,) = network.read([story])
        np.testing.assert_allclose(together[at].roles, alone.roles, atol=1e-9)
        np.testing.assert_allclose(together[at].genders, alone.genders, atol=1e-9)


def test_a_person_behind_the_last_token_has_no_role(network):
    hidden = hide("Write a story of a cook.", ["word " * 600, 0], 1, network.vocabulary)
    (reading,) = network.read([hidden])
    assert np.exp(reading.roles[:, 0]).max() < 1e-100


def test_no_stories(network):
    assert network.read([]) == []


def test_a_folder_without_a_reader_is_explained(tmp_path):
    with pytest.raises(DataError, match=r"encoder\.onnx.*missing"):
        load_network(tmp_path)
