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
from portrayal.reference.datafile import DataFile, Keys, Share, Word, read_datafile
from portrayal.reference.locales import HOME, Locale, load_locale
from portrayal.reference.names import names_of
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
    # Prompts written out one by one are no template to fill.
    if "prompt" in file.table:
        return read_prompts(path, FIELDS)
    record = file.record(_PairFile)
    # A name that is taken would overwrite what says which texts are a pair.
    if record.group in _OWN:
        raise file.wrong(("group",), f"{record.group!r} is kept for something else; name another.")
    people = _people(file, record.groups, load_locale(record.locale))
    return distinct(_grid(file, record, people, _cases(file, record, people)))


def _people(
    file: DataFile, groups: Mapping[str, Mapping[str, Any]], locale: Locale
) -> dict[str, list[_Person]]:
    """The persons of each group, as many of each: the first of all groups are a pair."""
    if len(groups) < 2:
        raise file.wrong(
            ("groups",), f"a pair needs two groups, each headed [groups.NAME]; got {len(groups)}."
        )
    values_by_group: dict[str, dict[str, list[str]]] = {}
    lengths: dict[Keys, int] = {}
    for group, table in groups.items():
        slots = values_by_group[group] = {}
        if _NAME in table and _NAMES in table:
            raise file.wrong(("groups", group, _NAMES), "give either 'name' or 'names'.")
        for key, value in table.items():
            keys: Keys = ("groups", group, key)
            if key != "pronoun":
                values = slots[_NAME if key == _NAMES else key] = _texts(file, keys, value)
                lengths[keys] = len(values)
                continue
            if not isinstance(value, str) or value not in locale.forms:
                expected = ", ".join(locale.forms) or "none"
                raise file.wrong(keys, f"expected one of {expected}; got {value!r}.")
            # A pronoun has several forms, each a slot of its own.
            for form, word in vars(locale.forms[value]).items():
                slots[f"pronoun.{form}"] = [word]
    # One value serves every person; lists must be as long as each other.
    several = {keys: length for keys, length in lengths.items() if length > 1}
    n = max(several.values(), default=1)
    for keys, length in several.items():
        if length != n:
            most = next(list_keys for list_keys in several if several[list_keys] == n)
            raise file.wrong(
                keys,
                f"{length} values, and {n} of {'.'.join(map(str, most))}: the first of each group "
                "are a pair, the second are one, …. Give as many in each list, or one value.",
            )
    return {
        group: [{slot: v[i % len(v)] for slot, v in slots.items()} for i in range(n)]
        for group, slots in values_by_group.items()
    }


def _texts(file: DataFile, keys: Keys, value: Any) -> list[str]:
    """The values of a slot of a group: one, or a list; or names that the shipped tables give."""
    if keys[-1] == _NAMES:
        names_asked = file.record(_NamesWanted, keys)
        try:
            return list(names_of(**vars(names_asked)))
        except PortrayalError as error:
            raise file.wrong(keys, str(error)) from None
    values = value if isinstance(value, list) else [value]
    for item in values:
        # TOML's true is an int to Python.
        if isinstance(item, bool) or not isinstance(item, (str, int, float)):
            raise file.wrong(keys, f"expected text, a number, or a list of them; got {item!r}.")
    if not values or (keys[-1] == _NAME and not all(str(item).strip() for item in values)):
        raise file.wrong(keys, f"expected at least one value; got {value!r}.")
    return [str(item) for item in values]


