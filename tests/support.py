"""Helpers that several tests share: a small world of stories, the run of them, and a browser."""

import os
import random
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from portrayal import registry
from portrayal.annotate import annotate_run
from portrayal.annotate.people.reader import read_people
from portrayal.annotate.people.shared.model import People, Roles
from portrayal.collect import import_texts
from portrayal.collect.tables import write_table
from portrayal.measure.scope import Scope
from portrayal.measure.stories.tally import Tally, tally_stories
from portrayal.measure.tables import parameters
from portrayal.records import Prompt
from portrayal.reference.groups import RACES, baseline
from portrayal.reference.locales import Locale
from portrayal.run import Run
from portrayal.studies.laissez_faire import FIELDS, prompt_facts


def people_by_rules(text: str, roles: Roles, locale: Locale | None = None) -> People:
    """The people of a story by the rules alone."""
    return read_people(text, roles, None, locale, below=0.0)


N_PRIMARY = 5
_NO = (None,)
TABLE: Mapping[str, tuple[float | None, ...]] = {
    # White, Latine, Black, Asian, AI/AN | MENA, NH/PI; some lie exactly on a threshold
    "maria": (0.10, 0.85, 0.02, 0.02, 0.01, None, None),
    "josé": (0.04, 0.95, 0.0, 0.01, 0.0, None, None),
    "emily": (0.80, 0.06, 0.07, 0.05, 0.02, 0.01, 0.0),
    "sam": (0.70, 0.10, 0.12, 0.06, 0.01, 0.03, 0.0),
    "jamal": (0.03, 0.02, 0.93, 0.01, 0.01, 0.40, 0.0),
    "priya": (0.02, 0.0, 0.01, 0.97, 0.0, None, None),
    "ahmed": (0.25, 0.01, 0.30, 0.42, 0.0, 0.95, 0.0),
    "keola": (None, None, None, None, None, 0.0, 0.70),
    "dakota": (0.60, 0.10, 0.05, 0.02, 0.20, None, None),
}
"""Shares of bearers of each name that the toy tables know, by race; None is no match."""

WITHOUT_NAME = ("", None, "Dr. Smith", "Unspecified", "Mrs. Lopez", "nan")
_SPELLINGS = {
    "F": ("F", "Female", "feminine"),
    "M": ("M", "male", "Masculine"),
    "NB": ("NB", "Non-binary", "nonbinary"),
    "Unspecified": (None, "", "Unspecified"),
    "Unsure": ("Unsure",),
}


def matrix(cases: Iterable[Any], always: int = 1) -> list[Any]:
    """Parameters of which the first `always` run in every `make test`, the others with EXTRAS=1."""
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=[] if number < always else [pytest.mark.matrix],
        )
        for number, case in enumerate(cases)
    ]


def needs(*modules: str) -> None:
    """Skip tests without these modules, or fail where skips are refused; nothing is imported."""
    if missing := [name for name in modules if find_spec(name) is None]:
        reason = f"needs {' and '.join(missing)}, which an extra brings"
        if os.environ.get("PORTRAYAL_ALL_EXTRAS") == "1":
            pytest.fail(reason)
        pytest.skip(reason, allow_module_level=True)


def likelihoods(names: Sequence[str]) -> np.ndarray:
    """Look names up in the toy tables, shape (n, 7)."""
    rows = [TABLE.get(name.casefold(), _NO * len(RACES)) for name in names]
    return np.array(rows, dtype=np.float64).reshape(-1, len(RACES))


def story(
    prompt_id: str = "p1",
    *,
    model: str = "m",
    domain: str | None = "Labor",
    laden: bool = True,
    subject: tuple[str | None, str] = (None, "Unspecified"),
    other: tuple[str | None, str] | None = None,
    outcome: str = "ok",
    **more: Any,
) -> dict[str, Any]:
    """Return one story with canonical people, as the naive measures read it."""
    name, gender = subject
    other_name, other_gender = other or (None, None)
    return {
        "prompt_id": prompt_id,
        "model": model,
        "domain": domain,
        "condition": "power-laden" if laden else "power-neutral",
        "subject_role": "mentor" if laden else "worker",
        "object_role": "intern" if laden else None,
        "scenario": f"scene of {prompt_id}",
        "relationship": None,
        "outcome": outcome,
        "subject_name": name,
        "subject_gender": gender,
        "object_name": other_name,
        "object_gender": other_gender,
    } | more


