import json

from typer.testing import CliRunner

from portrayal.cli import app

ROWS = "text,label\n" + "They led the firm.,1\nThey cared for us.,0\n" * 12


def run(*arguments):
    done = CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_train_and_score(tmp_path):
    path = tmp_path / "gold.csv"
    path.write_text(ROWS)
    said = run("train", "agency", "--labelled", path, "--out", tmp_path / "mine")
    assert "model card" in said
    found = json.loads(
        run("score", "agency", "--gold", path, "--classifier", tmp_path / "mine", "--json")
    )
    assert [row["masked"] for row in found["scores"]] == [True, False]
    assert found["scores"][0]["accuracy"]["value"] == 1.0
    assert any(row["accuracy"] == 91.69 for row in found["published"])


def test_the_table_shows_the_published_rows(tmp_path):
    path = tmp_path / "gold.csv"
    path.write_text(ROWS)
    said = run("score", "agency", "--gold", path, "--masked")
    assert "91.69" in said
    assert "linear-lac.v1" in said
    assert "as they stand " not in said
