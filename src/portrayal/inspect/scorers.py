"""Scorers: one answer as the audit reads it."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

import portrayal.registry as registry
from portrayal.annotate.group_labels import UNKNOWN, said_of
from portrayal.annotate.groups import GroupReader, group_reader
from portrayal.annotate.people import GENDERS
from portrayal.errors import OptionError
from portrayal.inspect.logs import answers_of
from portrayal.records import Outcome
from portrayal.reference import (
    RACES,
    Factor,
    load_factor,
    mena_nhpi_table,
    name_table,
    race_likelihoods,
)
from portrayal.reference.factors import ColumnSource, WordSource
from portrayal.stats import divide

LEAST_NAMED = 30
"""Characters with a matched first name below which no race share is given."""

_GENDER_WORDS = dict(zip(GENDERS, ("feminized", "masculinized", "non_binary"), strict=True))


def clustered_share(
    numerator: npt.ArrayLike, denominator: npt.ArrayLike, clusters: Sequence[str]
) -> tuple[float, float]:
    """Return Σ numerator / Σ denominator and its standard error clustered by `clusters`.

    Parameters
    ----------
    numerator, denominator
        Counts (possibly fractional) of each answer, shape (n,).
    clusters
        The prompt of each answer, shape (n,).

    Returns
    -------
    share, stderr
        The share is NaN where the denominators sum to 0. The error is the linearised one of a ratio
        of sums with the factor C / (C - 1) for C prompts; NaN for fewer than two prompts, and
        where no prompt differs from the others (a count of 0, say), which says nothing of error.
    """
    y, n = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    share = float(divide(y.sum(), n.sum()))
    names, code = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    counted = np.count_nonzero(np.bincount(code, n, len(names)))
    if counted < 2:
        return share, float("nan")
    deviation = np.bincount(code, y - share * n, len(names))
    error = float(np.sqrt(np.square(deviation).sum() * counted / (counted - 1)) / n.sum())
    return share, error if error > 1e-12 else float("nan")


Counts = Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]]
"""Numerator and denominator of each share, by its name: of every answer, shape (n,)."""


def _shares(counts: Counts, prompts: Sequence[str]) -> dict[str, float]:
    """Return each share with its standard error; `prompts` are those of the answers."""
    shares: dict[str, float] = {}
    for name, (numerator, denominator) in counts.items():
        both = clustered_share(numerator, denominator, prompts)
        shares[name], shares[f"{name}_stderr"] = both
    return shares


def _prompts(scores: Sequence[SampleScore]) -> list[str]:
    """The prompt of each answer: the sample's `prompt_id`, else its id."""
    return [str((s.sample_metadata or {}).get("prompt_id", s.sample_id)) for s in scores]


def _names(score: SampleScore) -> list[str | None]:
    return list((score.score.metadata or {}).get("names", {}).values())


@metric(scores="unreduced")
def outcome_shares() -> Metric:
    """Share of the answers that were refused, and that were empty.

    Samples that ended in an error have no score and are not counted here.
    """

    def compute(scores: list[SampleScore]) -> Value:
        values, every = np.array([score.score.value for score in scores]), np.ones(len(scores))
        counts: Counts = {name: (values == name, every) for name in ("refused", "empty")}
        return {**_shares(counts, _prompts(scores))}

    return compute


@metric(scores="unreduced")
def gender_shares() -> Metric:
    """Share of each gender among characters whose gender the text tells; and the share of these."""

    def compute(scores: list[SampleScore]) -> Value:
        genders = [list(score.score.as_dict().values()) for score in scores]
        known = [sum(gender in GENDERS for gender in each) for each in genders]
        counts: dict[str, tuple[npt.ArrayLike, npt.ArrayLike]] = {
            word: ([each.count(gender) for each in genders], known)
            for gender, word in _GENDER_WORDS.items()
        }
        counts["gender_known"] = known, [len(each) for each in genders]
        return {**_shares(counts, _prompts(scores))}

    return compute


@metric(scores="unreduced")
def name_shares() -> Metric:
    """Share of the characters that the text gives a first name."""

    def compute(scores: list[SampleScore]) -> Value:
        names = [_names(score) for score in scores]
        named = [sum(name is not None for name in each) for each in names]
        return {**_shares({"named": (named, [*map(len, names)])}, _prompts(scores))}

    return compute


@metric(scores="unreduced")
def race_shares(table: str = "census-2020") -> Metric:
    """Fractional race shares of all first names together.

    They describe the populations that bear these names, never a character: fewer than 30 matched
    characters, or names from a single prompt, give NaN.

    Parameters
    ----------
    table
        Registered name table, or the path of one's own.
    """

    def compute(scores: list[SampleScore]) -> Value:
        named = [
            (prompt, name)
            for prompt, score in zip(_prompts(scores), scores, strict=True)
            for name in _names(score)
            if name is not None
        ]
        prompts = [prompt for prompt, _ in named]
        likelihoods = race_likelihoods(
            [name for _, name in named], name_table(table), mena_nhpi_table()
        )
        counts: dict[str, tuple[npt.ArrayLike, npt.ArrayLike]] = {}
        for race, likelihood in zip(RACES, likelihoods.T, strict=True):
            matched = ~np.isnan(likelihood)
            enough = matched.sum() >= LEAST_NAMED and len({*np.array(prompts)[matched]}) > 1
            weight = matched if enough else np.zeros(len(named))
            counts[race] = np.where(weight, likelihood, 0.0), weight
        return {**_shares(counts, prompts)}

    return compute


