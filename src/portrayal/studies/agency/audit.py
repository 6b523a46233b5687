"""The agency audit: its 5,400 prompts of LABE, how files describe theirs, and its stages."""

import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

import numpy as np

from portrayal.annotate import Annotation
from portrayal.annotate.agency.loading import check_classifier, classifier_label
from portrayal.annotate.agency.rows import agency_settings, cell_of, reading_beside
from portrayal.collect.fields import TextFields
from portrayal.config import option
from portrayal.errors import OptionError
from portrayal.measure.agency.texts import (
    EACH,
    MASKED,
    PROMPT,
    REASONS,
    TOO_FEW,
    UNMASKED,
    AgencyTexts,
    agency_texts,
    balanced,
    check_columns,
)
from portrayal.measure.tables import Tables
from portrayal.raters.sheets import evenly
from portrayal.records import ALL, Prompt
from portrayal.run.directory import Run, read_prompts, read_shards
from portrayal.studies.study import Options, PromptMaker, Study, said_of
from portrayal.types import Say
from portrayal.validate import check_count

ORIGINAL, FAIRNESS = "original", "fairness instruction"

FIELDS = TextFields(
    strata=("domain", "condition", "race", "gender", "name", "age", "occupation", "department"),
    required=(),
    values={"condition": {ORIGINAL: ORIGINAL, FAIRNESS: FAIRNESS, "fairness": FAIRNESS}},
    aliases={"domain": ("task", "text_type")},
)


@cache
def _data() -> dict[str, Any]:
    text = files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def prompts(*, fairness: bool = False) -> tuple[Prompt, ...]:
    """Return LABE's prompts in the order of Table 4.

    Parameters
    ----------
    fairness
        Append the fairness instruction of Table 15 to each prompt ("prompt-based mitigation").

    Returns
    -------
    tuple of Prompt
        5,400: 40 names × 5 ages × 12 occupations = 2,400 biographies and as many reference letters,
        and 40 names × 15 departments = 600 professor reviews. Strata: `domain`, `condition`,
        `race`, `gender`, `name`, and `age` and `occupation` or `department`.

    References
    ----------
    Wan & Chang (2024), Tables 4, 5, 6, 10 and 15.
    """
    data = _data()
    instruction = data["fairness"] if fairness else ""
    agency_prompts = []
    for task in data["task"]:
        descriptors = [data[f"{name}s"] for name in task["descriptors"]]
        # A name belongs to one group; all other descriptors are crossed with it.
        for group in data["group"]:
            for name, *values in product(group["names"], *descriptors):
                strata = {"race": group["race"], "gender": group["gender"], "name": name}
                strata |= dict(zip(task["descriptors"], values, strict=True))
                agency_prompts.append(_prompt(task, strata, instruction))
    return tuple(agency_prompts)


def _prompt(task: Mapping[str, str], strata: dict[str, str], instruction: str) -> Prompt:
    text = task["template"].format(**strata)
    condition, ending = ORIGINAL, ""
    if instruction:
        text += " " + instruction.format(text_type=task["text_type"])
        condition, ending = FAIRNESS, "-fairness"
    # A name tells race and gender here, so ids need neither.
    parts = [strata[name] for name in strata if name not in ("race", "gender")]
    prompt_id = "-".join(_slug(part) for part in (task["domain"], *parts)) + ending
    return Prompt(prompt_id, text, {"domain": task["domain"], "condition": condition} | strata)


@cache
def _slug(text: str) -> str:
    """Lower-case ASCII with hyphens: "José" is "jose", "Fine Arts department" "fine-arts"."""
    # Ids go into file names and tables of others, hence ASCII.
    return "-".join(_plain(text).casefold().removesuffix(" department").split())


REPEATED = (
    r"\s*Generate a (?:personal biography|review|detailed reference letter) for [^.\n]*\."
    r"(?:\s*When generating the [^.\n]*\.)?"
)
"""A prompt as base models write it again at the start of an answer."""

PROMPTS = PromptMaker(FIELDS, prompts, REPEATED)
"""The door by which the prompts are registered."""


