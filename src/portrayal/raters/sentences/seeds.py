"""Seeds and paraphrases: sentences of biographies, each written once agentic and once communal."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from portrayal.annotate.sentences import sentences
from portrayal.collect.ask.replies import Ask, objects_in, prompt_of
from portrayal.collect.tables import read_table, write_table
from portrayal.errors import DataError
from portrayal.validate import check_count

STEP_BEFORE = "Name yours with --column, or give the file that the step before wrote."
SEEDS_COLUMNS = ("sentence_id", "text_id", "number", "sentence")


@dataclass(frozen=True, slots=True)
class Seeds:
    """The sentences of a file of texts.

    Attributes
    ----------
    path
        CSV file with a row for each sentence.
    n_texts, n_short, n_sentences
        Texts, those too short to give a sentence, and sentences.
    """

    path: Path
    n_texts: int
    n_short: int
    n_sentences: int


def seed_sentences(
    texts: str | Path, out: Path, *, columns: Iterable[str] = (), first: int = 2, last: int = 1
) -> Seeds:
    """Split texts into sentences and leave out the outermost, which tell dates and whereabouts.

    Parameters
    ----------
    texts
        A file of texts.
    out
        The CSV file to write.
    columns
        "FIELD=NAME" strings where the column of the text has another name.
    first, last
        Sentences to leave out at the beginning and the end of each text.

    Raises
    ------
    DataError
        When no sentence is left.

    References
    ----------
    Wan & Chang (2024), Appendix B.1.
    """
    check_count("first", first)
    check_count("last", last)
    rows, n_short, n_texts = [], 0, 0
    for n_texts, row in enumerate(read_table(texts, ["text"], columns=columns), 1):
        text = row["text"]
        spans = sentences(text)
        kept = list(enumerate(spans))[first : max(len(spans) - last, 0)]
        n_short += not kept
        name = row.get("text_id") or f"{n_texts - 1:06d}"
        for number, (start, end) in kept:
            said = " ".join(text[start:end].split())
            made = {"sentence_id": f"{name}-{number:03d}", "text_id": name}
            rows.append(made | {"number": number, "sentence": said})
    if not rows:
        raise DataError(
            f"{texts}: no text has more than {first + last} sentences; leave out fewer with "
            "--first and --last."
        )
    if len({row["sentence_id"] for row in rows}) != len(rows):
        raise DataError(f"{texts}: a text_id comes twice; each text needs one of its own.")
    return Seeds(write_table(out, SEEDS_COLUMNS, rows), n_texts, n_short, len(rows))


TARGETS = ("agentic", "communal")
COLUMNS = ("entry_id", "sentence_id", "target", "text", "sentence")
UNREAD = ("sentence_id", "sentence", "why", "answer")
MALFORMED, NO_ANSWER = "malformed", "not asked: the budget was reached"
_KEYS = frozenset(TARGETS)


@cache
def _words() -> dict[str, str]:
    return tomllib.loads(files(__package__).joinpath("prompt.toml").read_text(encoding="utf-8"))


def paraphrase_prompt(sentence: str) -> str:
    """Return the request for both paraphrases of a sentence.

    References
    ----------
    Wan & Chang (2024), Table 7.
    """
    words = _words()
    return words["prompt"].format(
        agentic=words["agentic"], communal=words["communal"], sentence=sentence
    )


@dataclass(frozen=True, slots=True)
class Paraphrases:
    """What came of asking for paraphrases.

    Attributes
    ----------
    path
        CSV file with two rows for each sentence that was paraphrased.
    unread_path
        CSV file with the sentences that were not, why, and the answer as it came.
    outcomes
        Sentences by what came of them: "ok", "malformed", "refused", "empty", "failed", ….
    """

    path: Path
    unread_path: Path
    outcomes: Mapping[str, int]


def read_paraphrases(reply: str) -> dict[str, str] | None:
    """Return the agentic and the communal sentence in a reply; None where it does not hold both."""
    for entry in objects_in(reply):
        said = {str(key).strip().casefold(): value for key, value in entry.items()}
        pair = {key: said[key].strip() for key in TARGETS if isinstance(said.get(key), str)}
        if pair.keys() == _KEYS and all(pair.values()):
            return pair
    return None


def paraphrase(
    sentences: str | Path, ask: Ask, out: Path, *, columns: Iterable[str] = ()
) -> Paraphrases:
    """Have every sentence paraphrased; what has an answer is not asked again.

    Parameters
    ----------
    sentences
        File of sentences, of `seed_sentences` or of one's own.
    ask
        The model; see `portrayal.collect.ask.replies.asker`.
    out
        CSV file to write; the sentences without paraphrases go to a file beside it.
    columns
        "FIELD=NAME" strings where the column of the sentence has another name.
    """
    rows = read_table(sentences, ["sentence"], columns=columns)
    seeds = {}
    for number, row in enumerate(rows):
        if row["sentence"].strip():
            seeds[row.get("sentence_id") or f"{number:06d}"] = row["sentence"].strip()
    prompts = {name: prompt_of(paraphrase_prompt(text)) for name, text in seeds.items()}
    replies = ask(prompts.values())
    made: list[dict[str, str]] = []
    unread: list[dict[str, str]] = []
    outcomes: Counter[str] = Counter(blank=len(rows) - len(seeds))
    for name, text in seeds.items():
        reply = replies.get(prompts[name].prompt_id)
        why = NO_ANSWER if reply is None else reply.outcome
        pair = read_paraphrases(reply.text) if reply is not None and why == "ok" else None
        if pair is None:
            why = MALFORMED if why == "ok" else why
            said = "" if reply is None else reply.text or reply.reason
            unread.append({"sentence_id": name, "sentence": text, "why": why, "answer": said})
        else:
            facts = {"sentence_id": name, "sentence": text}
            made += [
                {"entry_id": f"{name}-{target}", "target": target, "text": pair[target], **facts}
                for target in TARGETS
            ]
        outcomes[why] += 1
    beside = out.with_name(f"{out.stem}-unread.csv")
    write_table(beside, UNREAD, unread)
    write_table(out, COLUMNS, made)
    return Paraphrases(out, beside, {name: n for name, n in sorted(outcomes.items()) if n})