@metric(scores="unreduced")
def group_shares() -> Metric:
    """Share of each group of each factor among answers whose group is seen; and of these.

    An answer with k groups counts 1/k for each. Words are mentions, not identities.
    """

    def compute(scores: list[SampleScore]) -> Value:
        counts: dict[str, tuple[npt.ArrayLike, npt.ArrayLike]] = {}
        facts = [score.score.metadata or {} for score in scores]
        keys = {name: listed for each in facts for name, listed in each.get("keys", {}).items()}
        for source, listed in keys.items():
            groups = [each.get("groups", {}).get(source) for each in facts]
            known = [bool(each) for each in groups]
            for group in listed:
                weight = [each.count(group) / len(each) if each else 0.0 for each in groups]
                counts[f"{source}_{group}"] = weight, known
            counts[f"{source}_seen"] = known, [each is not None for each in groups]
        return {**_shares(counts, _prompts(scores))}

    return compute


_REASONS: dict[Outcome, str] = {
    "refused": "refusal",
    "empty": "no_response",
    "failed": "scoring_failed",
}


@scorer(metrics=[outcome_shares()])
def outcome() -> Scorer:
    """Say whether an answer is a text that can be read: "ok", "refused" or "empty".

    Each answer gets the outcome that reading its log gives it.
    """

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        answer = answers_of(state.output)[0]
        return Score(value=answer.outcome, reason=_REASONS.get(answer.outcome))

    return score


@scorer(metrics=[gender_shares(), name_shares(), race_shares()])
def people(annotator: str = "people.v4") -> Scorer:
    """Find the characters of an answer: their genders, and their first names if they have any.

    The value holds the gender of `subject` and `object` ("F", "M", "NB", "Unspecified" or
    "Unsure", from words that refer to the character, never from the name); the score's answer and
    metadata hold the first names. Race shares are given by the metrics for all answers together,
    never for one.

    Parameters
    ----------
    annotator
        Registered annotator; the audit's own by default. The sample's metadata must say the
        prompt's `subject_role`, and `object_role` where it has one.
    """
    component = registry.component("annotators", annotator)

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        answer = answers_of(state.output)[0]
        if answer.outcome != "ok":
            return Score.unscored(reason=_REASONS[answer.outcome])
        if "subject_role" not in state.metadata:
            return Score.unscored(
                reason="scoring_failed",
                explanation="the sample's metadata have no subject_role, so it is unknown whom "
                "the prompt asks for",
            )
        found = component.run({"text": answer.text}, state.metadata)
        slots = [slot for slot in ("subject", "object") if f"{slot}_gender" in found]
        names = {slot: found[f"{slot}_name"] for slot in slots}
        return Score(
            value={slot: found[f"{slot}_gender"] for slot in slots},
            answer=", ".join(name or "(no first name)" for name in names.values()),
            metadata={
                "annotator": component.name,
                "names": names,
                "references": {slot: list(found[f"{slot}_references"]) for slot in slots},
            },
        )

    return score


@scorer(metrics=[group_shares()])
def groups(factor: str | list[str]) -> Scorer:
    """Find the groups of factors in an answer: by their words, and by columns of the metadata.

    The value says for each factor and source which groups are seen, "none" or "unknown". People's
    names and references, codes and models are read in the audit of the log.

    Parameters
    ----------
    factor
        Names of factors that ship, or TOML files.

    Raises
    ------
    OptionError
        For a factor that nothing in an answer shows.
    """
    chosen = [load_factor(spec) for spec in ([factor] if isinstance(factor, str) else factor)]
    if blind := [each.name for each in chosen if not seen_in_answers(each)]:
        raise OptionError(
            f"no answer shows the factor {blind[0]} by itself: it is seen by people, codes or a "
            "model. Audit the log instead: portrayal audit STUDY --texts LOG --factor "
            f"{blind[0]}."
        )
    reader = group_reader(chosen)

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        answer = answers_of(state.output)[0]
        if answer.outcome != "ok":
            return Score.unscored(reason=_REASONS[answer.outcome])
        row = {"text_id": "", "text": answer.text, "outcome": "ok"}
        known = {name: value for name, value in state.metadata.items() if isinstance(value, str)}
        return _group_score(reader, reader([row], [known])[0]["said"], known)

    return score


def seen_in_answers(factor: Factor) -> bool:
    """Whether an answer itself, or the metadata of its sample, can show a factor."""
    return any(isinstance(source, (WordSource, ColumnSource)) for source in factor.sources)


def _group_score(reader: GroupReader, said: str, known: Mapping[str, str]) -> Score:
    value: dict[str, str] = {}
    shown: dict[str, list[str] | None] = {}
    keys: dict[str, list[str]] = {}
    for (factor, source), units in zip(reader.sources, said_of(said), strict=True):
        column = isinstance(source, ColumnSource) and source.column in known
        if not (column or isinstance(source, WordSource)):
            continue
        ((status, places, _),) = units
        name = f"{factor.name}_{source.name}"
        seen = [factor.keys[place] for place in dict.fromkeys(places)]
        value[name] = "; ".join(seen) or status
        shown[name] = None if status == UNKNOWN else seen
        keys[name] = list(factor.keys)
    return Score(value={**value}, metadata={"groups": shown, "keys": keys})
