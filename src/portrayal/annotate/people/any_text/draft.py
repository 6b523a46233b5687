"""The people of a text in the making: names, noun phrases that describe them, pronouns, speech."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from portrayal.annotate.people.any_text import grammar, pronouns
from portrayal.annotate.people.names import clusters, evidence
from portrayal.annotate.people.names.candidates import LISTS, Candidate, honorifics
from portrayal.annotate.people.shared import links
from portrayal.annotate.people.shared import words as en
from portrayal.annotate.people.shared.model import Span
from portrayal.annotate.people.shared.scan import ENGLISH, LocalWords, Tokens
from portrayal.reference.groups import NON_BINARY

_IS = en.COPULAS | LISTS.copulas
_PREDICATE = _IS | LISTS.before_predicates

_KINDS = (
    dict.fromkeys(LISTS.possessive, "'s")
    | dict.fromkeys(LISTS.definite, "the")
    | dict.fromkeys(LISTS.indefinite, "a")
)

_CLAUSE, _LETTER_END = 8, 38
"""Words behind a subject among which its object is looked for, and at the end of a text among which
the writer's name is."""

_LONGEST, _VERB, _PARTICIPLE = 9, 7, 3
"""Words of a noun phrase before its head, of a verb behind "I", and of a participle's phrase."""

BY_RULES, BY_GRAMMAR = 2.7, 30.0
"""How many times likelier whom the rules choose is taken to be than the network alone says, and
whom they choose where grammar alone says the same."""


@dataclass(slots=True)
class Phrase:
    """A noun phrase for one person.

    Attributes
    ----------
    start, token
        Token positions of its first word and of its head.
    kind
        "a", "the", "'s" (possessive) or "" by the word it opens with.
    gender
        Gender that the head or an adjective tells, or "".
    gendered
        Positions of the words that tell the gender.
    person
        Index of the named person it describes, or -1.
    predicate
        Whether it says what someone is: "she is a singer", "as a singer".
    """

    start: int
    token: int
    kind: str
    gender: str
    gendered: list[int]
    person: int = -1
    predicate: bool = False


def find_phrases(tokens: Tokens, names: Mapping[int, int]) -> list[Phrase]:
    """Noun phrases for one person, in order; `names` maps token positions of names to people."""
    low = tokens.low
    phrases = []
    for i, word in enumerate(low):
        after = low[i + 1] if i + 1 < len(low) else "."
        capitals = i + 1 < len(low) and tokens.words[i] != word and tokens.words[i + 1] != after
        if capitals and i + 1 not in names:
            continue  # "Queen" of "the Queen Sonja School"
        if word in en.PERSON_NOUNS and i not in names and tokens.words[i][1:].islower():
            if after not in en.PERSON_NOUNS or i + 1 in names:
                phrases.append(_phrase(tokens, i, names))
        elif word in en.ADJECTIVES and after not in ("and", "or") and after not in en.PERSON_NOUNS:
            bearer = -1
            if low[i - 2 : i] in (["gender", ":"], ["sex", ":"]) and names:
                # "Gender: female" of a form is that of whom it names before, or else behind
                bearer = max((place for place in names if place < i), default=min(names))
            elif low[i - 1] in _IS | LISTS.between and i - 2 in names:
                # An adjective tells it of a named person whatever noun follows: "Ann is non-binary"
                bearer = i - 2
            if bearer >= 0:
                phrases.append(Phrase(i, i, "", en.GENDER[word], [i], names[bearer], True))
                continue
            phrase = _phrase(tokens, i, names)
            if phrase.kind == "a" and phrase.person >= 0:
                phrases.append(phrase)
    return phrases


def _phrase(tokens: Tokens, i: int, names: Mapping[int, int]) -> Phrase:
    """The noun phrase whose head stands at `i`."""
    low = tokens.low
    gendered = [i] if low[i] in en.GENDER else []
    kind, start = "", i
    for back in range(i - 1, max(-1, i - 1 - _LONGEST), -1):
        word = low[back]
        if word in _KINDS:
            kind, start = _KINDS[word], back
            break
        stops = word == "and" or (word in en.FUNCTION_WORDS - LISTS.inside_phrases)
        if stops or back in names or not (word[0].isalpha() or (word == "," and i - back > 1)):
            break
        if word in en.ADJECTIVES:
            gendered.append(back)
    gender = en.GENDER[low[gendered[0]]] if gendered else ""
    gendered = [place for place in gendered if place >= start and en.GENDER[low[place]] == gender]
    phrase = Phrase(start, i, kind, gender if gendered else "", sorted(gendered))
    phrase.person = _described(tokens, phrase, names)
    return phrase