def _cases(
    file: DataFile, record: _PairFile, people: Mapping[str, list[_Person]]
) -> list[PromptEntry]:
    """The rows of the table of cases, where one is named: all columns that every slot needs."""
    slots_by_group = {group: dict.fromkeys(persons[0]) for group, persons in people.items()}
    slots = dict.fromkeys(slot for names in slots_by_group.values() for slot in names)
    path, columns = Path(), tuple[str, ...]()
    if record.table:
        path = Path(file.beside(("table",), record.table))
        columns = open_source(path).columns
    reserved = {*_OWN, record.group, *slots} - {SOURCE}
    if twice := [name for name in columns if name in reserved]:
        message = f"its column {twice[0]!r} has the name of a slot or stratum; give it another one."
        raise file.wrong(("table",), message)
    needed: set[str] = set()
    for i, template in enumerate(file.at(("template",))):
        for key in ("text", "system"):
            keys, words = ("template", i, key), template.get(key, "")
            for slot in slots_of(" ".join(words) if isinstance(words, list) else words):
                # "{Job}" at the start of a sentence is the slot "job".
                names = (slot, slot[0].lower() + slot[1:])
                if of_case := [name for name in names if name in columns]:
                    needed.add(of_case[0])
                    continue
                # A slot filled for some groups alone would make pairs that differ in more than the
                # person.
                lacking = [g for g, filled in slots_by_group.items() if not {*names} & {*filled}]
                if len(lacking) == len(people):
                    fillers = ", ".join([*slots, *columns]) or "none"
                    raise file.wrong(keys, f"nothing fills {{{slot}}}; there are {fillers}.")
                if lacking:
                    raise file.wrong(
                        ("groups", lacking[0]),
                        f"{{{slot}}}, in the template of line {file.line(keys)}, has no value here "
                        "and one in other groups.",
                    )
    cases = list(rows_of(path, record.table)) if record.table else []
    if record.table and not cases:
        raise file.wrong(("table",), f"{record.table} has no rows.")
    for case in cases:
        if blank := [name for name in columns if name in needed and name not in case.cells]:
            raise case.wrong(blank[0], "the cell is blank, and a template needs it.")
    return cases


def _grid(
    file: DataFile, record: _PairFile, people: Mapping[str, list[_Person]], cases: list[PromptEntry]
) -> Iterator[tuple[Prompt, PromptEntry]]:
    """Every case in every wording with every person."""
    cells = [case.cells for case in cases] or [{}]
    sources = [case.get(SOURCE, str(row)) for row, case in enumerate(cells, 1)]
    n_rows = Counter(sources)
    columns = dict.fromkeys(name for case in cells for name in case if name != SOURCE)
    short = [c for c in columns if max(len(case.get(c, "")) for case in cells) <= _LONGEST]
    templates, n = record.template, len(next(iter(people.values())))
    requests = [
        (i, str(wording), text)
        for i, template in enumerate(templates)
        for wording, text in enumerate(
            [template.text] if isinstance(template.text, str) else template.text, 1
        )
    ]
    for row, (i, wording, text), k in product(range(len(cells)), requests, range(n)):
        template, place = templates[i], ("template", i)
        persons = {group: persons[k] for group, persons in people.items()}
        names = [person.get(_NAME, "") for person in persons.values()]
        persons_label = " / ".join(names) if all(names) else str(k + 1)
        about = {
            _TEMPLATE: (template.name or str(i + 1)) if len(templates) > 1 else "",
            _WORDING: wording if len(requests) > len(templates) else "",
            _NAMES: persons_label if n > 1 else "",
        }
        # What pairs were made from: their case; else the request; of one request, the persons.
        source = sources[row] if cases else about[_TEMPLATE] or persons_label
        # Sources that occur twice are told apart by their row.
        label = f"{source} (row {row + 1})" if n_rows[source] > 1 else source
        pair = ", ".join(filter(None, (label if cases else "", *about.values()))) or persons_label
        halves = set()
        for group, person in persons.items():
            values = {**cells[row], **person}
            request, system = (fill(words, values) for words in (text, template.system))
            strata = {record.group: group, _NAME: person.get(_NAME, ""), SYSTEM: system}
            strata |= {PAIR: pair, SOURCE: source, **about}
            # And what the person fills in, by which scorers are tested; pronouns stand in the
            # locale.
            slots = [slot for slot, word in person.items() if len(word) <= _LONGEST]
            further = [*short, *(slot for slot in slots if "." not in slot)]
            strata |= {name: values.get(name, "") for name in further if name not in strata}
            prompt = Prompt(f"{pair}: {group}", request, {k: v for k, v in strata.items() if v})
            if prompt.asked in halves:
                raise file.wrong(
                    place, f"the request about {group} is that about another group, word for word."
                )
            halves.add(prompt.asked)
            yield prompt, PromptEntry({}, file, place)


PROMPTS = PromptMaker(FIELDS, prompts)
"""The door by which the prompts are registered."""
