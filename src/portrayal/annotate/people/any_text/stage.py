"""The people of a text on their way to a `Person`: mentions, descriptions, pronouns, speech."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from portrayal.annotate.people.any_text.clusters import (
    Cluster,
    cluster_names,
    find_headlines,
    mentions_in,
)
from portrayal.annotate.people.any_text.described import Phrase, find_phrases
from portrayal.annotate.people.any_text.follow import Event, follow
from portrayal.annotate.people.any_text.singly import single_they
from portrayal.annotate.people.any_text.speech import (
    FIRST_PERSON,
    find_signature,
    find_speakers,
    number_quotations,
)
from portrayal.annotate.people.shared.candidates import find_candidates
from portrayal.annotate.people.shared.capitals import Candidate
from portrayal.annotate.people.shared.evidence import SAYING, introduces, weigh
from portrayal.annotate.people.shared.mentions import PRONOUNS, pronoun_rank
from portrayal.annotate.people.shared.model import UNSPECIFIED, UNSURE, Span
from portrayal.annotate.people.shared.nominals import GENDER, OPEN_TITLES
from portrayal.annotate.people.shared.scan import Tokens, scan
from portrayal.annotate.people.shared.singular import THEY
from portrayal.annotate.people.shared.words import CLAUSE_OPENERS, ENDS_OBJECT, VERBS_AFTER_NAME

_CERTAIN = 3.0
_MORE = 3


@dataclass(slots=True)
class Figure:
    """Somebody in the making.

    Attributes
    ----------
    first, name, titles
        As written; `titles` in order of occurrence.
    hints
        Gender → weight of the nouns and titles that tell it.
    gender
        As it came out.
    spans
        Mentions in the original text.
    score
        How much the name behaves like a person's.
    writer
        Whether this is the "I" of the text.
    """

    first: str | None = None
    name: str | None = None
    titles: list[str] = field(default_factory=list)
    hints: dict[str, float] = field(default_factory=dict)
    gender: str = UNSPECIFIED
    spans: list[Span] = field(default_factory=list)
    score: float = 1.0
    writer: bool = False

    @property
    def hinted(self) -> str:
        """The gender that nouns and titles tell most, or ""."""
        return max(self.hints, key=lambda g: (self.hints[g], g)) if self.hints else ""

    @property
    def confidence(self) -> float:
        """How clear the name and the gender were, 0–1."""
        named = min(1.0, 0.4 + 0.15 * self.score) if self.name else 0.4
        return named * (0.6 if self.gender == UNSURE else 1.0)


class Stage:
    """A text, its people, and the events that mention them."""

    def __init__(self, text: str, sentences: Sequence[tuple[int, int]]) -> None:
        self.text = text
        self.tokens = scan(text)
        self.quotes = number_quotations(self.tokens)
        self.figures: list[Figure] = []
        self.names: dict[int, int] = {}
        self.called: dict[str, set[int]] = {}
        self.events: list[Event] = []
        self.barred: dict[int, int] = {}
        starts = self.tokens.starts
        opens = [bisect_left(starts, start) for start, _ in sentences]
        self.opens = frozenset(opens)
        self.headlines = find_headlines(self.tokens, opens)

    def span(self, first: int, last: int, kind: str) -> Span:
        """The span from token `first` to token `last`."""
        starts, words = self.tokens.starts, self.tokens.words
        return Span(starts[first], starts[last] + len(words[last]), kind)

    def event(self, at: int, person: int, subject: float, gender: str = "", case: str = "") -> None:
        """Note a mention or pronoun."""
        sentence = self.tokens.sentence[at]
        self.events.append(Event(at, sentence, person, subject, gender, case, self.quotes[at]))


def make_stage(
    text: str, sentences: Sequence[tuple[int, int]], *, writer: bool = False
) -> list[Figure]:
    """The people of `text`, whose sentences are given; the writer only where `writer` asks."""
    stage = Stage(text, sentences)
    _add_names(stage)
    _add_writer(stage, asked=writer)
    _add_phrases(stage, find_phrases(stage.tokens, stage.names))
    _add_pronouns(stage)
    who = _follow(stage)
    _add_they(stage, who)
    _add_speech(stage, who)
    for figure in stage.figures:
        told = _told(stage, figure)
        figure.gender = UNSPECIFIED if not told else UNSURE if len(told) > 1 else min(told)
    return stage.figures


def _add_names(stage: Stage) -> None:
    """Find the named people."""
    tokens = stage.tokens
    runs = find_candidates(stage.text, tokens, stage.opens)
    body = [run for run in runs if run.start not in stage.headlines]
    clusters = cluster_names(tokens, body, lambda run: weigh(stage.text, tokens, run))
    for index, cluster in enumerate(clusters):
        figure = Figure(cluster.first_name(tokens), _name(stage, cluster), score=cluster.score)
        stage.figures.append(figure)
        for run in cluster.mentions:
            _add_mention(stage, index, run)
    for index, run in mentions_in(stage.headlines, tokens, clusters):
        _add_mention(stage, index, run)


def _add_writer(stage: Stage, *, asked: bool) -> None:
    """Add who says "I" outside quotations: by introduction, or, where asked for, in any case."""
    tokens = stage.tokens
    if FIRST_PERSON.isdisjoint(tokens.low):
        return
    own = [
        at for at, word in enumerate(tokens.low) if word in FIRST_PERSON and not tokens.quoted[at]
    ]
    starts = sorted(at for at in stage.names if not tokens.quoted[at])
    person = next((stage.names[at] for at in starts if introduces(tokens.low, at)), -1)
    if not own or (person < 0 and not asked):
        return
    if person < 0:
        person = stage.names.get(find_signature(tokens), -1)
    if person < 0:
        person = len(stage.figures)
        stage.figures.append(Figure())
    stage.figures[person].writer = True
    stage.figures[person].spans += [stage.span(at, at, "speech") for at in own]
    stage.names.update((at, person) for at in own if tokens.low[at] == "i")


def _name(stage: Stage, cluster: Cluster) -> str:
    """The longest name of a cluster as written."""
    span = stage.span(cluster.longest.start, cluster.longest.named - 1, "name")
    return " ".join(stage.text[span.start : span.end].split())


def _add_mention(stage: Stage, index: int, run: Candidate) -> None:
    """Add one mention by name."""
    tokens, figure = stage.tokens, stage.figures[index]
    opens = run.titles[0] if run.titles else run.start
    for at in range(opens, run.end):
        stage.names[at] = index
    figure.spans.append(stage.span(opens, run.end - 1, "name"))
    figure.titles += _titles(tokens, run.titles)
    for at in run.titles:
        if gender := GENDER.get(tokens.low[at]):
            figure.hints[gender] = figure.hints.get(gender, 0.0) + _CERTAIN
            figure.spans.append(stage.span(at, at, "reference"))
    if not introduces(tokens.low, opens):
        stage.event(run.start, index, _subject(tokens, opens, run.end))


def _titles(tokens: Tokens, places: Sequence[int]) -> list[str]:
    """Titles as written; "Deputy Minister" is one."""
    found: list[str] = []
    for number, at in enumerate(places):
        word = tokens.words[at]
        if number and places[number - 1] == at - 1 and tokens.low[at - 1] in OPEN_TITLES:
            found[-1] += f" {word}"
        else:
            found.append(word)
    return found


def _subject(tokens: Tokens, start: int, end: int) -> float:
    """How much the name between two positions is the subject of its clause."""
    low = tokens.low
    before = low[start - 1] if start else "."
    after = low[end] if end < len(low) else "."
    opened = before in CLAUSE_OPENERS
    if after == "'s":
        return 0.5 if opened else 0.0
    acts = after in VERBS_AFTER_NAME or after in SAYING or after.endswith("ed")
    return 1.0 if opened or acts or before in SAYING else 0.0


def _add_phrases(stage: Stage, phrases: Sequence[Phrase]) -> None:
    """Add what nouns say of named people, and unnamed people."""
    tokens = stage.tokens
    unnamed: dict[str, int] = {}
    for phrase in phrases:
        noun = tokens.low[phrase.at]
        if phrase.kind == "'s" and phrase.person >= 0 and tokens.low[phrase.start] in PRONOUNS:
            stage.barred[phrase.start] = phrase.person
        person = phrase.person if phrase.person >= 0 else _known(stage, noun, phrase, unnamed)
        if person < 0 and (phrase.predicate or not phrase.kind):
            continue
        if person < 0 and phrase.kind == "the" and phrase.gender in ("F", "M"):
            stage.event(
                phrase.at, -1, _subject(tokens, phrase.start, phrase.at + 1), phrase.gender, "d"
            )
            continue
        if person < 0:
            person = unnamed[noun] = len(stage.figures)
            stage.figures.append(Figure())
        figure = stage.figures[person]
        stage.called.setdefault(noun, set()).add(person)
        if phrase.gender:
            hints = figure.hints
            hints[phrase.gender] = hints.get(phrase.gender, 0.0) + _CERTAIN
            figure.spans += [stage.span(at, at, "reference") for at in phrase.told]
        if not phrase.told or phrase.told[-1] != phrase.at:
            figure.spans.append(stage.span(phrase.at, phrase.at, "noun"))
        if phrase.person < 0:
            stage.event(phrase.at, person, _subject(tokens, phrase.start, phrase.at + 1))


def _known(stage: Stage, noun: str, phrase: Phrase, unnamed: dict[str, int]) -> int:
    """Who was called by this noun before: "the singer", "his wife"; -1 for nobody."""
    if phrase.kind not in ("the", "'s") or phrase.predicate:
        return -1
    if phrase.kind == "the" and noun not in ("man", "woman", "boy", "girl"):
        called = stage.called.get(noun, set())
        if len(called) == 1:
            return min(called)
    return unnamed.get(noun, -1)


def _add_pronouns(stage: Stage) -> None:
    """Add pronouns of a gender and bring all events into order."""
    low = stage.tokens.low
    for at, word in enumerate(low):
        if word in PRONOUNS and at not in stage.names:
            gender, case = PRONOUNS[word]
            if word == "her" and (at + 1 == len(low) or low[at + 1] in ENDS_OBJECT):
                case = "o"
            stage.event(at, -1, pronoun_rank(low, at, case), gender, case)
    stage.events.sort()


def _follow(stage: Stage) -> dict[int, int]:
    """Resolve pronouns; returns token position → person for every mention."""
    who = {event.at: event.person for event in stage.events if event.person >= 0}
    speakers = find_speakers(stage.tokens, stage.quotes, stage.names)
    hinted = [figure.hinted for figure in stage.figures]
    found, _ = follow(stage.events, hinted, stage.barred, speakers)
    if they := _taking_they(stage, who, found):
        others, _ = follow(stage.events, hinted, stage.barred, speakers, they)
        moved = {new for new, old in zip(others, found, strict=True) if new != old}
        if all(new >= 0 and stage.figures[new].name for new in moved):
            found = others
    pending = [event for event in stage.events if event.person < 0]
    strangers: dict[str, int] = {}
    for event, nearest in zip(pending, found, strict=True):
        person = nearest
        if nearest < 0:
            person = strangers.setdefault(event.gender, len(stage.figures))
            if person == len(stage.figures):
                stage.figures.append(Figure())
        who[event.at] = person
        stage.figures[person].spans.append(stage.span(event.at, event.at, "reference"))
    return who


def _taking_they(stage: Stage, who: Mapping[int, int], found: Sequence[int]) -> frozenset[int]:
    """People to whom "they" refers at least `_MORE` times as often as "he" and "she"."""
    others = Counter(person for person in found if person >= 0)
    most = 0 if THEY.isdisjoint(stage.tokens.low) else sum(w in THEY for w in stage.tokens.low)
    if not others or _MORE * min(others.values()) > most:
        return frozenset()
    genders = [_told(stage, figure) for figure in stage.figures]
    named = [figure.name is not None for figure in stage.figures]
    uses = Counter(person for _, person in single_they(stage.tokens, who, genders, named))
    return frozenset(p for p, times in uses.items() if 0 < _MORE * others[p] <= times)


def _add_they(stage: Stage, who: dict[int, int]) -> None:
    """Add singular "they"."""
    if THEY.isdisjoint(stage.tokens.low):
        return
    genders = [_told(stage, figure) for figure in stage.figures]
    named = [figure.name is not None for figure in stage.figures]
    for at, person in single_they(stage.tokens, who, genders, named):
        stage.figures[person].spans.append(stage.span(at, at, "reference"))


def _told(stage: Stage, figure: Figure) -> frozenset[str]:
    """Genders that the references so far tell."""
    return frozenset(_genders(stage.text, figure.spans))


def _genders(text: str, spans: Sequence[Span]) -> Iterator[str]:
    """Gender of each reference."""
    for span in spans:
        if span.kind == "reference":
            word = text[span.start : span.end].casefold()
            yield PRONOUNS[word][0] if word in PRONOUNS else GENDER.get(word, "NB")


def _add_speech(stage: Stage, who: dict[int, int]) -> None:
    """Add "I" of speakers in their quotations."""
    tokens = stage.tokens
    if FIRST_PERSON.isdisjoint(tokens.low):
        return
    speakers = find_speakers(tokens, stage.quotes, stage.names | who)
    for at, word in enumerate(tokens.low):
        if word in FIRST_PERSON and (speaker := speakers.get(stage.quotes[at], -1)) >= 0:
            stage.figures[speaker].spans.append(stage.span(at, at, "speech"))