def _subject(tokens: Tokens, phrase: Phrase) -> int:
    """Position before the "is" that may stand before a phrase."""
    back = phrase.start - 1
    while back > 0 and tokens.low[back] in LISTS.between:
        back -= 1
    return back - 1


def _described(tokens: Tokens, phrase: Phrase, names: Mapping[int, int]) -> int:
    """Index of the named person whom the phrase describes, or -1; notes predicates."""
    low, start, i = tokens.low, phrase.start, phrase.token
    back = _subject(tokens, phrase) + 1
    phrase.predicate = start > 0 and low[back] in _PREDICATE and low[back] != "'s"
    before = low[start - 1] if start else "."
    after = low[i + 1] if i + 1 < len(low) else "."
    # "The only man was Ivo"
    is_copula = phrase.kind != "" and after in en.COPULAS - {"'s"}
    name_at = -1
    if i + 1 in names:
        name_at = i + 1
    elif i + 2 in names and (after == "," or after in en.LISTS.naming or is_copula):
        name_at = i + 2
    elif before in (",", "(", "—", "–") and start - 2 in names and (phrase.kind or after == "of"):
        name_at = start - 2
    elif phrase.kind and _opens_clause(tokens, start - 1):
        # "As a woman with a long commute, I", "Growing up as a boy, I"
        behind = (k for k in range(i + 1, len(low)) if tokens.sentence[k] == tokens.sentence[i])
        name_at = next((k for k in behind if k in names), -1)
    elif low[back] in _IS and back > 0 and (phrase.kind or phrase.gendered):
        # "Ann 's" owns what follows, unless it is "a singer"
        name_at = -1 if low[back] == "'s" and phrase.kind != "a" else back - 1
    if low[start] == "'s":
        owner = next((k for k in range(start - 1, -1, -1) if k not in names), -1)
        if low[owner - 1 : owner + 1] in (["i", "am"], ["i", "'m"]):
            return names.get(owner - 1, -1)  # "I am Mark's sister"
    if phrase.predicate and name_at not in names:
        # The "I" whose verb is before the phrase: "I have been a nurse"
        stops = en.CLAUSE_MARKS | en.PERSON_NOUNS | {"i", *en.PRONOUNS}
        verb = range(back, max(-1, back - _VERB), -1)
        name_at = next((k for k in verb if low[k] in stops), -1)
        return names.get(name_at, -1) if low[name_at] == "i" else -1
    return names.get(name_at, -1)


def _opens_clause(tokens: Tokens, i: int) -> bool:
    """Whether "as" or "being" at `i` stands first in a clause, or behind a participle there."""
    low = tokens.low
    if i < 0 or low[i] not in ("as", "being"):
        return False
    before = range(i - 1, max(-1, i - 1 - _PARTICIPLE), -1)
    start = next((k + 1 for k in before if low[k] in en.CLAUSE_MARKS), max(0, i - _PARTICIPLE))
    is_participle = low[start].endswith("ing") and tokens.sentence[start] == tokens.sentence[i]
    return start == i or is_participle


@dataclass(slots=True)
class PersonDraft:
    """A person in the making.

    Attributes
    ----------
    first, name, title
        As written; `title` is the first one.
    hints
        Gender → how many nouns and titles tell it.
    spans
        Mentions in the original text.
    score
        Log odds that the name is a person's.
    writer
        Whether this is the "I" of the text.
    meant
        Whether a pronoun means this person.
    """

    first: str | None = None
    name: str | None = None
    title: str | None = None
    hints: Counter[str] = field(default_factory=Counter)
    spans: list[Span] = field(default_factory=list)
    score: float = 2.0
    writer: bool = False
    meant: bool = False

    @property
    def hinted(self) -> str:
        """The gender that nouns and titles tell most, or ""."""
        return max(self.hints, key=lambda g: (self.hints[g], g), default="")


class TextDraft:
    """A text, its people, and the events that mention them."""

    def __init__(self, text: str, local: LocalWords = ENGLISH) -> None:
        self.written = text
        self.text, self.tokens, self.clusters = clusters.scan_people(text, local)
        self.people: list[PersonDraft] = []
        self.names: dict[int, int] = {}
        self.called: dict[str, set[int]] = {}
        self.events: list[links.PersonMention] = []
        self.barred: dict[int, int] = {}
        self.hidden: list[pronouns.Mark] = []
        self.starts_by_place: dict[str, list[int]] = defaultdict(list)
        self.predicates: list[tuple[int, Phrase]] = []
        self.first_persons = [i for i, w in enumerate(self.tokens.low) if w in LISTS.first_person]

    def span(self, first: int, last: int, kind: str) -> Span:
        """The span from token `first` to token `last`."""
        starts, words = self.tokens.starts, self.tokens.words
        return Span(starts[first], starts[last] + len(words[last]), kind)

    def words(self, first: int, last: int) -> str:
        """What stands from token `first` to token `last`, as written."""
        span = self.span(first, last, "name")
        return " ".join(self.written[span.start : span.end].split())


