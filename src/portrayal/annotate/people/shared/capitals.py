"""One run of capitalised words: titles, initials, a nickname, the words of the name, what follows.

'Dr. J. Edgar "Speed" Hoover, Jr., MD' is one run; which runs are people's is decided elsewhere.
"""

import re
from dataclasses import dataclass, field

from portrayal.annotate.people.shared.nominals import BEFORE_TITLES, TITLES
from portrayal.annotate.people.shared.notnames import NOT_NAMES
from portrayal.annotate.people.shared.scan import Tokens
from portrayal.annotate.people.shared.words import FUNCTION_WORDS, word_set

PARTICLES = word_set("al ap ben bin da dal de del della den der di dos du el ibn la le ter van von")
"""Small words inside a name: "Ursula von der Leyen"."""

SUFFIXES = word_set("jr sr ii iii iv phd")
"""Words behind a name that are no surname."""

POSTNOMINALS = word_set(
    """
    AC AM AO BA BSc CBE CEng CFA CFP CH CMG CPA CVO DBE DC DCL DCM DD DDS DFC DLitt DMD DNP DO DPhil
    DPM DSC DSM DSO DVM EdD Esq FACP FBA FCA FRAS FRCP FRCS FRIBA FRS FRSA FRSC FRSE FRSL GBE GC
    GCB GCMG JD JP KBE KC KCB KCMG KG LCSW LLB LLD LLM MA MBA MBE MC MD MEP MFA MLA MP MPH MPP MPhil
    MS MSc MSP MSW NP OAM OBE OD OFM OM OP OSB PC PE PharmD PhD PsyD QC RA RGN RIBA RN SC SCJ SJ TD
    TC VC
    """
)
"""Letters behind a name that say a degree, honour, office or order, as written."""

AMBIGUOUS = word_set("AC AM CH DC DD DO KG MA MC MD MS NP OD OM OP PC PE RA SC TC TD")
"""Of these, letters that are also a state, an hour, a mark or another abbreviation."""

_IN_TITLES = TITLES | BEFORE_TITLES
_STOPPED = frozenset(letters.upper() for letters in POSTNOMINALS)
_JUNIOR = ("jr", "sr")
_SAINT = ("st", "ste")
_CASES_OF_J = ("JJ", "DJ", "AJ", "TJ", "CJ")
_COUNTRIES = word_set("us uk un eu dc la ny nz usa uae ussr nyc am pm ad bc ie eg rip")
_ARABIC = re.compile(r"(?:a[dlnrstz]|el|ibn|bin|as[hs])[-’'][A-ZÀ-Þ]\w")
_LETTERED = word_set(
    "a an all straight vitamin type plan group grade grades hepatitis section part class figure "
    "exhibit series level division appendix item question route schedule option team category tier"
)
"""Words before a letter that is no initial."""

_CLOSED_BY = {'"': '"', "“": "”", "(": ")"}
_SINGLE = frozenset("'‘’")
_LONGEST_NICKNAME = 3
_BORN = word_set("née nee né born")

NOT_PARTS = NOT_NAMES | (FUNCTION_WORDS - {"little", "young", "long", "small", "may", "love"})
"""Words that end a run."""


@dataclass(slots=True)
class Candidate:
    """One run of capitalised words.

    Attributes
    ----------
    start, end
        Token positions of the first word of the name, and behind the last word of the run.
    parts
        Positions of its words without titles, initials, nickname and suffixes.
    titles
        Positions of the titles before it.
    score
        What this mention says for a person (above 0) or against it.
    plural
        Whether it is a family: "the Smiths".
    opening
        Whether it opens a sentence, where any word is capitalised.
    words
        The words of `parts` in lower case.
    named
        Token position behind the last word of the name, before letters such as "MP".
    initials
        Initials before the first of `parts`, in lower case.
    nickname
        The nickname between the words, in lower case, or "".
    told
        Gender that a title, or a noun beside the name, tells, or "".
    bound
        Whether it is a person's only where it repeats part of a longer name: "King" alone.
    """

    start: int
    end: int
    parts: list[int]
    titles: list[int]
    score: float = 0.0
    plural: bool = False
    opening: bool = False
    words: list[str] = field(default_factory=list)
    named: int = -1
    initials: str = ""
    nickname: str = ""
    told: str = ""
    bound: bool = False