ANNOTATORS = {MASKED: "agency.v1", UNMASKED: "agency-unmasked.v1"}
GROUP = ("gender", "race")
"""Groups that are compared where none are named, as far as the texts tell them."""
FIRST = ("male", "White")
"""Values that come first in a difference, as in the paper."""
STRATA = ("occupation", "department")
"""Strata of the published prompts, used where the user names none."""
_ALIKE = ("template", "scenario")
"""Usual columns of what texts of several groups share, by which they can be compared."""
_NAMED = 5
"""Strata that a line on the console names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgencyOptions(Options):
    """What a user may choose.

    Attributes
    ----------
    permutations
        Replicates of the null.
    classifier
        See `portrayal.annotate.agency.load_classifier`.
    masked
        Whether masked sentences are the primary result; both are measured and shown.
    by
        Columns that say whom a text is about; none takes those of `GROUP` that the texts have.
    stratum
        Column by which tables are split; None takes occupation or department.
    cluster
        Column whose values are the independent units, such as "name"; "text" takes each text,
        "prompt" prompts or blocks of them, None names beside these.
    min_group
        Texts of each group that a stratum needs; 0 needs none (Appendix C takes 10).
    per_stratum
        Texts of each group and stratum that are drawn; 0 takes all (Appendix C takes 120).
    correct_by, correct_sentences
        A classifier that reads a sample of the sentences too, by which shares and differences are
        corrected (two-phase), and about how many it reads, as evenly over groups, models and tasks
        as these allow.
    """

    permutations: int = option(500, "Replicates of the null.", panel="Statistics")
    classifier: str = option(
        "linear",
        "linear, untaught, transformer, lexicon[:FILE], sentiment:MODEL, a trained folder or a "
        "folder of such folders (checkpoints), llm:PROVIDER:MODEL[:FORM].",
    )
    correct_by: str | None = option(
        None, "Better classifier, such as transformer, by a sample of which shares are corrected."
    )
    correct_sentences: int = option(2000, "Sentences that --correct-by reads, about so many.")
    masked: bool = option(True, "Put the result of sentences with names and groups hidden first.")
    by: tuple[str, ...] = option(
        (), "Column whose values are compared; repeatable.", panel="Statistics"
    )
    stratum: str | None = option(None, "Column by which tables are split.", panel="Statistics")
    cluster: str | None = option(
        None,
        "Column whose values are the only units, such as name; text: each text; prompt: prompts.",
        panel="Statistics",
    )
    min_group: int = option(0, "Texts of each group that a stratum needs.", panel="Statistics")
    per_stratum: int = option(
        0, "Texts drawn of each group and stratum; 0 takes all.", panel="Statistics"
    )

    def __post_init__(self) -> None:
        """Refuse options that cannot be used, before any text is read."""
        Options.__post_init__(self)
        check_count("min_group", self.min_group, minimum=0)
        check_count("per_stratum", self.per_stratum, minimum=0)
        check_count("correct_sentences", self.correct_sentences, minimum=1)
        for spec in filter(None, (self.classifier, self.correct_by)):
            check_classifier(spec)
        if self.correct_by and (self.hand_labels or self.correct_by.startswith("llm:")):
            raise OptionError(
                f"--correct-by {self.correct_by}: expected a classifier that runs here, and no "
                "--hand-labels, which correct the same numbers."
            )
        # Resampling groups whole would leave no group to compare.
        if self.cluster in self.by:
            raise OptionError(
                f"--cluster {self.cluster} is a group: texts of one group are no unit to resample. "
                "Name a column with more values, such as the person's name."
            )
        if len(set(self.by)) < len(self.by):
            raise OptionError(f"a group is named twice: {', '.join(self.by)}.")

    def text_fields(self, fields: TextFields) -> TextFields:
        """Return the study's fields and the columns of groups, stratum and clusters."""
        return fields.with_strata(*_ALIKE).asking(self.asked)

    def hand_fields(self) -> tuple[str, ...]:
        """Return the fields that labels by hand may be of: factors, and agency of sentences."""
        return *Options.hand_fields(self), "agency"

    def group_values(self, strata: Iterable[Mapping[str, str]]) -> dict[str, set[str]]:
        """Return the values of strata and groups as estimates spell them."""
        spelled = ({name: _value(name, stratum) for name in stratum} for stratum in strata)
        return Options.group_values(self, spelled)

    @property
    def asked(self) -> dict[str, str]:
        """Columns that are asked for, with the option that names each."""
        options = dict.fromkeys(self.by, "--by")
        if self.stratum:
            options.setdefault(self.stratum, "--stratum")
        if self.cluster not in (None, EACH, PROMPT):
            options.setdefault(str(self.cluster), "--cluster")
        return options

    @property
    def maskings(self) -> tuple[str, str]:
        """The masking whose result comes first, and the other."""
        return (MASKED, UNMASKED) if self.masked else (UNMASKED, MASKED)


def annotations(run: Run, options: AgencyOptions) -> tuple[Annotation, ...]:
    """Return the primary annotation first, and the other beside it.

    Groups and strata that no text has are refused here, before a classifier reads all texts.
    """
    settings, other = agency_settings(options.classifier), reading_beside(options.classifier)
    first = other
    if run.prompts_path.exists():
        prompts_strata = tuple(read_prompts(run.prompts_path).values())
        group = options.by or _default_group(prompts_strata)
        check_columns(prompts_strata, group, options.stratum)
        # A sample corrects the first masking alone, as labels by hand do
        if options.correct_by:
            first = _second_reading(run, options, group)
    both = zip(options.maskings, (first, other), strict=True)
    return tuple(Annotation(ANNOTATORS[name], settings | {"beside": by}) for name, by in both)


