import pytest

from portrayal.annotate.agency.labelled import read_labelled, split
from portrayal.errors import DataError


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_labels_by_number_or_word(tmp_path):
    found = read_labelled(
        write(tmp_path / "a.csv", "text,label\na,1\nb,Communal\nc,agentic\nd,0\n")
    )
    assert found.labels.tolist() == [1, 0, 1, 0]
    assert found.sentences == ("a", "b", "c", "d")


def test_sheets_of_the_raters_page_are_read_and_neutral_sentences_counted(tmp_path):
    sheet = "sentence,label\na,agentic\nb,neutral\nc,communal\nd,na\n"
    found = read_labelled(write(tmp_path / "a.csv", sheet))
    assert found.sentences == ("a", "c")
    assert found.n_left_out == found.take([0]).n_left_out == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("words,label\na,1\n", "--column text=NAME"),
        ("text,label\na,1\nb,2\n", "row 2"),
        ("text,label\na,1\nb,1\n", "one kind only"),
    ],
)
def test_what_is_refused(tmp_path, text, said):
    with pytest.raises(DataError, match=said):
        read_labelled(write(tmp_path / "a.csv", text))


def test_other_columns(tmp_path):
    path = write(tmp_path / "a.csv", "s,y\na,1\nb,0\n")
    assert len(read_labelled(path, ["text=s", "label=y"])) == 2


def test_a_split_keeps_both_labels_and_every_row(tmp_path):
    rows = "".join(f"s{i},{int(i < 8)}\n" for i in range(20))
    whole = read_labelled(write(tmp_path / "a.csv", "text,label\n" + rows))
    kept, held = split(whole, 0.25, seed=3)
    assert sorted(kept.sentences + held.sentences) == sorted(whole.sentences)
    assert held.labels.tolist().count(1) == 2
    assert held.labels.tolist().count(0) == 3
    assert split(whole, 0.25, seed=3)[1].sentences == held.sentences
    assert split(whole, 0.25, seed=4)[1].sentences != held.sentences
