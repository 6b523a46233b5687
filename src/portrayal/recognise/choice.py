"""Designs: which comparison the columns of a table allow, and the rows that it takes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal

import portrayal.registry as registry
from portrayal.annotate.exchange import NOTHING
from portrayal.collect.fields import MOST_VALUES
from portrayal.collect.texts import plain_prompt
from portrayal.errors import OptionError
from portrayal.recognise.columns import (
    WORD,
    WORDS,
    InputColumn,
    InputTable,
    bare,
    crossing,
    gender_of_name,
    group_label,
    group_lexicon,
    groups_named,
)
from portrayal.recognise.matching import Pairing, associated, keys_of, pairing_of
from portrayal.recognise.roles import ColumnRoles, asked_for
from portrayal.recognise.rows import Recipe
from portrayal.recognise.templates import Masker, names_of_groups, slot_words
from portrayal.records import ORIGINAL, REWRITTEN

Comparison = Literal["pairs", "templates", "originals", "groups", "people", "study"]
PAIRED = frozenset(("pair", "pairs", "pairid", "couple", "matched"))
"""Words by which a column says that its rows are of one pair, whatever they differ in."""
NAMED_BY = 2_000
"""Requests that are read for whom they name."""
HALF, MOST = 0.3, 0.6
"""Shares of rows from which on templates compare groups, and from which on requests name them."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A comparison, what it is made of, and what a reader must be told.

    Attributes
    ----------
    comparison, recipe, study
        See `portrayal.recognise.Design`.
    groups
        The columns that are compared.
    blocks
        What texts are compared within, in words; "" where nothing blocks.
    n_blocks, n_both
        How many such blocks there are, and how many of them hold two groups.
    remarks
        Sentences on what was decided.
    question
        What must be answered first; "" where nothing must.
    """

    comparison: Comparison
    recipe: Recipe
    study: str = "pairs"
    groups: tuple[InputColumn, ...] = ()
    blocks: str = ""
    n_blocks: int = 0
    n_both: int = 0
    remarks: tuple[str, ...] = ()
    question: str = ""


@dataclass(eq=False)
class Chooser:
    """Decides by the roles of a table, in the order of what compares best."""

    table: InputTable
    roles: ColumnRoles
    is_asked: bool = False
    by: tuple[str, ...] = ()
    derived: dict[str, Callable[[Mapping[str, str]], str]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Join the columns of requests, as a system prompt may name the group."""
        self.prompts = ["\n".join(filter(None, row)) for row in self._rows(self.roles.prompts)]

    def _rows(self, columns: Sequence[InputColumn]) -> Iterable[tuple[str, ...]]:
        if not columns:
            return [()] * self.table.n_read
        return zip(*(column.cells for column in columns), strict=True)

    def choice(self) -> Choice:
        """Return the comparison, or the question that must be answered first."""
        roles = self.roles
        groups = self._groups()
        humans = roles.model is not None and any(
            v.casefold() in WORDS["human"] for v in roles.model.counts
        )
        if not self.by and (humans or (roles.reference and not groups)):
            originals = self._beside_originals()
            if originals is not None:
                return originals
        if groups:
            return self._of_groups(groups)
        return self._without_groups()

    def _asking(self, question: str) -> Choice:
        recipe = Recipe(text=self.roles.text.name)
        return Choice(comparison="groups", recipe=recipe, question=f"Which is it? {question}")

    # Groups -----------------------------------------------------------------------------------

    def _groups(self) -> list[InputColumn]:
        """The columns that are compared: the user's, or those recognised, one of each choice."""
        if self.by:
            return [self._compared(name) for name in self.by]
        roles = self.roles
        # What the requests name was asked for, whatever its values and name look like
        promoted = [c for c in roles.results if self.is_asked or self.named_share(c) >= MOST]
        roles.results = [c for c in roles.results if c not in promoted]
        groups: list[InputColumn] = []
        # What other columns say together ("Black woman") comes after them
        ranked = sorted(
            [*roles.groups, *promoted],
            key=lambda c: (not c.is_group, c.is_joint, -self.named_share(c)),
        )
        for column in ranked:
            twin = next((c for c in groups if _one_to_one(c, column)), None)
            if twin is None:
                groups.append(column)
            else:
                roles.ignored[column.name] = f"says what `{twin.name}` says"
        roles.groups = groups
        return [self._compared(column.name) for column in groups]

    def _compared(self, name: str) -> InputColumn:
        """A column of groups, or several of which an intersection is made."""
        parts = name.split("*")
        if len(parts) > 1:
            self.add(name, lambda cells: " ".join(cells[part] for part in parts))
        column = self.table.columns[name]
        # What differs in capitals alone is one group, spelled as most rows have it
        spelling = {value.casefold(): value for value, _ in reversed(column.counts.most_common())}
        if len(spelling) < len(column.counts):
            before = self.derived.get(name, itemgetter(name))
            self.add(name, lambda cells: spelling.get(before(cells).casefold(), before(cells)))
            column = self.table.columns[name]
        if len(column.counts) < 2:
            raise OptionError(
                f"--by {name}: all texts have {next(iter(column.counts))!r}; a comparison needs "
                "two groups."
            )
        if len(column.counts) > MOST_VALUES:
            raise OptionError(
                f"--by {name} has {len(column.counts):,} values, which are no groups (at most "
                f"{MOST_VALUES}). Name a column of fewer, or join values in one of your own."
            )
        return column

    def add(self, name: str, make: Callable[[Mapping[str, str]], str]) -> None:
        """Add a column that is made from the cells of each row."""
        columns = self.table.columns
        rows = self._rows([*columns.values()])
        cells = tuple(make(dict(zip(columns, row, strict=True))) for row in rows)
        self.derived[name] = make
        self.table = replace(self.table, columns={**columns, name: InputColumn(name, cells)})

    def named_share(self, column: InputColumn) -> float:
        """Share of rows whose request names the row's own group."""
        if not self.roles.prompts:
            return 0.0
        pairs = dict.fromkeys(zip(self.prompts, column.cells, strict=True))
        rows = [(prompt, value) for prompt, value in pairs if value.casefold() not in NOTHING]
        n_named = 0
        for prompt, value in rows[:NAMED_BY]:
            words = " ".join(WORD.findall(prompt.casefold()))
            groups = column.factors.get(value, frozenset())
            n_named += f" {bare(value)} " in f" {words} " or bool(groups & groups_named(prompt))
        return n_named / max(len(rows[:NAMED_BY]), 1)

    # With groups ------------------------------------------------------------------------------

    def _of_groups(self, groups: list[InputColumn]) -> Choice:
        roles = self.roles
        pairing = pairing_of(self.table, roles, groups)
        if pairing is not None and pairing.binding == "open":
            return self._asking(
                f"does `{pairing.columns[0].name}` name pairs of the same request? Then: --column "
                f"pair={pairing.columns[0].name}; else --by {groups[0].name}"
            )
        if pairing is not None:
            return self._pairs(groups, pairing)
        if roles.pairs is not None:
            name = roles.pairs.name
            return self._blocked(groups, roles.pairs.cells, f"values of `{name}`", pair=(name,))
        repeated = crossing(self.prompts, groups[0].cells)[2] > HALF
        if roles.prompts and repeated and not self.by and not self.is_asked:
            main = groups[0]
            if (
                self.named_share(main) < HALF
                and not asked_for(main)
                and not slot_words(self._keys(self._masker(groups)), main.cells)
            ):
                return self._asking(
                    f"was `{main.name}` known before the answer (who asks, or is asked about), "
                    "though no request names it, or read from the answer afterwards? Known before: "
                    f"--by {main.name}; read afterwards, it is no group: audit a file without it"
                )
        return self._templates(groups) or self._topic(groups) or self._unpaired(groups)

    def _recipe(self, groups: Sequence[InputColumn], **more: Any) -> Recipe:
        roles = self.roles
        if roles.sources is not None:
            more.setdefault("source", (roles.sources.name,))
        return Recipe(
            text=roles.text.name,
            model=roles.model.name if roles.model else "",
            name=roles.name.name if roles.name else "",
            prompts=tuple(column.name for column in roles.prompts),
            groups=tuple(column.name for column in groups),
            further=tuple(column.name for column in roles.scores),
            derived=dict(self.derived),
            **more,
        )

    def _joint(self, groups: list[InputColumn], keys: Sequence[str]) -> list[InputColumn]:
        """The groups that can be compared with the others alike inside of blocks."""
        joint = groups[:1]
        for column in groups[1:]:
            trial = [*joint, column]
            shares = []
            for one in trial:
                alike = [other.cells for other in trial if other is not one]
                rows = zip(keys, *alike, strict=True)
                shares.append(crossing([row if row[0] else "" for row in rows], one.cells)[2])
            if min(shares) > HALF:
                joint = trial
            else:
                self.remarks.append(f"`{column.name}` is not compared beside `{joint[0].name}`")
        return joint

    def _blocked(
        self,
        groups: list[InputColumn],
        keys: Sequence[str],
        blocks: str = "",
        comparison: Comparison = "templates",
        **recipe: Any,
    ) -> Choice:
        """Groups that are compared within blocks, of rows with one key."""
        groups = self._joint(groups, keys)
        n_blocks, n_both, _ = crossing(keys, groups[0].cells)
        names = ", ".join(column.name for column in groups)
        return Choice(
            comparison=comparison,
            recipe=self._recipe(groups, **recipe),
            groups=tuple(groups),
            blocks=blocks or f"requests equal but for {names}",
            n_blocks=n_blocks,
            n_both=n_both,
            remarks=tuple(self.remarks),
        )

    def _pairs(self, groups: list[InputColumn], pairing: Pairing) -> Choice:
        keys = keys_of(pairing.columns)
        names = tuple(column.name for column in pairing.columns)
        # Pairs of one id under several settings are not independent
        source = names[:1] if len(names) > 1 else self._source(keys)
        blocks = f"pairs of `{' x '.join(names)}`"
        return self._blocked(groups, keys, blocks, "pairs", pair=names, source=source)

    def _source(self, pairs: Sequence[str]) -> tuple[str, ...]:
        """The column of what pairs were made from: alike in each, and fewer than they are."""
        if self.roles.sources is not None:
            return (self.roles.sources.name,)
        used = self.roles.used - {column.name for column in self.roles.shared}
        for column in self.table.columns.values():
            if column.name in used or not (column.called("source") or column in self.roles.shared):
                continue
            n_values, n_pairs = len(column.counts), len({*pairs})
            if 1 < n_values < n_pairs and crossing(pairs, column.cells)[1] == 0:
                return (column.name,)
        return ()

    def _masker(self, groups: Sequence[InputColumn]) -> Masker:
        """What takes groups out of requests."""
        roles = self.roles
        masked = [*groups, *roles.groups, *roles.results]
        masked += [
            c
            for c in self.table.columns.values()
            if roles.ignored.get(c.name) == "numbers" or c.name in self.derived
        ]
        # Names that stand under every group are what requests are about
        if roles.name is not None and all(
            crossing(roles.name.cells, group.cells)[2] < HALF for group in groups[:1]
        ):
            masked.append(roles.name)
        factors = {factor for column in groups for factor in column.factor_names}
        names = names_of_groups(self.prompts, groups)
        return Masker(factors, names, columns=[column.name for column in masked])

    def _keys(self, masker: Masker) -> list[str]:
        values = self._rows([self.table.columns[name] for name in masker.columns])
        pairs = zip(self.prompts, values, strict=True)
        return [masker(prompt, row)[0] if prompt else "" for prompt, row in pairs]

    def _templates(self, groups: list[InputColumn]) -> Choice | None:
        """Requests that are alike but for the groups."""
        if not self.roles.prompts:
            return None
        masker = self._masker(groups)
        keys = self._keys(masker)
        n_blocks, n_both, share = crossing(keys, groups[0].cells)
        if share <= HALF and (slots := slot_words(keys, groups[0].cells)):
            masker = Masker(masker.factors, masker.names, slots, masker.columns)
            keys = self._keys(masker)
            n_blocks, n_both, share = crossing(keys, groups[0].cells)
            words = ", ".join(map(repr, slots.values()))
            self.remarks.append(f"in the requests {words} stand for the groups")
        if share > HALF and n_blocks > 1:
            return self._blocked(groups, keys, masker=masker)
        if n_blocks > 1:
            self.remarks.append(
                f"{n_both} of {n_blocks} requests hold two groups, so that groups were asked "
                "other things"
            )
        return None

    def _topic(self, groups: list[InputColumn]) -> Choice | None:
        """A column that crosses groups: occupations, fields; the one of most blocks."""
        roles, topics = self.roles, []
        used = roles.used - {column.name for column in roles.shared}
        free = [*self.table.settings(used), *roles.shared]
        for column in free:
            if any(map(column.called, ("counter", "id"))) or column.name in self.derived:
                continue
            # What an answer scored came after it, so that to hold it alike would hide differences
            if column.is_score and not column.called("topic"):
                continue
            n_blocks, n_both, share = crossing(column.cells, groups[0].cells)
            # Values that hold each group once, and bind no texts, only count
            several = len(groups[0].counts) * n_blocks < 0.7 * column.counts.total()
            if share > 0.8 and n_both > 1 and (several or column.called("topic")):
                topics.append((column.called("topic"), n_blocks, column))
        if not topics:
            return None
        *_, column = max(topics, key=lambda f: f[:2])
        self._confounded(groups[0], self.prompts, column.name)
        blocks = f"values of `{column.name}`"
        return self._blocked(groups, column.cells, blocks, pair=(column.name,))

    def _unpaired(self, groups: list[InputColumn]) -> Choice:
        """Groups compared as they are: nothing that both were asked blocks."""
        if max(groups[0].counts.values()) < 2:
            raise OptionError(
                f"each value of {groups[0].name!r} has one text; groups need several. Name "
                "another column with --by."
            )
        roles, recipe = self.roles, dict[str, Any]()
        masker = self._masker(groups)
        requests = self._keys(masker)
        n_requests = len({*requests} - {""})
        clusters = roles.sources or next(
            (
                c
                for c in self.table.columns.values()
                if c.name not in roles.used
                and c.called("source")
                and 0.02 < c.share_distinct < 0.95
            ),
            None,
        )
        if clusters is not None:
            recipe["source"] = (clusters.name,)
        elif 1 < n_requests < 0.95 * self.table.n_read:
            # Answers to one request are no independent texts
            recipe["masker"] = masker
        self._confounded(groups[0], clusters.cells if clusters is not None else requests)
        choice = self._blocked(
            groups, ["all"] * self.table.n_read, "", "groups", is_unpaired=True, **recipe
        )
        return replace(choice, n_blocks=n_requests)

    def _confounded(self, group: InputColumn, units: Sequence[str], block: str = "") -> None:
        """Say in which columns, beside that of blocks, groups differ, and how to block by one."""
        roles = self.roles
        free = [
            c
            for c in self.table.settings(roles.used | {group.name, *group.name.split("*"), block})
            if not any(map(c.called, ("counter", "id", "score")))
        ]
        # A row without a request or source is a unit of its own
        names = [unit or f"\0{i}" for i, unit in enumerate(units)]
        columns = associated([*free, *filter(None, [roles.model])], group, names)[:2]
        if not columns:
            return
        remark = f"groups also differ in {' and '.join(f'`{c.name}`' for c in columns)}: "
        # Models are never pooled, so that nothing is to be blocked by them
        crossed = [c for c in columns if crossing(c.cells, group.cells)[1] and c is not roles.model]
        remark += f"block by --column pair={crossed[0].name}, or " if crossed else ""
        self.remarks.append(f"{remark}read with care")

    # Without groups ---------------------------------------------------------------------------

    def _beside_originals(self) -> Choice | None:
        """Rewritings beside originals: in a column, or texts of people among those of models."""
        roles = self.roles
        if roles.reference is not None:
            version, n_originals = InputColumn("version", ()), len(roles.reference.counts)
            blocks = f"originals in `{roles.reference.name}`"
            recipe = self._recipe([version], reference=roles.reference.name)
        else:
            assert roles.model is not None
            models, human = roles.model.name, WORDS["human"]
            self.add("version", lambda c: ORIGINAL if c[models].casefold() in human else REWRITTEN)
            version = self.table.columns["version"]
            free = [c for c in self.table.columns.values() if c.name not in roles.used]
            keys = [*roles.prompts, *roles.shared, *free]
            crossings = [(crossing(c.cells, version.cells), c) for c in keys]
            links = [(n, n_both, c) for (n, n_both, share), c in crossings if share > 0.5]
            if not links:
                return None
            n_originals, _, link = max(links, key=lambda link: link[1])
            blocks = f"values of `{link.name}`"
            rewriters = tuple(m for m in roles.model.counts if m.casefold() not in human)
            recipe = self._recipe([version], pair=(link.name,), rewriters=rewriters)
        return Choice(
            comparison="originals",
            recipe=recipe,
            groups=(version,),
            blocks=blocks,
            n_blocks=n_originals,
            n_both=n_originals,
            remarks=tuple(self.remarks),
        )

    def _without_groups(self) -> Choice:
        """What a registered study asked; groups that requests or names tell; or who occurs."""
        roles = self.roles
        if roles.prompts and (study := _study_of(self.prompts)):
            return Choice(comparison="study", recipe=self._recipe(()), study=study)
        if roles.prompts and (column := self._in_requests()):
            self.remarks.append(f"`{column.name}` is what the requests name")
            return self._of_groups([column])
        if roles.name is not None and not roles.results:
            name = roles.name.name
            self.add("gender of the name", lambda cells: gender_of_name(cells[name]))
            column = self.table.columns["gender of the name"]
            if len(column.counts) == 2 and column.counts.total() > HALF * self.table.n_read:
                self.remarks.append(
                    f"groups by `{name}`: four of five bearers are women, or men (US census)"
                )
                return self._of_groups([column])
        question = self._slot_question()
        results = tuple(column.name for column in roles.results)
        settings = [c for c in self.table.settings(roles.used) if not c.called("counter")]
        further = (*results, *(column.name for column in settings))
        recipe = replace(self._recipe(()), name="", derived={}, further=further)
        return Choice(
            comparison="people",
            study="people",
            recipe=replace(recipe, source=self._source(roles.text.cells)),
            question=question,
            remarks=tuple(self.remarks),
        )

    def _in_requests(self) -> InputColumn | None:
        """A column of the groups that requests name, one each, where templates then compare."""
        columns = tuple(column.name for column in self.roles.prompts)
        words = {word for prompt in self.prompts[:NAMED_BY] for word in prompt.casefold().split()}
        if words & WORDS["colours"]:  # "black" may be one as well
            return None
        for factor in sorted({factor for factor, _ in group_lexicon().values()}):
            cells = [_only_group(factor, prompt) for prompt in self.prompts]
            if len({*cells} - {""}) < 2 or sum(map(bool, cells)) < MOST * len(cells):
                continue
            if crossing(self._keys(Masker((factor,))), cells)[2] > HALF:
                self.add(factor, partial(_named_in, columns, factor))
                return self.table.columns[factor]
        return None

    def _slot_question(self) -> str:
        """Whether a column may name groups: in pairs, or in one place of requests else equal."""
        for column in self.table.settings(self.roles.used):
            pairing = pairing_of(self.table, self.roles, [column])
            if pairing is not None and not PAIRED.isdisjoint(pairing.columns[0].words):
                return (
                    f"is `{column.name}` the groups to compare within "
                    f"`{pairing.columns[0].name}`? Groups: --by {column.name}"
                )
        for column in self.table.settings(self.roles.used) if self.roles.prompts else ():
            if column.called("topic") or column.called("counter"):
                continue
            keys = self._keys(Masker(columns=[column.name]))
            pairs = zip(self.prompts, column.cells, strict=True)
            n_named = sum(value.casefold() in prompt.casefold() for prompt, value in pairs)
            if n_named >= 0.9 * len(keys) and crossing(keys, column.cells)[2] > HALF:
                values = ", ".join([*column.counts][:3])
                return (
                    f"is `{column.name}` ({values}) the groups to compare, or a topic? Groups: "
                    f"--by {column.name}"
                )
        return ""