def _second_reading(run: Run, options: AgencyOptions, group: Sequence[str]) -> dict[str, Any]:
    """Who reads a sample of the sentences, and with which chance one of a model, task, … is drawn.

    Sentences are counted by their ends, so that the sample is about as large as was asked for.
    """
    import pyarrow.compute as pc

    spec, by = str(options.correct_by), ("domain", "condition", *group)
    strata, sizes = read_prompts(run.prompts_path), Counter[str]()
    for (table,) in read_shards(run.texts, ["prompt_id", "model", "outcome", "text"]):
        ends = pc.count_substring_regex(table["text"], r"[.!?][^\w.!?]").fill_null(0).to_pylist()
        for row, n in zip(table.drop_columns("text").to_pylist(), ends, strict=True):
            if row["outcome"] == "ok":
                sizes[cell_of(row["model"], strata[row["prompt_id"]], by)] += n + 1
    counts = zip(sizes, evenly(options.correct_sentences, [*sizes.values()]), strict=True)
    rater = {"name": classifier_label(spec), "by": by, "seed": options.seed}
    return agency_settings(spec) | rater | {"chance": {cell: n / sizes[cell] for cell, n in counts}}


def read_texts(run: Run, options: AgencyOptions) -> AgencyTexts:
    """Return the texts of a run with complete annotations, after balanced sampling."""
    texts = agency_texts(
        run,
        {masking: run.annotations(ANNOTATORS[masking]) for masking in options.maskings},
        group=options.by or _default_group(read_prompts(run.prompts_path).values()),
        strata=(options.stratum,) if options.stratum else STRATA,
        spellings=_data()["spellings"],
        first=FIRST,
        cluster=options.cluster,
        table=options.hand_table(),
    )
    return balanced(texts, options.per_stratum, options.min_group, options.seed)


def say_left_out(run: Run, options: AgencyOptions, say: Say) -> None:
    """Say which texts are not measured, and why; silent where all are."""
    prompt_strata = read_prompts(run.prompts_path)
    group = options.by or _default_group(prompt_strata.values())
    all_grouped = all(_value(name, strata) for strata in prompt_strata.values() for name in group)
    # Reading all texts takes time, so only where some may be left out.
    if all_grouped and not (options.min_group or options.per_stratum):
        return
    texts = read_texts(run, options)
    codes = np.unique(texts.stratum.code[texts.left_out == REASONS.index(TOO_FEW)]).tolist()
    names = [texts.stratum.labels[code] if code >= 0 else "no stratum" for code in codes]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    # In the order of REASONS
    words = (
        f"beyond {options.per_stratum} of each group and stratum (--per-stratum)",
        f"in strata with fewer than {options.min_group} texts of a group of {' and '.join(group)} "
        f"(--min-group): {', '.join(names[:_NAMED])}{more}",
        f"without a value for {' or '.join(group)}",
    )
    n_by_reason = [int((texts.left_out == code).sum()) for code in range(len(REASONS))]
    for n, reason in zip(n_by_reason, words, strict=True):
        if n:
            say(f"left out: {n:,} of {len(texts.left_out):,} texts {reason}")
    if len(texts.left_out) and sum(n_by_reason) == len(texts.left_out):
        say("no text is left to measure")


def _value(name: str, strata: Mapping[str, str]) -> str:
    """The value of a column as the study reads it; "" where there is none."""
    value = strata.get(name, "")
    return str(_data()["spellings"].get(name, {}).get(value.casefold(), value))


def _default_group(strata: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    """The groups of `GROUP` that some text has a value for."""
    columns = {name for stratum in strata for name in stratum}
    groups = tuple(name for name in GROUP if name in columns)
    if not groups:
        read = f" (found: {', '.join(sorted(columns))})" if columns else ""
        raise OptionError(
            f"the texts have no column {' or '.join(GROUP)}{read}. Name the column that says whom "
            "a text is about with --by NAME."
        )
    return groups


def tables(run: Run, options: AgencyOptions) -> Tables:
    """Return what measures of agency read, from a run with complete annotations."""
    scope = options.scope(
        "agency", instruments={"classifier": classifier_label(options.classifier)}
    )
    return Tables(scope, {"agency_texts": lambda: read_texts(run, options)})


@cache
def known_prompts() -> tuple[Prompt, ...]:
    """Return LABE's prompts, without and with the fairness instruction.

    Published texts also answer prompts whose names have lost their accents ("Sofia"); these come
    first, so that a prompt's name stands for the wording with accents.
    """
    published = prompts() + prompts(fairness=True)
    return (
        tuple(replace(p, text=_plain(p.text)) for p in published if not p.text.isascii())
        + published
    )


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


STUDY = Study(
    name="agency",
    **said_of(__package__),
    fields=FIELDS,
    prompts=known_prompts,
    options=AgencyOptions,
    annotations=annotations,
    tables=tables,
    fit=say_left_out,
    stated={"stratum": ALL},
)
