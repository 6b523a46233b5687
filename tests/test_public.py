"""The public door: what `dir`, an editor and a notebook show."""

import html
import inspect
import math
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pytest

import portrayal
from portrayal.collect.promptfile import read_prompts
from portrayal.comparison.result import Change
from portrayal.errors import DataError, OptionError
from portrayal.gating.verdict import Limit, RuleCheck, Verdict
from portrayal.records import Estimate, Interval, Null, Test
from portrayal.run import Estimates, Run, flatten_estimates

HOSTILE = "<script>alert(1)</script>"
COLOURS = ("color", "background", "style=")


def test_dir_shows_the_doors_and_nothing_else() -> None:
    shown = dir(portrayal)
    assert {"audit", "compare", "gate", "open_run", "plan", "write_report"} <= {*shown}
    assert {*shown} == {*portrayal.__all__}
    assert not {"Any", "TYPE_CHECKING", "import_module"} & {*shown}
    for name in shown:
        assert not isinstance(getattr(portrayal, name), ModuleType), name


def test_every_door_has_types_and_words_for_an_editor() -> None:
    for name in sorted(set(dir(portrayal)) - {"__version__"}):
        thing = getattr(portrayal, name)
        assert inspect.getdoc(thing), name
        if inspect.isfunction(thing):
            signature = inspect.signature(thing)
            untyped = [p for p in signature.parameters.values() if p.annotation is p.empty]
            assert not untyped, name
            assert signature.return_annotation is not signature.empty, name


def test_an_editor_knows_the_doors_without_running_them() -> None:
    """Static tools read the imports under TYPE_CHECKING: they name what `_MODULES` loads."""
    source = Path(portrayal.__file__).read_text(encoding="utf-8")
    for name, module in portrayal._MODULES.items():
        head = source.partition("__all__")[0]
        assert any(
            line.strip().startswith(f"from {module} import") and name in line
            for line in head.splitlines()
        ), name


ROWS = (
    Estimate(
        "s",
        "representation.v1",
        "ratio",
        "character",
        {"domain": "Love", "model": "m", "role": "all", "condition": "neutral"},
        {"race": "Black", "gender": "F"},
        0.5,
        Interval(0.2, math.inf, 0.95, "by hand"),
        null=Null(1.0, 0.8, 1.2, 0.95, "drawn"),
        tests=(Test(0.01, "t", 0.02, 0.03),),
        n_units=3.5,
        details={"share": 0.1},
    ),
    Estimate(
        "s", "other.v2", "share", "text", {"model": HOSTILE}, {}, None, undefined="none there"
    ),
)


def test_the_tidy_table_has_the_same_columns_for_every_run() -> None:
    full, empty = Estimates(ROWS).table, Estimates(()).table
    assert full.column_names == empty.column_names
    assert full.num_columns <= 25
    assert full.schema.names[:-1] == empty.schema.names[:-1]
    assert full.schema.types[:-1] == empty.schema.types[:-1]
    first, second = full.to_pylist()
    assert first["id"] == ROWS[0].id
    assert (first["domain"], first["race"], first["gender"]) == ("Love", "Black", "F")
    assert (first["where"], first["group"]) == ("condition=neutral", "race=Black, gender=F")
    assert (first["value"], first["low"], first["high"]) == (0.5, 0.2, math.inf)
    assert (first["p"], first["q"], first["audit_q"]) == (0.01, 0.02, 0.03)
    assert first["details"]["share"] == 0.1
    assert first["details"]["condition"] == "neutral"
    assert second["undefined"] == "none there"
    assert second["details"]["share"] is None


def test_the_tidy_table_loses_nothing_that_the_flat_one_has(sample_run: Run) -> None:
    tidy, flat = sample_run.estimates.table, flatten_estimates(sample_run.records)
    assert tidy.num_columns == 25
    assert flat.num_columns > 60
    for narrow, wide in zip(tidy.to_pylist(), flat.to_pylist(), strict=True):
        every = {**narrow["details"], **{k: v for k, v in narrow.items() if k != "details"}}
        assert {k: every[k] for k, v in wide.items() if v is not None} == {
            k: v for k, v in wide.items() if v is not None
        }


def test_an_id_is_of_one_estimate_and_the_same_in_every_run(sample_run: Run) -> None:
    ids = [e.id for e in sample_run.records]
    assert len(set(ids)) == len(ids)
    again = Run.open(sample_run.path).records
    assert [e.id for e in again] == ids
    swapped = dict(reversed(ROWS[0].strata.items()))
    other = Estimate("s", "representation.v1", "ratio", "character", swapped, ROWS[0].group, 9.0)
    assert other.id == ROWS[0].id


def test_tables_are_read_by_pandas_polars_and_arrow() -> None:
    found = Estimates(ROWS)
    frame = found.to_pandas()
    assert frame.loc[0, "details"]["share"] == 0.1
    assert "share" not in frame.loc[1, "details"]
    assert pa.table(found).num_rows == 2
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(found).height == 2