def draft_people(
    text: str,
    *,
    writer: bool = False,
    local: LocalWords = ENGLISH,
    refer: pronouns.Refer | None = None,
) -> list[PersonDraft]:
    """The people of `text`.

    Parameters
    ----------
    text
        Any string.
    writer
        Whether to add the writer.
    local
        Words of a locale.
    refer
        Says whom pronouns mean; without it, the rules do.
    """
    draft = TextDraft(text, local)
    tokens, names = draft.tokens, draft.clusters
    if refer is None:
        names = [cluster for cluster in names if cluster.score >= clusters.ENOUGH]
    for index, cluster in enumerate(names):
        name = draft.words(cluster.longest.start, cluster.longest.end - 1)
        draft.people.append(PersonDraft(cluster.first, name, score=cluster.score))
        for run in cluster.mentions:
            _add_mention(draft, index, run)
    add_writer(draft, always=writer)
    add_declared(draft)
    add_phrases(draft, find_phrases(draft.tokens, draft.names))
    person_at = _follow(draft, refer)
    # Once more: '"Hi," she said' needs to know who "she" is
    speakers = pronouns.find_speakers(tokens, draft.names | person_at)
    for i in draft.first_persons:
        speaker = speakers.get(tokens.quoted[i], -1)
        if speaker >= 0:  # "I" of speakers in their quotations
            draft.people[speaker].spans.append(draft.span(i, i, "speech"))
            person_at[i] = speaker
    for subject, phrase in draft.predicates:
        if subject in person_at:
            _add_reference(draft, person_at[subject], phrase)
    # A name that no pronoun means, and nothing else says to be a person's, is none
    return [one for one in draft.people if one.score >= clusters.ENOUGH or one.meant]


def add_writer(draft: TextDraft, *, always: bool) -> None:
    """Add who says "I" outside quotations: by introduction, or, where asked for, in any case."""
    tokens = draft.tokens
    first_persons = [i for i in draft.first_persons if not tokens.quoted[i]]
    introduced = [i for i in draft.starts_by_place["introduced"] if not tokens.quoted[i]]
    # Who introduces himself is the writer in any case; a signature only where asked
    person = draft.names[min(introduced)] if introduced else -1
    if not first_persons or (person < 0 and not always):
        return
    if person < 0:
        # The last name below a closing formula near the end, as a letter may quote another
        signatures = draft.starts_by_place["signature"]
        near_end = [i for i in signatures if i > len(tokens.low) - _LETTER_END]
        person = draft.names[max(near_end)] if near_end else len(draft.people)
    if person == len(draft.people):
        draft.people.append(PersonDraft())
    draft.people[person].writer = True
    draft.people[person].spans += [draft.span(i, i, "speech") for i in first_persons]
    draft.names.update((i, person) for i in first_persons if tokens.low[i] == "i")


def _add_mention(draft: TextDraft, index: int, run: Candidate) -> None:
    """Add one mention by name."""
    tokens, one = draft.tokens, draft.people[index]
    opens = run.titles[0] if run.titles else run.start
    draft.names |= dict.fromkeys(range(opens, run.end), index)
    one.spans.append(draft.span(opens, run.end - 1, "name"))
    draft.hidden.append(pronouns.Mark(*draft.span(run.start, run.end - 1, "name"), index))
    if run.titles and one.title is None:
        last = run.titles[0]
        while last + 1 in run.titles and tokens.low[last] in en.LISTS.open_titles:
            last += 1  # "Deputy Minister" is one title
        one.title = draft.words(run.titles[0], last)
    place = evidence.place_in_text(tokens, opens, run.end)
    draft.starts_by_place[place].append(opens)
    # "Ms: Lee" in a form tells it, too
    for i in (*run.titles, *honorifics(tokens, run), *[opens - 2] * (place == "field")):
        if gender := tokens.local.genders.get(tokens.low[i]) or en.GENDER.get(tokens.low[i]):
            one.hints[gender] += 1
            one.spans.append(draft.span(i, i, "reference"))
    # Those who speak, are addressed or introduce themselves are not who "she" and "he" mean
    addressed = opens and tokens.low[opens - 1] in LISTS.greetings
    if place not in ("speaker", "introduced") and not addressed:
        draft.events.append(links.mention_at(tokens, run.end - 1, index)._replace(token=run.start))


