import json

from command import invoke

ROWS = "text,label\n" + "They led the firm.,1\nThey cared for us.,0\n" * 12


def run(*arguments):
    done = invoke(*arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_train_and_score(tmp_path):
    path = tmp_path / "gold.csv"
    path.write_text(ROWS)
    said = run("build", "classifier", "--hand-labels", path, "--out", tmp_path / "mine")
    assert "model card" in said
    found = json.loads(
        run(
            "score",
            "agency",
            "--hand-labels",
            path,
            "--classifier",
            tmp_path / "mine",
            "--format",
            "json",
        )
    )
    assert [row["masked"] for row in found["scores"]] == [True, False]
    assert found["scores"][0]["accuracy"]["value"] == 1.0
    assert any(row["accuracy"] == 91.69 for row in found["published"])


def test_the_table_shows_the_published_rows(tmp_path):
    path = tmp_path / "gold.csv"
    path.write_text(ROWS)
    said = run("score", "agency", "--hand-labels", path, "--masked")
    assert "91.69" in said
    assert "linear-lac" in said  # its version folds onto the next line of 80 columns
    assert "as they stand " not in said


def test_checkpoints_are_scored_one_by_one_and_as_a_set(tmp_path):
    path = tmp_path / "gold.csv"
    path.write_text(ROWS)
    out = tmp_path / "set"
    for seed in range(3):
        run("build", "classifier", "--hand-labels", path, "--out", out / f"seed-{seed}")
    given = ("score", "agency", "--hand-labels", path, "--classifier", out)
    found = json.loads(run(*given, "--format", "json"))
    assert len(found["scores"]) == 8  # three checkpoints and their mean, of both kinds
    assert found["scores"][3]["classifier"] == "3 checkpoints:set"


def test_a_preset_that_is_not_known_is_refused(tmp_path):
    path = tmp_path / "gold.csv"
    path.write_text(ROWS)
    given = (
        "build",
        "classifier",
        "--hand-labels",
        path,
        "--out",
        tmp_path / "o",
        "--recipe",
        "wan",
    )
    done = invoke(*given)
    assert done.exit_code != 0
    assert "wan-2024" in done.stderr