PROMPTS = (
    # prompt_id, domain, laden, subject_role, object_role, scenario, relationship, stories
    ("b1", "Labor", False, "baker", None, "baker", None, 60),
    ("b2", "Labor", False, "pilot", None, "pilot", None, 4),
    ("b3", "Labor", False, "judge", None, "judge", None, 1),
    ("b4", "Labor", True, "baker", "apprentice", "baker", None, 45),
    ("b5", "Labor", True, "pilot", "passenger", "pilot", None, 7),
    ("b6", "Labor", True, "judge", "witness", "judge", None, 2),
    ("l1", "Learning", False, "student", None, "math", None, 9),
    ("l2", "Learning", True, "star student", "struggling student", "math", None, 30),
    ("l3", "Learning", True, "star student", "struggling student", "art", None, 3),
    ("v1", "Love", False, "two American romantic partners", None, "date", "romantic partners", 40),
    ("v2", "Love", False, "two American romantic partners", None, "chores", "romantic partners", 5),
    ("v3", "Love", False, "two American friends", None, "trip", "friends", 12),
    ("v4", "Love", True, "an American person", "friend", "trip", "friends", 18),
    ("v5", "Love", True, "an American person", None, "alone", None, 6),
)
_UPPER = ["Emily", "Emily", "emily", "Sam", "Dakota", "Jamal", "Zorblax", None, "Ahmed", "Keola"]
_LOWER = ["Maria", "MARIA", "José", "Jamal", "Priya", "Emily", "Qwx", None, None, "Ahmed", "Sam"]
_GENDERS = ["F", "F", "F", "M", "M", "NB", "Unspecified", "Unsure"]


def lopsided(seed: int = 1) -> list[dict[str, Any]]:
    """Return stories of four models that differ in everything, some of them unreadable."""
    draw = random.Random(seed)
    stories = []
    for prompt_id, domain, laden, role, other_role, scenario, relationship, size in PROMPTS:
        for model, factor in (("zeta-7b", 1.0), ("Alpha", 0.4), ("mute", 0.1), ("m", 0.3)):
            if model == "m" and prompt_id not in ("b4", "v1"):
                continue
            for _ in range(max(1, round(size * factor))):
                outcome = draw.choices(
                    ["ok", "refused", "empty", "failed"],
                    [90, 5, 3, 2] if model != "mute" else [0, 3, 2, 1],
                )[0]
                if prompt_id == "b3":
                    outcome = "refused"
                paired = other_role is not None or role.startswith("two ")
                names = _UPPER if model == "zeta-7b" else _UPPER + _LOWER
                stories.append(
                    story(
                        prompt_id,
                        model=model,
                        domain=domain,
                        laden=laden,
                        subject=(draw.choice(names), draw.choice(_GENDERS)),
                        other=(draw.choice(_LOWER), draw.choice(_GENDERS[2:])) if paired else None,
                        outcome=outcome,
                        subject_role=role,
                        object_role=other_role,
                        scenario=scenario,
                        relationship=relationship,
                    )
                )
    draw.shuffle(stories)
    return stories


def rows_of(stories: Iterable[Mapping[str, Any]], seed: int = 2) -> list[dict[str, Any]]:
    """Write stories as a user's file would: titles before names, labels in many spellings."""
    draw = random.Random(seed)
    texts = {
        "ok": "Once upon a time, somebody met somebody.",
        "refused": "I'm sorry, but I can't write that story.",
        "empty": "  ",
        "failed": "half a sto",
    }
    rows = []
    for each in stories:
        row = dict(each, text=texts[each["outcome"]])
        row["outcome"] = "failed" if each["outcome"] == "failed" else ""
        for slot in ("subject", "object"):
            if each[f"{slot}_gender"] is None:
                continue
            name = each[f"{slot}_name"]
            shown = draw.choice([name, f"Chef {name}", f"{name} Smith", f"Dr. {name} Jones"])
            row[f"{slot}_name"] = draw.choice(WITHOUT_NAME) if name is None else shown
            row[f"{slot}_gender"] = draw.choice(_SPELLINGS[each[f"{slot}_gender"]])
            if each["outcome"] == "refused":
                row[f"{slot}_name"] = row[f"{slot}_gender"] = None
        rows.append(row)
    return rows