def gap(text: str, tokens: Tokens, at: int) -> str:
    """What stands between token `at` and the next one."""
    return text[tokens.starts[at] + len(tokens.words[at]) : tokens.starts[at + 1]]


def joined(text: str, tokens: Tokens, at: int) -> bool:
    """Whether only blanks, or the full stop of an initial, stand before the token at `at`."""
    return gap(text, tokens, at - 1).strip() == ""


def openings(text: str, tokens: Tokens) -> list[int]:
    """Positions of the words that can open a run."""
    pairs = zip(tokens.words, tokens.low, strict=True)
    capital = [at for at, (word, low) in enumerate(pairs) if word != low]
    return [at for at in capital if _opens_name(text, tokens, at)]


def _opens_name(text: str, tokens: Tokens, at: int) -> bool:
    """Whether the word at `at`, which has a capital, can open a run."""
    word = tokens.words[at]
    if not word[0].isupper():
        return _ARABIC.match(word) is not None
    if len(word) > 1:
        return tokens.low[at] not in NOT_PARTS
    return _opens_initials(text, tokens, at)


def _opens_initials(text: str, tokens: Tokens, at: int) -> bool:
    """Whether the letter at `at` can be the first initial of a name."""
    return not (at and tokens.low[at - 1] in _LETTERED) and _initial(text, tokens, at) > 0


def take(text: str, tokens: Tokens, at: int) -> Candidate:
    """The run that opens at `at`."""
    run = Candidate(at, at, [], [])
    end = _take_titles(text, tokens, at, run)
    run.start = run.end = end
    _take_name(text, tokens, end, run)
    run.named = run.end
    if run.parts:
        _cut_degree(tokens, run)
        run.end = _behind_letters(text, tokens, run)
    return run


def _take_titles(text: str, tokens: Tokens, at: int, run: Candidate) -> int:
    """Note the titles from `at` on; returns the position behind them."""
    words, low = tokens.words, tokens.low
    n = len(words)
    end = at
    while end < n and words[end][0].isupper():
        if low[end] not in TITLES and not (
            low[end] in BEFORE_TITLES
            and end + 1 < n
            and words[end + 1][0].isupper()
            and low[end + 1] in _IN_TITLES
        ):
            break
        run.titles.append(end)
        end += 1
        if end < n and low[end] == "." and not gap(text, tokens, end - 1):
            end += 1
    return end


def _take_name(text: str, tokens: Tokens, at: int, run: Candidate) -> None:
    """Note the words of the name from `at` on."""
    words, low = tokens.words, tokens.low
    end, closed = at, at
    while end < len(words):
        word = words[end]
        marked = word in _CLOSED_BY or (end > at and gap(text, tokens, end - 1) != " ")
        if run.parts and marked and (behind := _behind_nickname(text, tokens, end, run)):
            end = closed = behind
            continue
        if end != closed and not joined(text, tokens, end):
            break
        if length := _initial(text, tokens, end):
            end += length
        elif low[end] in SUFFIXES and run.parts and word[0].isupper():
            end += 1 + (low[end] in _JUNIOR and words[end + 1 : end + 2] == ["."])
        elif _is_part(tokens, end):
            saint = low[end] in _SAINT and not run.parts
            run.parts.append(end)
            end += 1 + (saint and words[end + 1 : end + 2] == ["."])
        elif run.parts and low[end] in PARTICLES and word.islower():
            end += 1
            continue
        else:
            break
        run.end = end


def _is_part(tokens: Tokens, at: int) -> bool:
    """Whether the word at `at` is a word of a name."""
    word = tokens.words[at]
    if not word[0].isupper():
        return word[0] in "aeib" and _ARABIC.match(word) is not None
    if tokens.low[at] in NOT_PARTS:
        return False
    return len(word) == 1 or not word.isupper() or word in _CASES_OF_J


