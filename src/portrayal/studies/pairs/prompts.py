"""The prompts of pairs: templates, the people who stand in them, and a table of cases."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from portrayal.collect.promptfile import (
    PromptEntry,
    distinct,
    fill,
    read_prompts,
    rows_of,
    slots_of,
)
from portrayal.collect.sources import open_source
from portrayal.errors import PortrayalError
from portrayal.measure.matched.units import PAIR, SOURCE
from portrayal.records import SYSTEM, Prompt
from portrayal.reference import names_of
from portrayal.reference.datafile import DataFile, Keys, Share, Word, read_datafile
from portrayal.reference.locales import HOME, Locale, load_locale
from portrayal.studies.pairs.audit import FIELDS
from portrayal.studies.study import PromptMaker
from portrayal.types import Tabular

_NAME, _NAMES, _WORDING, _TEMPLATE = "name", "names", "wording", "template"
_OWN = (PAIR, SOURCE, _NAME, _NAMES, _WORDING, _TEMPLATE, SYSTEM)
_LONGEST = 80
"""Characters of a cell up to which its column is kept with each prompt."""

_Person = Mapping[str, str]
"""What the slots of a template hold for one person: "name", "pronoun.subject", …."""


@dataclass(frozen=True)
class _RequestTemplate:
    text: str | tuple[Word, ...]
    name: Word = ""
    system: str = ""
    introduction: str = ""


@dataclass(frozen=True)
class _NamesWanted:
    n: int
    factor: str = "race"
    group: str = ""
    gender: str = ""
    least: Share = 0.8


@dataclass(frozen=True)
class _PairFile:
    """The keys of a file of pairs."""

    template: tuple[_RequestTemplate, ...]
    groups: Mapping[str, Mapping[str, Any]]
    group: Word = "group"
    table: str = ""
    locale: str = HOME


def prompts(prompts: Tabular) -> tuple[Prompt, ...]:
    """Return one prompt for each case, wording and person.

    Parameters
    ----------
    prompts
        A TOML file with `[[template]]` and `[groups.NAME]`; or prompts as they are (`[[prompt]]`,
        or a table with a row for each) that name their pair.

    Returns
    -------
    tuple of Prompt
        Strata: `pair`; `source`, what pairs were made from: the case, without a table of cases the
        template, and of one template the persons; the group, under the name that the file gives it;
        `name`, and `names` of the pair; `template` and `wording` where there are several; `system`,
        the system prompt; and the columns of the table that are short.

    Raises
    ------
    DataError
        With file, line and key: a slot that nobody fills, an empty list, a group that lacks what
        the others have, lists that do not match, or halves that are the same.

    Examples
    --------
    >>> _ = Path("pairs.toml").write_text('''
    ... template = [{ text = "Write a letter for {name}, a {job}." }]
    ... groups.she = { name = "Emily", job = "nurse" }
    ... groups.he = { name = "Greg", job = "engineer" }
    ... ''')
    >>> [(each.text, each.strata["group"]) for each in prompts("pairs.toml")][1]
    ('Write a letter for Greg, an engineer.', 'he')
    """
    path = Path(prompts) if isinstance(prompts, str) else prompts
    if not isinstance(path, Path) or path.suffix.casefold() != ".toml":
        return read_prompts(path, FIELDS)
    file = read_datafile(path)
    if "prompt" in file.table:
        return read_prompts(path, FIELDS)
    stated = file.record(_PairFile)
    if stated.group in _OWN:
        raise file.wrong(("group",), f"{stated.group!r} is kept for something else; name another.")
    people = _people(file, stated.groups, load_locale(stated.locale))
    return distinct(_grid(file, stated, people, _cases(file, stated, people)))


def _people(
    file: DataFile, groups: Mapping[str, Mapping[str, Any]], locale: Locale
) -> dict[str, list[_Person]]:
    """The persons of each group, as many of each: the first of all groups are a pair."""
    if len(groups) < 2:
        raise file.wrong(
            ("groups",), f"a pair needs two groups, each headed [groups.NAME]; got {len(groups)}."
        )
    found: dict[str, dict[str, list[str]]] = {}
    several: dict[Keys, int] = {}
    for group, table in groups.items():
        slots: dict[str, list[str]] = {}
        for key, value in table.items():
            here: Keys = ("groups", group, key)
            if key == "pronoun":
                if not isinstance(value, str) or value not in locale.forms:
                    known = ", ".join(locale.forms)
                    raise file.wrong(here, f"expected one of {known or 'none'}; got {value!r}.")
                forms = vars(locale.forms[value]).items()
                slots |= {f"pronoun.{form}": [word] for form, word in forms}
                continue
            values = _texts(file, here, value)
            slots[_NAME if key == _NAMES else key] = values
            if len(values) > 1:
                several[here] = len(values)
        if _NAME in table and _NAMES in table:
            raise file.wrong(("groups", group, _NAMES), "give either 'name' or 'names'.")
        found[group] = slots
    n = max(several.values(), default=1)
    for here, length in several.items():
        if length != n:
            most = next(each for each in several if several[each] == n)
            raise file.wrong(
                here,
                f"{length} values, and {n} of {'.'.join(map(str, most))}: the first of each group "
                "are a pair, the second are one, …. Give as many in each list, or one value.",
            )
    return {
        group: [{slot: each[i % len(each)] for slot, each in slots.items()} for i in range(n)]
        for group, slots in found.items()
    }


def _texts(file: DataFile, here: Keys, value: Any) -> list[str]:
    """The values of a slot of a group: one, or a list; or names that the shipped tables give."""
    if here[-1] == _NAMES:
        wanted = file.record(_NamesWanted, here)
        try:
            return list(names_of(**vars(wanted)))
        except PortrayalError as error:
            raise file.wrong(here, str(error)) from None
    values = value if isinstance(value, list) else [value]
    for each in values:
        if isinstance(each, bool) or not isinstance(each, (str, int, float)):
            raise file.wrong(here, f"expected text, a number, or a list of them; got {each!r}.")
    if not values or (here[-1] == _NAME and not all(str(each).strip() for each in values)):
        raise file.wrong(here, f"expected at least one value; got {value!r}.")
    return [str(each) for each in values]


def _cases(
    file: DataFile, stated: _PairFile, people: Mapping[str, list[_Person]]
) -> list[PromptEntry]:
    """The rows of the table of cases, where one is named: all columns that every slot needs."""
    columns: tuple[str, ...] = ()
    if stated.table:
        path = Path(file.beside(("table",), stated.table))
        columns = open_source(path).columns
    kept = {*_OWN, stated.group, *(slot for each in people.values() for slot in each[0])} - {SOURCE}
    if twice := [name for name in columns if name in kept]:
        message = f"its column {twice[0]!r} has the name of a slot or stratum; give it another one."
        raise file.wrong(("table",), message)
    needed: dict[str, None] = {}
    for i, template in enumerate(file.at(("template",))):
        for key in ("text", "introduction", "system"):
            here, words = ("template", i, key), template.get(key, "")
            for slot in slots_of(" ".join(words) if isinstance(words, list) else words):
                names = (slot, slot[0].lower() + slot[1:])
                of_case = [name for name in names if name in columns]
                needed |= dict.fromkeys(of_case[:1])
                lacking = [g for g, (one, *_) in people.items() if not {*names} & one.keys()]
                if len(lacking) == len(people) and not of_case:
                    known = dict.fromkeys(slot for each in people.values() for slot in each[0])
                    there = ", ".join([*known, *columns]) or "none"
                    raise file.wrong(here, f"nothing fills {{{slot}}}; there are {there}.")
                if lacking and not of_case:
                    raise file.wrong(
                        ("groups", lacking[0]),
                        f"{{{slot}}}, in the template of line {file.line(here)}, has no value here "
                        "and one in other groups.",
                    )
    cases = list(rows_of(path, stated.table)) if stated.table else []
    if stated.table and not cases:
        raise file.wrong(("table",), f"{stated.table} has no rows.")
    for case in cases:
        for name in needed:
            if name not in case.cells:
                raise case.wrong(name, "the cell is blank, and a template needs it.")
    return cases


def _grid(
    file: DataFile, stated: _PairFile, people: Mapping[str, list[_Person]], cases: list[PromptEntry]
) -> Iterator[tuple[Prompt, PromptEntry]]:
    """Every case in every wording with every person."""
    cells = [case.cells for case in cases] or [{}]
    sources = [each.get(SOURCE, str(row)) for row, each in enumerate(cells, 1)]
    again = {source for source, n in Counter(sources).items() if n > 1}
    columns = dict.fromkeys(name for each in cells for name in each if name != SOURCE)
    short = [c for c in columns if max(len(each.get(c, "")) for each in cells) <= _LONGEST]
    templates, n = stated.template, len(next(iter(people.values())))
    requests = [
        (i, str(wording), text)
        for i, template in enumerate(templates)
        for wording, text in enumerate(
            [template.text] if isinstance(template.text, str) else template.text, 1
        )
    ]
    for row, (i, wording, text), k in product(range(len(cells)), requests, range(n)):
        template, place = templates[i], ("template", i)
        persons = {group: each[k] for group, each in people.items()}
        names = [each.get(_NAME, "") for each in persons.values()]
        who = " / ".join(names) if all(names) else str(k + 1)
        about = {
            _TEMPLATE: (template.name or str(i + 1)) if len(templates) > 1 else "",
            _WORDING: wording if len(requests) > len(templates) else "",
            _NAMES: who if n > 1 else "",
        }
        # What pairs were made from: their case; else the request; of one request, the persons.
        source = sources[row] if cases else about[_TEMPLATE] or who
        label = f"{source} (row {row + 1})" if source in again else source
        pair = ", ".join(filter(None, (label if cases else "", *about.values()))) or who
        about = {PAIR: pair, SOURCE: source, **about}
        halves = set()
        for group, person in persons.items():
            values = {**cells[row], **person}
            said, before, system = (
                fill(words, values) for words in (text, template.introduction, template.system)
            )
            strata = {stated.group: group, _NAME: person.get(_NAME, ""), SYSTEM: system, **about}
            strata |= {name: cells[row].get(name, "") for name in short}
            # What the person fills in, by which scorers are tested; pronouns stand in the locale.
            strata |= {
                slot: value
                for slot, value in person.items()
                if slot not in strata and "." not in slot and len(value) <= _LONGEST
            }
            request = "\n\n".join(filter(None, (before, said)))
            known = {name: value for name, value in strata.items() if value}
            prompt = Prompt(f"{pair}: {group}", request, known)
            if prompt.asked in halves:
                raise file.wrong(
                    place, f"the request about {group} is that about another group, word for word."
                )
            halves.add(prompt.asked)
            yield prompt, PromptEntry({}, f"line {file.line(place)}", file, place)


PROMPTS = PromptMaker(FIELDS, prompts)
"""The door by which the prompts are registered."""