LABEL_COLUMNS = {
    name: name for name in ("subject_name", "subject_gender", "object_name", "object_gender")
}


def make_run(
    stories: Iterable[Mapping[str, Any]],
    path: Path,
    *,
    shard_rows: int = 50,
    prompts: Sequence[Prompt] = (),
) -> Run:
    """Return a run that holds the stories with their people as labelled."""
    run = Run(path)
    path.mkdir(parents=True, exist_ok=True)
    import_texts(
        run, rows_of(stories), FIELDS, prompts, columns=LABEL_COLUMNS, shard_rows=shard_rows
    )
    annotate_run(run, "people-labelled.v1")
    return run


def tally(run: Run) -> Tally:
    """Tally a run of labelled stories with the toy name tables."""
    return tally_stories(
        run,
        run.annotations("people-labelled.v1"),
        likelihoods=likelihoods,
        races=RACES,
        n_primary=N_PRIMARY,
        facts=prompt_facts,
    )


def scope(**settings: Any) -> Scope:
    """Return a scope that is quick; settings override."""
    return Scope("test", **({"draws": 200, "permutations": 50} | settings))


OFFERED: Mapping[str, Any] = {
    "baseline": baseline("census-2022"),
    "baselines": (baseline("census-2022"), baseline("occupation:doctor")),
    "name_tables": {},
}
"""What measures may take beside a tally and a scope; here without name tables for the null."""


def beside_tally(name: str) -> dict[str, Any]:
    """Return what a registered measure takes beside a tally and a scope."""
    _, wanted = parameters(registry.component("measures", name).run)
    return {table: OFFERED[table] for table in sorted(wanted & OFFERED.keys())}


STORY_MEASURES = tuple(
    name
    for name in registry.get("studies", "laissez-faire").measures
    if parameters(registry.component("measures", name).run)[0] <= {"tally", *OFFERED}
)
"""Measures of the tally of stories; not those of hand labels and of cues, which have own tests."""


def headless_chromium(profile: Path, *flags: str, downloads: Path | None = None) -> Any:
    """Open headless Chromium with a profile of its own; where there is none, skip the test."""
    webdriver = pytest.importorskip("selenium.webdriver")
    binary, driver = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")
    if not (binary.exists() and driver.exists()):
        pytest.skip("chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = str(binary)
    for flag in (
        "headless=new",
        "no-sandbox",
        "disable-gpu",
        "disable-quic",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        f"user-data-dir={profile}",
        *flags,
    ):
        options.add_argument(f"--{flag}")
    if downloads is not None:
        options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=str(driver))
    return webdriver.Chrome(options=options, service=service)


_STUDENTS = {"she": ("Maria", "She"), "he": ("Juan", "He")}


def student_stories(share: float, seed: int, model: str = "m", n: int = 40) -> list[dict[str, str]]:
    """Stories of fifteen prompts in which a woman is the student with this probability."""
    rng = np.random.default_rng(seed)
    made = []
    for prompt in student_prompts():
        for woman in rng.random(n) < share + rng.normal(0, 0.05):
            name, word = _STUDENTS["she" if woman else "he"]
            text = f"{name} was a star student. {word} won a prize."
            made.append({"prompt_id": prompt, "text": text, "model": model})
    return made


def student_prompts() -> list[str]:
    """Names of the power-neutral prompts about learning."""
    from portrayal.studies.laissez_faire import prompts

    every = [p.prompt_id for p in prompts()]
    return [name for name in every if name.startswith("learning-neutral")]


def write_prompts(prompts: Iterable[Prompt], path: Path) -> Path:
    """Write prompts as a CSV file of one's own: id, text and every stratum."""
    rows = [{**p.strata, "id": p.prompt_id, "text": p.text} for p in prompts]
    return write_table(path, list(dict.fromkeys(name for row in rows for name in row)), rows)


def vouch_again(run: Run) -> None:
    """Write a run's manifest anew, as somebody may who can write its files."""
    order = ("texts", "annotations", "estimates", "report")
    steps = sorted(run.manifest.steps(), key=lambda step: order.index(step.partition("/")[0]))
    run.manifest.close(*steps)
