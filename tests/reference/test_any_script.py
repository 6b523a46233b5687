"""Files of names with any header, in any script, and their names in text."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.errors import DataError, OptionError
from portrayal.reference.formats import header_key
from portrayal.reference.matching import name_key, plain_form
from portrayal.reference.names import name_table

Write = Callable[[str, str], Path]
NAMES = st.text(st.characters(categories=("L", "M"), max_codepoint=0x1FFF), max_size=12)


@pytest.mark.parametrize(
    ("text", "names", "groups", "expected"),
    [
        ("Prénom;Sexe;Effectif\nZoé;F;60\nZoe;M;40\nCamille;F;30\nCamille;M;90\n",
         ["ZOÉ", "camille"], ("M", "F"), [[0.0, 1.0], [0.75, 0.25]]),
        ("שם פרטי,מגזר,מספר\nנור,מוסלמי,90\nנור,יהודי,10\nדנה,יהודי,300\n",
         ["נוּר", "דנה"], ("יהודי", "מוסלמי"), [[0.1, 0.9], [1.0, 0.0]]),
        ("الاسم,الدين,العدد\nأحمد,مسلم,75\nاحمد,مسيحي,25\nمريم,مسيحي,40\n",
         ["أحمد", "مريم"], ("مسلم", "مسيحي"), [[1.0, 0.0], [0.0, 1.0]]),
        ("नाम,धर्म,संख्या\nराम,हिन्दू,50\nरमा,हिन्दू,30\nरमा,जैन,10\n",
         ["राम", "रमा"], ("हिन्दू", "जैन"), [[1.0, 0.0], [0.75, 0.25]]),
    ],
)  # fmt: skip
def test_any_header_and_script(
    write: Write, text: str, names: list[str], groups: tuple[str, ...], expected: list[list[float]]
) -> None:
    table = name_table(write("names.csv", text), min_count=None)
    assert table.races == groups
    np.testing.assert_allclose(table.likelihoods(names), expected)
    assert table.notes[0].startswith("read with names in ")


def test_columns_and_rows_that_are_named(write: Write) -> None:
    text = "preusuel;annais;dpt;sexe;nombre\n" + "".join(
        f"{name};{year};75;{sex};{n}\n"
        for name, year, sex, n in [("LÉA", 1950, 2, 40), ("LÉA", 1999, 1, 50), ("LÉA", 1999, 2, 50)]
    )
    path = write("insee.csv", text)
    assert name_table(path, columns=["group=sexe"]).races == ("2", "1")
    late = name_table(path, columns=["group=sexe", "annais=1990-2000"])
    np.testing.assert_allclose(late.likelihoods(["Léa"]), [[0.5, 0.5]])
    assert late.notes[0].endswith("only annais 1990-2000")
    both = name_table(path, columns=["group=dpt|sexe", "annais=1950"])
    assert both.races == ("75 2",)
    wide = write("wide.csv", "wort,pct_a,b,c\nKim,40,60,7\n")
    table = name_table(wide, columns=["name=wort", "groups=pct_a|b"])
    assert table.races == ("a", "b")
    np.testing.assert_allclose(table.likelihoods(["kim"]), [[0.4, 0.6]])


def test_a_name_in_two_groups_of_a_list_is_shared(write: Write) -> None:
    table = name_table(write("list.csv", "name,group\nNour,a\nNour,b\nDana,a\n"))
    np.testing.assert_allclose(table.likelihoods(["Nour", "Dana"]), [[0.5, 0.5], [1, 0]])
    assert (table.version, table.population) == ("names by group", {})


def test_parquet_with_years_and_sexes(tmp_path: Path) -> None:
    rows = {"sector": ["A", "B"] * 50, "year": [1990, 1991] * 50, "sex": ["F", "M"] * 50,
            "name": ["נור", "דנה"] * 50, "n": [2, 3] * 50, "prop": [0.1, 0.2] * 50}  # fmt: skip
    pq.write_table(pa.table(rows), tmp_path / "names.parquet")
    assert name_table(tmp_path / "names.parquet").races == ("B", "A")


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        ("name,n\nAna,5\nBo,6\n", [], r"line 1: expected a column 'name' and either a column that"),
        ("1,2\n3,4\n", [], r"line 1: expected a column 'name' and"),
        ("name,x,y\n" + "Ana,a,b\nBo,a,c\n" * 5, [], r"found name, x, y\. Name yours"),
        ("name,group,n\nAna,a,5\nBo,b,many\n", [], r"names\.csv, line 3: column 'n' should hold"),
        ("שם,א,ב\nדנה,0.5,0.5\nנור,0.5,x\nרן,1,0\n", ["groups=א|ב"], r"line 3: column 'ב' has no"),
        (
            "name,a,b\nAna,0.5,0.5\nBo,0.9,0.8\n",
            ["groups=a|b"],
            r"line 3: the group columns of 'Bo' sum to",
        ),
        ("name,race\nAna,white\nBo,martian\n", [], r"line 3: column 'race' holds 'martian'"),
        ("name,race\nAna,white\n", ["group=rasse"], r"line 1: expected a column 'rasse'"),
    ],
)
def test_bad_files_name_line_and_what_was_expected(
    write: Write, text: str, columns: list[str], message: str
) -> None:
    with pytest.raises(DataError, match=message) as caught:
        name_table(write("names.csv", text), columns=columns)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("columns", [["name"], ["name=a", "name=b"], ["group=a", "groups=b|c"]])
def test_bad_words_for_columns(write: Write, columns: list[str]) -> None:
    with pytest.raises(OptionError):
        name_table(write("names.csv", "name,white\nAna,1\n"), columns=columns)


@given(NAMES)
def test_keys_are_the_same_again_in_any_script(name: str) -> None:
    key = name_key(name)
    assert name_key(key) == key
    assert header_key(header_key(name)) == header_key(name)
    assert plain_form(plain_form(key)) == plain_form(key)