def test_where_chooses_and_a_slip_of_the_pen_is_an_error() -> None:
    found = Estimates(ROWS)
    assert list(found.where("representation", race="Black")) == [ROWS[0]]
    assert list(found.where(model=HOSTILE)) == [ROWS[1]]
    assert found[ROWS[1].id] == found[1] == ROWS[1]
    with pytest.raises(KeyError):
        found["e-0000000000"]
    with pytest.raises(OptionError, match="race=Blak; values: Black"):
        found.where(race="Blak")
    with pytest.raises(OptionError, match="'rase'"):
        found.where(rase="Black")
    with pytest.raises(OptionError, match=r"'repr'; measures: representation\.v1"):
        found.where("repr")


def _verdict() -> Verdict:
    what = ("m.v1", "ratio", {"domain": HOSTILE}, {"race": "Black"}, "ratio", "m", "m")
    row = Change(*what, 1.0, 2.0, 2.0, 1.5, 3.0)
    check = RuleCheck("rule", row, (0.8, 1.25), status="fail")
    return Verdict("fail", HOSTILE, None, 0.95, "strict", (check,), (Limit("r", "refused", 1, 0),))


def test_what_notebooks_show_is_escaped_short_and_leaves_colours_to_the_theme(
    sample_run: Run,
) -> None:
    pages = {
        "estimates": Estimates(ROWS * 30)._repr_html_(),
        "estimate": ROWS[1]._repr_html_(),
        "verdict": _verdict()._repr_html_(),
        "run": sample_run._repr_html_(),
        "report": portrayal.Report.of(sample_run)._repr_html_(),
    }
    for name, page in pages.items():
        assert "<script" not in page, name
        assert len(page) < 20_000, name
        assert not any(word in page for word in COLOURS), name
    assert all("&lt;script&gt;" in pages[name] for name in ("estimates", "estimate", "verdict"))
    assert "the first 20 of them" in pages["estimates"]
    assert "300 stories" in pages["run"]


def test_a_run_that_was_not_measured_says_so(tmp_path: Path) -> None:
    run = Run(tmp_path / HOSTILE.replace("/", ""))
    assert "no estimates yet" in run._repr_html_()
    assert "<script" not in run._repr_html_()


def test_a_plot_is_the_report_s_chart(sample_run: Run) -> None:
    for measure in ("representation", "subordination.v1", "outcomes"):
        figure = sample_run.plot(measure)
        assert ElementTree.fromstring(figure.svg).get("width")
        assert figure.svg in figure._repr_html_()
        assert html.escape(figure.title) in figure._repr_html_()
    with pytest.raises(OptionError, match="no estimate is of 'nothing'"):
        sample_run.plot("nothing")
    with pytest.raises(OptionError, match="there is no number 7"):
        sample_run.plot("representation", figure=7)


def _frames(rows: list[dict[str, Any]]) -> list[Any]:
    tables: list[Any] = [pa.Table.from_pylist(rows)]
    for library in ("pandas", "polars"):
        try:
            tables.append(__import__(library).DataFrame(rows))
        except ImportError:
            continue
    return tables


STORY = "Maria was a star student. She helped her classmate Juan, and he thanked her."


def test_a_frame_goes_in_where_a_file_does(tmp_path: Path) -> None:
    stories = [{"prompt_id": "learning-neutral-arts", "text": STORY}] * 3
    quick: dict[str, Any] = {"report": False, "draws": 100, "permutations": 20}
    found = []
    for number, texts in enumerate(_frames(stories)):
        run = portrayal.audit(
            study="laissez-faire", texts=texts, out=tmp_path / str(number), **quick
        )
        found.append([e.value for e in run.records])
        with pytest.raises(OptionError, match="name_table takes the path of a file"):
            portrayal.audit(study="laissez-faire", texts=texts, name_table=texts)
    assert len(found) >= 2
    assert all(values == found[0] for values in found)


def test_names_go_in_as_a_frame() -> None:
    from portrayal.reference.names import name_table

    names = ("Maria", "Juan", "Emily")
    rows = [{"name": n, "count": 900, "White": 0.2, "Black": 0.1, "Latine": 0.7} for n in names]
    for frame in _frames(rows):
        table = name_table(frame)
        assert table.n_names == 3
        assert table.likelihoods(["Maria"]).round(2).tolist() == [[0.2, 0.7, 0.1]]


def test_plain_texts_and_labels_go_in_as_a_frame() -> None:
    from portrayal.annotate.agency.labelled import read_labelled
    from portrayal.collect.corpus import read_plain
    from portrayal.raters.people import read_gold

    for frame in _frames([{"text_id": "a", "text": STORY, "label": "agentic"}]):
        (text,) = read_plain(frame)
        assert text.text == STORY
        with pytest.raises(DataError, match="the table: expected agentic and communal"):
            read_labelled(frame)
        with pytest.raises(DataError, match="the table: no column"):
            list(read_gold(frame))


def test_prompts_go_in_as_a_frame() -> None:
    from portrayal.studies.news.audit import PROMPTS

    rows = [{"id": "a", "text": "Write on tea.", "pair": "Tea", "form": "original"}]
    made = [read_prompts(table, PROMPTS.fields) for table in [rows, *_frames(rows)]]
    assert all(each == made[0] for each in made)
    assert made[0][0].text == "Write on tea."