def _initial(text: str, tokens: Tokens, at: int) -> int:
    """How many tokens an initial at `at` takes up; 0 where there is none.

    "A" and "I" are initials only with a full stop and another initial or name behind it.
    """
    words = tokens.words
    word = words[at]
    if len(word) != 1 or not word.isupper():
        return 0
    stopped = words[at + 1 : at + 2] == ["."] and not gap(text, tokens, at)
    if tokens.low[at] not in NOT_PARTS:
        return 1 + stopped
    if not stopped or at + 2 >= len(words) or not words[at + 2][0].isupper():
        return 0
    close = not gap(text, tokens, at + 1) or len(words[at + 2]) == 1
    opening = at == 0 or not words[at - 1].islower()
    name = word == "A" and opening and tokens.low[at + 2] not in NOT_PARTS
    inside = at > 0 and words[at - 1][0].isupper() and tokens.low[at - 1] not in NOT_PARTS
    return 2 if close or name or inside else 0


def _behind_nickname(text: str, tokens: Tokens, at: int, run: Candidate) -> int:
    """Position behind 'a "Nickname"' before a surname, which is noted; 0 where there is none."""
    words = tokens.words
    mark = words[at]
    if run.nickname or not (mark in _CLOSED_BY or _gap_before(text, tokens, at) in _SINGLE):
        return 0
    first = at + (mark in _CLOSED_BY)
    last = _closing(text, tokens, at)
    behind = last + (mark in _CLOSED_BY)
    if last <= first or behind >= len(words) or not _is_part(tokens, behind):
        return 0
    if mark in _CLOSED_BY and not joined(text, tokens, behind):
        return 0
    capital = all(words[k][0].isupper() for k in range(first, last))
    if not capital and tokens.low[first] not in _BORN:
        return 0
    if last == first + 1:
        run.nickname = tokens.low[first]
    return behind


def _closing(text: str, tokens: Tokens, at: int) -> int:
    """Position behind the last word of what the mark at or before `at` opens; 0 for none near."""
    words = tokens.words
    if words[at] in _CLOSED_BY:
        ahead = words[at + 1 : at + 2 + _LONGEST_NICKNAME]
        mark = _CLOSED_BY[words[at]]
        return at + 1 + ahead.index(mark) if mark in ahead else 0
    behind = _gap_before(text, tokens, at + 1) if at + 1 < len(words) else ""
    return at + 1 if behind in _SINGLE else 0


def _gap_before(text: str, tokens: Tokens, at: int) -> str:
    """What stands before the token at `at`, without blanks."""
    return gap(text, tokens, at - 1).strip()


def _cut_degree(tokens: Tokens, run: Candidate) -> None:
    """End the name before "M.P." or "Ph.D."."""
    at = run.parts[-1] + 1
    letters = "".join(word for word in tokens.words[at : run.end] if word != ".")
    if len(letters) > 1 and letters.upper() in _STOPPED and len(run.parts) > 1:
        run.named = at
        run.score += 0.0 if letters.upper() in AMBIGUOUS else 1.0
    elif (
        tokens.words[run.parts[-1]] == "Ph"
        and tokens.words[at : at + 3] == [".", "D", "."]
        and len(run.parts) > 1
    ):
        run.parts.pop()
        run.named = at - 1
        run.end = at + 3
        run.score += 1.0


def _behind_letters(text: str, tokens: Tokens, run: Candidate) -> int:
    """Position behind the letters that follow the name, with or without commas: ", Jr." too."""
    words, low, end = tokens.words, tokens.low, run.end
    whole = len(run.parts) > 1 or bool(run.titles)
    while end < len(words):
        comma = words[end] == "," and whole and joined(text, tokens, end)
        at = end + comma
        if at >= len(words) or not joined(text, tokens, at):
            break
        if words[at] in POSTNOMINALS and not (comma and words[at] in AMBIGUOUS - {"MD"}):
            run.score += 0.0 if words[at] in AMBIGUOUS else 1.0
            end = at + 1
        elif comma and low[at] in SUFFIXES and words[at][0].isupper():
            end = at + 1 + (low[at] in _JUNIOR and words[at + 1 : at + 2] == ["."])
        else:
            break
    return end


def leading(tokens: Tokens, run: Candidate) -> str:
    """Initials before the first word of the name; none of a country: "U.S."."""
    letters = "".join(w for w in tokens.low[run.start : run.parts[0]] if w.isalpha())
    return "" if letters in _COUNTRIES else letters
