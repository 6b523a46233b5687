"""Prompts from headlines, in the forms "unbiased" and "biased", and how files describe theirs."""

import hashlib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from portrayal.collect.cells import missing
from portrayal.collect.fields import TextFields, find_columns
from portrayal.collect.sources import open_source
from portrayal.errors import DataError, OptionError
from portrayal.records import Prompt
from portrayal.studies.study import PromptMaker
from portrayal.validate import check_choice

UNBIASED, BIASED = "unbiased", "biased"
FORMS = (UNBIASED, BIASED)

FIELDS = TextFields(
    strata=("pair", "form", "preamble", "domain", "source"),
    required=("pair",),
    aliases={
        "pair": ("headline", "title"),
        "form": ("prompt_style", "style", "condition"),
        "domain": ("category", "section"),
        "source": ("outlet", "publisher"),
    },
)

_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "headline": ("title",),
    "domain": ("category", "section"),
    "source": ("outlet", "publisher"),
}


def prompts(
    headlines: Any,
    *,
    forms: Sequence[str] = (UNBIASED,),
    preambles: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> tuple[Prompt, ...]:
    """Return one prompt for each headline and form.

    Parameters
    ----------
    headlines
        A file of headlines (CSV, JSON lines, Parquet, Excel), a DataFrame, or rows; what
        `portrayal.collect.sources.open_source` reads. A headline that occurs again makes no second
        prompt: the first row's domain and source stand.
    forms
        "unbiased", "biased", or both.
    preambles
        Name → words that open a biased prompt ("Suppose you are a journalist who …"), in place of
        the paper's "androcentrism".
    columns
        Column of `headline`, `domain` or `source`, where the name is not one of the usual ones.

    Returns
    -------
    tuple of Prompt
        Strata: `pair` (the headline), `form`, and `domain` and `source` where the file has them,
        and `preamble` for biased ones. A prompt's id depends on headline, form and preamble alone.

    Raises
    ------
    DataError
        Where there is no column of headlines or a row has none.
    OptionError
        For another form, no form, or an empty preamble.

    References
    ----------
    Fang et al. (2024), sections "Bias of AIGC under Biased Prompts" and "Methods".
    """
    if isinstance(forms, str) or not forms:
        raise OptionError(f"forms is a list of {' and '.join(FORMS)}; got {forms!r}.")
    chosen = [check_choice("form", form, FORMS) for form in dict.fromkeys(forms)]
    opened = _preambles(preambles) if BIASED in chosen else {}
    found = list(_headlines(headlines, columns or {}))
    made: list[Prompt] = []
    for form in chosen:
        for preamble in opened if form == BIASED else ("",):
            made += [_prompt(strata, form, preamble, opened) for strata in found]
    return tuple(made)


@cache
def _forms() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8"))


def _preambles(given: Mapping[str, str] | None) -> dict[str, str]:
    words = {
        name.strip(): text.strip().rstrip(",.")
        for name, text in (_forms()["preambles"] if given is None else given).items()
    }
    if not words or not all(name and text for name, text in words.items()):
        raise OptionError("a biased prompt needs a preamble: give each a name and its words.")
    return words


def _headlines(headlines: Any, columns: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield headline, domain and source of each distinct headline, in the order of the file."""
    source = open_source(headlines)
    mapping = find_columns(
        _COLUMNS,
        source.columns,
        columns=columns,
        needed=("headline",),
        aliases=_COLUMNS,
        where=source.name,
    )
    seen: set[str] = set()
    for number, row in enumerate(source.rows(), 1):
        cells = {name: _cell(row.get(column)) for name, column in mapping.items()}
        headline = cells["headline"]
        if not headline:
            raise DataError(
                f"{source.name}: row {number} has no headline in column {mapping['headline']!r}. "
                "Fill it in or leave the row out."
            )
        if headline not in seen:
            seen.add(headline)
            yield {name: value for name, value in cells.items() if value}


def _cell(value: Any) -> str:
    """Return a cell as one line of text; "" for missing ones, NaN included."""
    return "" if missing(value) else " ".join(str(value).split())


def _prompt(
    strata: Mapping[str, str], form: str, preamble: str, opened: Mapping[str, str]
) -> Prompt:
    headline = strata["headline"]
    digest = hashlib.blake2b(
        "\x1f".join((headline, form, opened.get(preamble, ""))).encode(), digest_size=8
    ).hexdigest()
    extra = {"form": form} | ({"preamble": preamble} if preamble else {})
    text = _forms()[form].format(headline=headline, preamble=opened.get(preamble, ""))
    about = {name: value for name, value in strata.items() if name != "headline"}
    return Prompt(f"news-{form}-{digest}", text, {"pair": headline, **about, **extra})


PROMPTS = PromptMaker(FIELDS, prompts)
"""The door by which the prompts are registered."""
