"""The audit of people: columns of a file that say more of its texts, and who is read in them."""

from dataclasses import dataclass

from portrayal.annotate import Annotation
from portrayal.collect.fields import TextFields
from portrayal.collect.promptfile import read_prompts
from portrayal.config import option
from portrayal.errors import OptionError
from portrayal.measure.groups.main_people import read_main_people
from portrayal.measure.tables import Tables
from portrayal.records import Prompt
from portrayal.run.directory import Run
from portrayal.studies.study import Options, PromptMaker, Study, said_of
from portrayal.types import Tabular

EVERYONE = "everyone.v8"


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleOptions(Options):
    """What a user may choose.

    Attributes
    ----------
    by, source, check
        Columns by whose values shares are compared, of what texts belong to (the independent
        units), and that says of which group the person of a text is, to compare with what is read.
    """

    by: tuple[str, ...] = option((), "Column whose values are compared; repeatable.")
    source: str | None = option(
        None, "Column of what texts belong to: the independent units.", panel="Texts"
    )
    check: str | None = option(
        None, "Column that says the person's group, to check what is read.", panel="Texts"
    )

    def text_fields(self, fields: TextFields) -> TextFields:
        """Return the study's fields and the columns that are named, kept with each text."""
        columns = {self.source: "--source", self.check: "--check"} | dict.fromkeys(self.by, "--by")
        options = {column: words for column, words in columns.items() if column}
        if "model" in options:
            raise OptionError(
                f"{options['model']} model: the shares of each model stand apart anyway; name "
                "another column."
            )
        return fields.keeping(options).asking(options)


def annotations(run: Run, options: PeopleOptions) -> tuple[Annotation, ...]:
    """Return everyone of each text, those without a name too."""
    del run
    return (Annotation(EVERYONE, {"unnamed": True, **options.locale_settings()}),)


def tables(run: Run, options: PeopleOptions) -> Tables:
    """Return what measures of main people read, from a run with people."""
    instruments = {"annotator": EVERYONE, "word_list": "Table S6a", **options.locale_instrument()}
    return Tables(
        options.scope("people", instruments=instruments),
        {
            "main_people": lambda: read_main_people(
                run,
                run.annotations(EVERYONE),
                source=options.source,
                by=options.by,
                check=options.check,
            )
        },
    )


_FIELDS = TextFields(strata=(), required=())


def any_prompts(prompts: Tabular) -> tuple[Prompt, ...]:
    """Return the prompts of any file.

    Parameters
    ----------
    prompts
        A table with a column `prompt`, and columns that say whom each is about; or a TOML file.
    """
    return read_prompts(prompts, _FIELDS)


PROMPTS = PromptMaker(_FIELDS, any_prompts)
"""Prompts of one's own, of no study: `portrayal collect FILE`."""
STUDY = Study(
    name="people",
    **said_of(__package__),
    fields=_FIELDS,
    prompts=lambda: (),
    options=PeopleOptions,
    annotations=annotations,
    tables=tables,
)
