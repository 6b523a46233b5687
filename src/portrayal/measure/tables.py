"""Tables: what annotated texts become, once, for all measures that name them.

A measure is a function of a `Scope` and of tables, which its parameters name: `tally`, `paired`,
`group_texts`, `agency_texts`, `cue_hits`, or what an audit knows beside them (`baseline`,
`name_tables`, `topics` …). A study offers tables by name; any registered measure, of this package
or of another one, runs in every study that offers what it names.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from inspect import Parameter, signature
from typing import Any

import portrayal.registry as registry
from portrayal.errors import OptionError
from portrayal.measure.scope import Scope
from portrayal.records import Estimate

_SCOPE = "scope"


@dataclass(frozen=True, eq=False)
class Tables:
    """What an audit offers its measures.

    Attributes
    ----------
    scope
        Settings of the estimates that are made from these tables.
    offered
        Name → function that makes the table; it is called once, when a measure first asks for it.
    finish
        Function of all estimates to those that are kept, such as with the reader's error added.
    """

    scope: Scope
    offered: Mapping[str, Callable[[], Any]]
    finish: Callable[[list[Estimate]], Iterable[Estimate]] = field(
        default=lambda estimates: estimates
    )

    def estimates(self, measures: Iterable[str]) -> Iterator[Estimate]:
        """Yield the estimates of those of the registered `measures` whose tables are offered."""
        # Made when first asked for, once: a tally of half a million texts serves every measure
        makers = {name: cache(make) for name, make in self.offered.items()}
        estimates: list[Estimate] = []
        for name in measures:
            run = registry.component("measures", name).run
            needed, takes = parameters(run)
            if needed <= makers.keys():  # a measure of another kind of study is passed over
                tables = {table: makers[table]() for table in sorted(takes & makers.keys())}
                estimates += run(scope=self.scope, **tables)
        yield from self.finish(estimates)


def parameters(measure: Callable[..., Any]) -> tuple[set[str], set[str]]:
    """Return the tables that a measure cannot do without, and all that it takes.

    >>> def first_named(tally, scope, *, baseline=None): ...
    >>> [sorted(names) for names in parameters(first_named)]
    [['tally'], ['baseline', 'tally']]
    """
    tables = {n: p for n, p in signature(measure).parameters.items() if n != _SCOPE}
    return {n for n, p in tables.items() if p.default is Parameter.empty}, set(tables)


def check_measures(names: Sequence[str], all_tables: Sequence[Tables]) -> None:
    """Refuse measures that were asked for and that no tables of an audit serve.

    Raises
    ------
    OptionError
        Naming what the measure needs, and what is offered.
    """
    for name in names:
        needed, _ = parameters(registry.component("measures", name).run)
        if not any(needed <= tables.offered.keys() for tables in all_tables):
            offered = sorted({table for tables in all_tables for table in tables.offered})
            raise OptionError(
                f"the measure {name} needs {', '.join(sorted(needed))}; this audit offers "
                f"{', '.join(offered) or 'nothing'}. Leave it out, or run it in another study."
            )
