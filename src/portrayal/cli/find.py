"""The commands `find …`: people and cues in texts of a file or a run."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import portrayal.cli.options as opt
import portrayal.cli.printing as show
from portrayal.errors import OptionError
from portrayal.shown import counted

if TYPE_CHECKING:
    from portrayal.measure.cues.search import CueHits


def cues(
    run: opt.RunOr = None,
    /,
    *,
    texts: opt.Texts = None,
    column: opt.Columns = None,
    list_: Annotated[str, Parameter(name="--list")] = "laissez-faire",
    term: list[str] | None = None,
    by: Annotated[str, Parameter(metavar="STRATUM")] = "nothing",
    out: Path | None = None,
    level: opt.Level = 0.95,
    seed: opt.Seed = 0,
    format: opt.Format = "table",
) -> None:
    """Search for terms that name an identity, and count them by model, domain and role.

    Example: portrayal find cues --texts answers.csv --term hospital --by model

    Parameters
    ----------
    list_
        Cue list: a shipped one, or a TOML or CSV file.
    term
        Term of your own, in place of a list; repeatable.
    by
        What the table splits by: nothing, model, domain or role.
    out
        CSV file to write every mention to, with its context.
    """
    from portrayal.collect.corpus import file_corpus, run_corpus
    from portrayal.collect.fields import parse_columns
    from portrayal.collect.tables import write_table
    from portrayal.measure.cues.lists import cue_list, cues_of
    from portrayal.measure.cues.search import cue_counts, cue_rows, find_cues
    from portrayal.measure.scope import Scope
    from portrayal.run import Run
    from portrayal.validate import check_choice

    check_choice("by", by, ("nothing", "model", "domain", "role"))
    scope = Scope("coding", level=level, seed=seed)
    opt.either(run, texts)
    file_columns = parse_columns(column or ())
    corpus = run_corpus(Run.open(run)) if run else file_corpus(str(texts), file_columns)
    # A role is of a person, and a file of texts has none found
    if by == "role" and corpus.people is None:
        raise OptionError(f"--by role needs a run with annotated people; {corpus.name} has none.")
    with show.working("searching", quiet=format == "json"):
        hits = find_cues(corpus, cues_of(term) if term else cue_list(list_))
        rows = cue_rows(list(cue_counts(hits, scope)))
    facts = {
        "list": hits.cues.name,
        "source": hits.cues.source,
        "n_texts": sum(hits.texts.values()),
        "n_readable": hits.n_readable,
        "clustered_by": hits.corpus.cluster,
        "n_mentions": len(hits.mentions),
        "cues": rows,
    }
    if out is not None:
        domains = {prompt: strata.get("domain", "") for prompt, strata in corpus.prompts.items()}
        passages = (
            asdict(m)
            | {"domain": domains.get(m.prompt_id, ""), "cues": m.cue.group, "cue": m.cue.term}
            for m in hits.mentions
        )
        write_table(out, _PASSAGE, passages)
    show.give(format, facts, _cue_parts(hits, rows, by))


_PASSAGE = (
    *("text_id", "prompt_id", "model", "domain", "cues", "cue", "found"),
    *("start", "end", "slot", "role", "before", "after"),
)


def _cue_parts(hits: "CueHits", rows: Sequence[dict[str, Any]], by: str) -> "Iterator[show.Part]":
    from portrayal.annotate.language import NOT_ENGLISH
    from portrayal.measure.cues.search import unread_texts

    unread = unread_texts(hits.texts)
    words = ", ".join(f"{n:,} {outcome}" for outcome, n in unread.items())
    if NOT_ENGLISH in unread:
        words += ", as the list is: search terms of their language (--term, --list FILE)"
    yield (
        f"{hits.cues.title}: {len(hits.mentions):,} mentions in {hits.n_readable:,} readable texts"
        f" ({words or 'all could be read'}); intervals are clustered by {hits.corpus.cluster}."
    )
    # Rows are split by `by`, and pooled over everything else
    split = [] if by == "nothing" else [by]
    heads = ("cues", "cue", *split, "texts", "mentions", "share", "interval", "exact")
    cells = []
    for row in rows:
        # Counting rows of several cuts together would count texts twice
        if any((row[name] == "all") == (name == by) for name in ("model", "domain", "role")):
            continue
        paper = "" if row["published"] is None else f" (paper: {row['published']:,.0f})"
        names = row["cues"], row["cue"] + paper, *(row[name] for name in split)
        counts = f"{row['texts']:,} of {row['of_texts']:,}", f"{row['mentions']:,}"
        exact = _range(row["exact_interval"])
        # Never seen is not never: the rate is below the bound that none in so many texts leaves
        if row["upper_of_none"] is not None:
            exact = f"below {_share(row['upper_of_none'])}"
        share = row["undefined"] or _share(row["share"])
        cells.append((*names, *counts, share, _range(row["interval"]), exact))
    yield heads, cells


def _range(interval: dict[str, Any] | None) -> str:
    return f"{100 * interval['low']:.2g}–{_share(interval['high'])}" if interval else "–"


def _share(value: float) -> str:
    return "0" if value == 0 else f"{100 * value:.2g} %"


_CELLS = (
    *("text_id", "name", "first", "last", "title", "gender", "main", "writer", "n_mentions"),
    *("n_sentences_about", "n_sentences", "sentences", "references"),
)
"""Columns of the file of people."""
_BLANK, _NOBODY = "blank", "with no one in it"


def people(
    *,
    texts: Annotated[Path, Parameter(allow_leading_hyphen=True)],  # "-" is what is piped in
    out: Path | None = None,
    unnamed: opt.Flag = False,
    locale: Annotated[str | None, Parameter(metavar="NAME|DIR")] = None,
    column: opt.Columns = None,
    format: opt.Format = "table",
) -> None:
    """List the people of any text: names, gender, and which sentences are about whom.

    Example: portrayal find people --texts letters.csv --out people.csv

    Parameters
    ----------
    texts
        A plain text, CSV, JSON lines, Parquet or Excel file, or - (stdin).
    out
        CSV file to write, one row per person.
    unnamed
        Also people without a name: a woman, his wife.
    locale
        Folder of data of a country: its titles, places, peoples, feasts.
    """
    import portrayal.annotate.people.any_text.everyone as any_text
    from portrayal.annotate.sentences import sentences
    from portrayal.collect.corpus import read_plain
    from portrayal.collect.tables import write_table
    from portrayal.reference.locales import load_locale

    lists = None if locale is None else load_locale(locale)
    reasons = Counter[str]()
    rows: list[dict[str, Any]] = []
    with show.working("reading people", quiet=format == "json"):
        for text_id, text in read_plain(texts, column or ()):
            # Counted by reason, so that what is left out is never silent
            reason = any_text.EVERYONE.why_unread(text) if text.strip() else _BLANK
            everyone = any_text.find_everyone(
                "" if reason else text, unnamed=unnamed, writer=True, locale=lists
            )
            reasons[reason or (_NOBODY if not everyone else "")] += 1
            main, about = any_text.main_person(everyone), {"n_sentences": len(sentences(text))}
            rows += [
                {"text_id": text_id} | about | any_text.person_facts(person, main=person is main)
                for person in everyone
            ]
    n_read = reasons.pop("", 0)
    counts = {"n_texts": n_read + reasons.total(), "n_blank": reasons[_BLANK]}
    counts |= {"n_nobody": reasons[_NOBODY], "n_not_read": reasons.total()}
    counts["n_not_read"] -= counts["n_blank"] + counts["n_nobody"]
    parts = (f"{n:,} {reason}" for reason, n in sorted(reasons.items()) if n)
    summary = ", ".join((f"{len(rows):,} people in {counted(counts['n_texts'], 'text')}", *parts))
    if out is not None:
        # In CSV, lists are joined by blanks and mentions are given by their number
        cells = (
            row
            | {name: " ".join(map(str, row[name])) for name in ("sentences", "references")}
            | {"n_mentions": len(row["mentions"]), "n_sentences_about": len(row["sentences"])}
            for row in rows
        )
        write_table(out, _CELLS, cells)
        show.give(format, {**counts, "n_people": len(rows), "out": out}, [f"{summary}: {out}"])
        return
    table = []
    for row in rows:
        name = row["name"] or ("(who writes)" if row["writer"] else "(no name)")
        titled = f"{row['title']} {name}" if row["title"] else name
        words = row["text_id"], titled, row["gender"], ", ".join(row["references"])
        about_whom = f"{len(row['sentences']):,} of {row['n_sentences']:,}"
        table.append((*words, len(row["mentions"]), about_whom))
    heads = ("text", "name", "gender", "words", "mentions", "sentences")
    show.give(format, counts | {"people": rows}, [*([(heads, table)] if rows else []), summary])
