"""Comparing, gating and documenting the groups of a factor of one's own."""

import base64
import gzip
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from e2e.conftest import NO_PAGE, Portrayal, command_line, write_lines

FAITH = """\
name = "faith"
label = "Faith"
note = "Words are mentions, not identities."
source = "written for this test"
[groups.sun]
label = "People of the Sun"
color = "#123ABC"
[groups.moon]
label = "People of the Moon"
[groups.star]
label = "<b>Star</b>"
[[sources]]
kind = "column"
name = "labels"
column = "faith"
[[sources]]
kind = "words"
words = { sun = ["sunny"], moon = ["moonlit"], star = ["starry"] }
[[baselines]]
name = "village-2020"
source = "Village council"
whole = false
note = "nobody counted the stars"
missing = ["star"]
shares = { sun = 0.5, moon = 0.3 }
"""
MOOD = """\
name = "mood"
label = "Mood"
note = "Mentions."
source = "written for this test"
[groups.glad]
label = "Glad"
[groups.sad]
label = "Sad"
[[sources]]
kind = "words"
words = { glad = ["gladly"], sad = ["sadly"] }
"""
STUDY = """\
name = "village"
factors = ["faith.toml", "mood.toml"]
strata = ["season"]
[people]
read = "none"
[[template]]
id = "{season}-{place}"
text = "Tell of a day at the {place} in {season}."
domain = "Village"
values = { season = ["spring", "autumn"], place = ["mill", "well", "gate", "barn", "hill", "inn"] }
"""
WORDS = {"sun": "sunny", "moon": "moonlit", "star": "starry"}