_DECLARED = re.compile(r"(?i)\b(?:she|he|they|xe|ze|ey|fae|it)(?:\s?/\s?[a-z]+){1,2}\b")


def add_declared(draft: TextDraft) -> None:
    """Add pronouns that are declared: "My pronouns are she/her", "Ann (they/them)".

    They are the writer's where "I" or "my" stands before them, else those of who was named last;
    as words of the text they mean nobody.
    """
    tokens = draft.tokens
    for match in _DECLARED.finditer(draft.text):
        inside = [i for i, s in enumerate(tokens.starts) if match.start() <= s < match.end()]
        sentence, before = tokens.sentence[inside[0]], range(inside[0] - 1, -1, -1)
        name_before = next((i for i in before if i in draft.names), -1)
        writers = [index for index, person in enumerate(draft.people) if person.writer]
        person = draft.names.get(name_before, -1)
        is_writer = any(tokens.sentence[i] == sentence for i in draft.first_persons if i in before)
        if writers and (is_writer or person < 0):
            person = writers[0]
        for i in inside:
            if person >= 0:
                draft.people[person].spans.append(draft.span(i, i, "reference"))
            # A mark in their place, so that the walk takes them for no pronouns of the text
            tokens.low[i] = "–"


def _object_of(draft: TextDraft, i: int) -> int:
    """Index of who is named as object of the clause of the pronoun at `i`, or -1.

    A subject is not its own object: in "She hates Alex" she is not Alex (Principle C).
    """
    low = draft.tokens.low
    ahead = range(i + 1, min(i + _CLAUSE, len(low)))
    behind = next((k for k in ahead if low[k] in en.CLAUSE_OPENERS or k in draft.names), i)
    if low[i] not in ("he", "she") or low[behind] == "i" or low[behind + 1 : behind + 2] == ["'s"]:
        return -1
    return draft.names.get(behind, -1)


def _add_reference(draft: TextDraft, index: int, phrase: Phrase) -> None:
    """Add the words of a phrase that tell the gender of a person."""
    person = draft.people[index]
    person.hints[phrase.gender] += 1
    person.spans += [draft.span(i, i, "reference") for i in phrase.gendered]


def add_phrases(draft: TextDraft, phrases: Sequence[Phrase]) -> None:
    """Add what nouns say of named people, and unnamed people."""
    tokens = draft.tokens
    unnamed: dict[str, int] = {}
    for phrase in phrases:
        noun = tokens.low[phrase.token]
        # In "his brother Tom" the possessive is not Tom
        if phrase.kind == "'s" and phrase.person >= 0 and tokens.low[phrase.start] in en.PRONOUNS:
            draft.barred[phrase.start] = phrase.person
        person = phrase.person
        if person < 0 and phrase.kind in ("the", "'s") and not phrase.predicate:
            # Whoever was called by this noun before: "the singer", "his wife"
            called = draft.called.get(noun, set()) if phrase.kind == "the" else set()
            sure = len(called) == 1 and noun not in ("man", "woman", "boy", "girl")
            person = min(called) if sure else unnamed.get(noun, -1)
        if person < 0 and (phrase.predicate or not phrase.kind):
            subject = _subject(tokens, phrase)
            if phrase.gender == NON_BINARY or (phrase.gender and tokens.low[subject] == "i"):
                draft.predicates.append((subject, phrase))
            continue
        if person < 0:
            person = unnamed[noun] = len(draft.people)
            draft.people.append(PersonDraft())
        one = draft.people[person]
        draft.called.setdefault(noun, set()).add(person)
        if phrase.gender:
            _add_reference(draft, person, phrase)
        if not phrase.gendered or phrase.gendered[-1] != phrase.token:
            one.spans.append(draft.span(phrase.token, phrase.token, "noun"))
        if phrase.person < 0:
            draft.events.append(links.mention_at(tokens, phrase.token, person))