def _only_group(factor: str, prompt: str) -> str:
    """The one group of a factor that a request names; "" where it names none, or several."""
    groups = [pair for pair in sorted(groups_named(prompt)) if pair[0] == factor]
    return group_label(*groups[0]) if len(groups) == 1 else ""


def _named_in(columns: Sequence[str], factor: str, cells: Mapping[str, str]) -> str:
    return _only_group(factor, "\n".join(filter(None, (cells[name] for name in columns))))


def _one_to_one(one: InputColumn, two: InputColumn) -> bool:
    """Whether each value of either column goes with one of the other."""
    pairs = {pair for pair in zip(one.cells, two.cells, strict=True) if all(pair)}
    sides = [{pair[side] for pair in pairs} for side in (0, 1)]
    return len(pairs) == len(sides[0]) == len(sides[1])


def _study_of(prompts: Sequence[str]) -> str:
    """The registered study to whose prompts most texts answer; "" where there is none."""
    distinct = {*map(plain_prompt, prompts)}
    for name in registry.names("studies"):
        file = Path(registry.folder("studies", name) or "", "prompts.toml")
        # Loading a study takes long, and one whose file lacks the words of requests asked others
        if file.is_file() and not _has_words(file, sorted(distinct)[:NAMED_BY]):
            continue
        texts = {plain_prompt(prompt.text) for prompt in registry.get("studies", name).prompts()}
        if len(distinct & texts) > 0.5 * len(distinct):
            return name
    return ""


def _has_words(file: Path, prompts: Sequence[str]) -> bool:
    """Whether a file has most words of a third of the prompts."""
    words = {*WORD.findall(plain_prompt(file.read_text(encoding="utf-8")))}
    words_of = [WORD.findall(prompt) for prompt in prompts]
    covered = [sum(w in words for w in inside) >= 0.8 * len(inside) for inside in words_of]
    return sum(covered) > HALF * len(covered)