def _texts(folder: Path, name: str, star: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = []
    for season in ("spring", "autumn"):
        for place in ("mill", "well", "gate", "barn", "hill", "inn"):
            for _ in range(40):
                shares = [0.6 * (1 - star), 0.4 * (1 - star), star]
                faith = str(rng.choice(["sun", "moon", "star"], p=shares))
                mood = "gladly" if rng.random() < 0.5 else "sadly"
                text = f"A {WORDS[faith]} day. They {mood} went home."
                prompt = f"{season}-{place}"
                rows.append({"prompt_id": prompt, "model": "m", "faith": faith, "text": text})
    write_lines(folder / f"{name}.jsonl", rows)


def _quietly(folder: Path, *arguments: object) -> None:
    subprocess.run(command_line(*arguments), cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def village(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of one study: "after" has twice the share of people of the star, "before" does not."""
    folder = tmp_path_factory.mktemp("village")
    (folder / "faith.toml").write_text(FAITH, encoding="utf-8")
    (folder / "mood.toml").write_text(MOOD, encoding="utf-8")
    (folder / "village.toml").write_text(STUDY, encoding="utf-8")
    for name, star, seed in (("before", 0.2, 1), ("after", 0.4, 2)):
        _texts(folder, name, star, seed)
        _quietly(
            folder, "audit", "village.toml", "--texts", f"{name}.jsonl", "--out", name, *NO_PAGE
        )
    return folder


def test_compare_states_the_change_of_a_group_that_has_no_baseline(
    village: Path, inside: Portrayal
) -> None:
    found = inside("compare", village / "before", village / "after", "--format", "json").json()
    (each,) = found["comparisons"]
    of_star = [c for c in each["changes"] if c["group"] == {"faith": "star"}]
    shares = [c for c in of_star if c["measure"] == "group_share.v1" and c["audit_q"] is not None]
    assert {c["strata"]["seen_by"] for c in shares} == {"labels", "words"}
    assert all(c["audit_q"] < 0.05 and c["change"] > 0.1 and c["stated"] for c in shares)
    of_sun = {c["measure"] for c in each["changes"] if c["group"] == {"faith": "sun"}}
    assert "group_share.v1" not in of_sun  # its change is that of the ratio over the baseline
    assert "group_ratio.v1" in of_sun


def test_compare_names_groups_as_the_factor_does_wherever_its_file_is(
    village: Path, inside: Portrayal, tmp_path: Path
) -> None:
    for name in ("before", "after"):
        shutil.copytree(village / name, tmp_path / name)
    said = inside("compare", "before", "after").ok().out
    assert "against village-2020" in " ".join(said.split())
    assert "those that may be stated" in said
    table = inside("compare", "before", "after", "--all").ok().out
    assert "People of the Sun" in " ".join(table.split())


def test_a_factor_that_says_something_else_is_another_instrument(
    village: Path, inside: Portrayal, tmp_path: Path
) -> None:
    for name in ("faith.toml", "mood.toml", "village.toml"):
        shutil.copy(village / name, tmp_path)
    texts = village / "after.jsonl"
    inside("audit", "village.toml", "--texts", texts, "--out", "same", *NO_PAGE).ok()
    inside("compare", village / "before", "same").ok()  # the same factor in another folder
    other = FAITH.replace('"moonlit"', '"moonlit", "moony"')
    (tmp_path / "faith.toml").write_text(other, encoding="utf-8")
    inside("audit", "village.toml", "--texts", texts, "--out", "other", *NO_PAGE).ok()
    inside("compare", village / "before", "other").refused("factor faith", "--despite")
    inside("compare", village / "before", "other", "--despite", "factor faith").ok()


def test_a_gate_judges_the_factors_of_a_run(
    village: Path, inside: Portrayal, tmp_path: Path
) -> None:
    before, after, policy = village / "before", village / "after", tmp_path / "gate.toml"
    rule = '[[rule]]\nname = "faiths"\nmeasure = "group_share"\nallowed_change = 0.05\n'
    rule += 'group = { faith = "*" }\nwhere = { seen_by = "*" }\nuntestable = "skip"\n'
    policy.write_text(rule, encoding="utf-8")
    judged = inside("gate", after, "--against", before, "--policy", policy)
    assert judged.status == 1, judged.err
    said = inside("gate", after, "--against", before, "--policy", policy, "--format", "markdown")
    assert "<b>Star</b> · group share · by words (m)" in said.out.replace("\\", "")
    same = inside("gate", before, "--against", before, "--policy", policy)
    assert same.status in (0, 3), same.out
    rule = '\n[[rule]]\nname = "together"\nmeasure = "association"\nallowed_change = 1.5\n'
    rule += 'group = { faith = "*", mood = "glad" }\nwhere = { seen_by = "words and words" }\n'
    policy.write_text(f'passes = "no_excess_shown"\n{rule}', encoding="utf-8")
    judged = inside("gate", after, "--against", before, "--policy", policy, "--format", "json")
    assert len(json.loads(judged.out)["checks"]) == 3
    assert judged.status == 0, judged.out


def test_documentation_and_exports_name_the_groups(
    village: Path, inside: Portrayal, tmp_path: Path
) -> None:
    inside("evidence", village / "after", "--out", "card.md").ok()
    card = (tmp_path / "card.md").read_text(encoding="utf-8")
    assert "People of the Sun" in card
    assert "against village-2020" in card
    inside("report", village / "after", "--out", "report.html").ok()
    assert "People of the Sun" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_report_names_groups_sources_and_baselines_and_draws_shares(
    village: Path, inside: Portrayal, tmp_path: Path
) -> None:
    inside("report", village / "after", "--out", "report.html").ok()
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Baselines: village-2020 (Faith): Village council." in page
    words = re.sub(r"<[^>]+>", "", page)  # terms are marked within sentences
    assert "No baseline gives a share of" in words
    # Shares are said and drawn
    assert re.search(r"by labels: &lt;b&gt;Star&lt;/b&gt; 43.3.%, People of the Sun 33.3.%", words)
    packed = re.search(r'id="data">\s*([^<]+?)\s*<', page)
    assert packed
    assert "#123abc" in gzip.decompress(base64.b64decode(packed[1])).decode().casefold()