def _follow(draft: TextDraft, refer: pronouns.Refer | None = None) -> dict[int, int]:
    """Add pronouns and singular "they"; returns token position → person for every mention."""
    tokens, low = draft.tokens, draft.tokens.low
    speakers = pronouns.find_speakers(tokens, draft.names)
    for i in [i for i, word in enumerate(low) if word in en.PRONOUNS]:
        draft.events.append(links.pronoun_at(tokens, i))
        # It means neither who speaks, nor the object of its verb
        speaker = speakers.get(tokens.quoted[i], -1)
        never = speaker if speaker >= 0 else _object_of(draft, i)
        if never >= 0:
            draft.barred.setdefault(i, never)
    draft.events.sort()
    person_at = {event.token: event.entity for event in draft.events if not event.case}
    # A person called "they" is less likely to be the "he" or "she" of the text
    uses = Counter(person for _, person in _they_of(draft, person_at))
    people = [(p.hinted, p.name is not None, uses[i]) for i, p in enumerate(draft.people)]
    hinted = [gender for gender, _, _ in people]
    # Rules first: the network's chances are weighed against what they choose
    liked = grammar.preferences(tokens, draft.events, hinted, draft.barred)
    persons = pronouns.resolve(draft.events, people, draft.barred, liked)
    pending = [event for event in draft.events if event.case]
    if refer is not None:
        persons = _referred(draft, pending, persons, refer, liked)
    strangers: dict[str, int] = {}
    for event, nearest in zip(pending, persons, strict=True):
        # All pronouns of one gender that mean nobody named are one stranger
        stranger = strangers.setdefault(event.gender, len(draft.people)) if nearest < 0 else -1
        if stranger == len(draft.people):
            draft.people.append(PersonDraft())
        person = max(nearest, stranger)
        person_at[event.token] = person
        draft.people[person].meant = True
        draft.people[person].spans.append(draft.span(event.token, event.token, "reference"))
    for i, person in _they_of(draft, person_at):
        draft.people[person].spans.append(draft.span(i, i, "reference"))
    return person_at


def _referred(
    draft: TextDraft,
    pending: Sequence[links.PersonMention],
    by_rules: Sequence[int],
    refer: pronouns.Refer,
    liked: Sequence[grammar.Preference],
) -> list[int]:
    """Whom `pending` mean: pronouns by `refer`, the rest, and what it does not know, by rules."""
    spoken = [i for i, event in enumerate(pending) if event.case != "noun"]
    if not spoken or sum(one.name is not None for one in draft.people) < 2:
        return list(by_rules)  # there are no names to choose between
    marks = list(draft.hidden)
    for index, one in enumerate(draft.people):
        spans = [span for span in one.spans if span.kind != "name"]
        marks += [pronouns.Mark(span.start, span.end, "noun", index) for span in spans]
    places = [pending[i].token for i in spoken]
    spans = [draft.span(place, place, "pronoun") for place in places]
    marks += [pronouns.Mark(*span, number) for number, span in enumerate(spans)]
    chances = refer(draft.text, marks, len(draft.people), len(spoken)).copy()
    # -1, nobody, is the last column
    grammar = {one.token: one.person for one in liked}
    chances[np.arange(len(spoken)), [by_rules[i] for i in spoken]] *= [
        BY_GRAMMAR if by_rules[i] == grammar.get(pending[i].token) else BY_RULES for i in spoken
    ]
    mentioned = {event.entity for event in draft.events if not event.case}
    # Who is only addressed or speaks has no event, and no pronoun means them
    chances[:, [i for i in range(len(draft.people)) if i not in mentioned]] = 0.0
    chances /= chances.sum(1, keepdims=True)
    # NaN: the pronoun had no token; the rules stand
    rows = np.flatnonzero(~np.isnan(chances).any(1))
    by_network = [spoken[row] for row in rows]
    meant = pronouns.most_likely(
        chances[rows],
        [pending[i].gender for i in by_network],
        [one.hinted for one in draft.people],
        [draft.barred.get(pending[i].token, -1) for i in by_network],
    )
    person_of = dict(zip(by_network, meant, strict=True))
    return [person_of.get(i, person) for i, person in enumerate(by_rules)]


def _they_of(draft: TextDraft, person_at: Mapping[int, int]) -> list[tuple[int, int]]:
    """Position of each singular "they", and who it is; `person_at` as in `single_they`."""
    references = [references_at(draft.text, person.spans) for person in draft.people]
    genders = [genders_told(words, draft.tokens.local) for words in references]
    is_named = [one.name is not None for one in draft.people]
    return pronouns.single_they(draft.tokens, person_at, genders, is_named)


def references_at(text: str, spans: Sequence[Span]) -> list[str]:
    """The casefolded words at the spans that refer to a person by a gender."""
    return [text[s.start : s.end].casefold() for s in spans if s.kind == "reference"]


def genders_told(references: Sequence[str], local: LocalWords) -> frozenset[str]:
    """Genders that casefolded references tell."""
    return frozenset(
        (en.PRONOUNS[word][0] if word in en.PRONOUNS else local.genders.get(word))
        or en.GENDER.get(word, NON_BINARY)
        for word in references
    )
