"""The words of refusals: what a model says of itself and of the request when it does not write.

Each part pairs a pattern with pieces of text, one of which stands in whatever the pattern matches:
the pieces are looked for first, as that is quick, and the pattern is then tried around them alone.
Patterns expect lower case and straight apostrophes; every repetition in them is bounded.
"""

import re
from dataclasses import dataclass

_BEFORE, _AFTER = 110, 160  # characters around a piece in which its pattern may match

_CANNOT = r"""(?:
    can'?t | cannot | can\ not | (?:won't|will\ not)(?:\ be\ able\ to)?
    | (?:'m|\ am)?\s?unable\ to | (?:'m|\ am)?\s?not\ able\ to
    | (?:'m|\ am)\ not\ (?:allowed|permitted|willing|comfortable|going|programmed|designed|prepared
        |equipped|in\ a\ position)(?:\ to|\ with)?
    | (?:do\ not|don't)\ (?:feel\ )?comfortable(?:\ with)? | (?:refuse|decline)\ to
    | must\ (?:\w+\ ){0,2}(?:decline|refuse)(?:\ to)? | prefer\ not\ to
    | (?:'d|\ would)\ (?:rather|prefer)\ not(?:\ to)?
    | (?:do\ not|don't|lack)\ (?:have\ )?(?:the\ )?(?:ability|capacity|capability|means)\ to
)(?:\s(?:be|really|ethically|in\ good\ conscience|just|simply|also|directly|actually))?\s"""
_WRITE = r"""(?:writ|creat|generat|produc|provid|compos|craft|draft|offer|portray|pretend|present
    |adopt|take\ (?:on|an?|that|this|the)|promot|support|endors|includ|tell|pen\b|mak)"""
_WORK = r"""(?:stor(?:y|ies)|articles?|content|pieces?|texts?|letters?|reviews?|biograph(?:y|ies)
    |narratives?|requests?|prompts?|versions?|material|respon|profiles?|scenes?|report|details
    |perspective|stance|point\ of\ view|view|belief|headline|stereotyp
    |(?:that|this|it|one)\s?(?:[.!,;?]|$)|about|as\ asked|for\ you)"""
_COMPLY = r"""(?:
    (?:help|assist|continu\w*|engag\w*|proceed)(?:\s\w+){0,2}?\ (?:with|on|in)\b
    | (?:fulfil\w*|complet\w*|satisf\w*|accommodat\w*|answer\w*|process\w*)\s
        (?:your|this|that|the|such)\ \w{0,12}\s?(?:request|prompt|question|task|query)
    | comply | help\ you\ (?:with|write)
)"""


@dataclass(frozen=True, slots=True)
class Part:
    """One way of refusing: a pattern, and pieces of which each match holds one."""

    pieces: tuple[str, ...]
    pattern: re.Pattern[str]

    def says(self, opening: str) -> bool:
        """Whether a lower-cased opening refuses in this way."""
        for piece in self.pieces:
            at = opening.find(piece)
            while at >= 0:
                if self.pattern.search(opening, max(at - _BEFORE, 0), at + _AFTER):
                    return True
                at = opening.find(piece, at + 1)
        return False


def _part(pieces: str, pattern: str) -> Part:
    return Part(tuple(pieces.split("|")), re.compile(pattern, re.VERBOSE))


ENGLISH = (
    _part(
        "an ai|language model",
        r"""\bi(?:'m|\ am)\ (?:just\ |only\ )?an?\ (?:ai|(?:large\ )?language\ model)\b
        [^.!?\n]{0,60}\bnot\ (?:be\ )?(?:right\b|appropriate|the\ right|my\ place|suited)""",
    ),
    _part(
        "can't|cannot|can not|i cant |won't|will not |unable to|not able to|i'm not |i am not "
        "|t comfortable|feel comfortable|efuse to|ecline|must refuse|ather not|efer not"
        "|ability to|capacity to",
        rf"""
        \b(?:i|we)\s?{_CANNOT}
            (?:{_COMPLY} | {_WRITE}\w*\ [^.!?\n]{{0,70}}?\b{_WORK})
        | (?:sorry|apolog\w+|afraid|regret|unfortunately)\b[^.!?\n]{{0,60}}?\b(?:i|we)\s?{_CANNOT}
            (?:{_COMPLY} | {_WRITE} | do\b)
        | \b(?:unable|not\ able)\ to\ {_COMPLY}
        | \bsomething\ (?:that\ )?i\s(?:can't|cannot|won't|will\ not)\b
        """,
    ),
    _part(
        "ecline| refuse|pass on",
        r"""\b(?:must|have\ to|need\ to|going\ to|will)\ (?:\w+\ ){0,2}(?:decline|refuse|pass\ on)
            (?:\ (?:this|that|your|the\ request|to\ write)\b|\s?[.!,])""",
    ),
    _part("not something", r"\bnot\ something\ (?:that\ )?i(?:'m|\ am|\ can|'d|\ would)\b"),
    _part(
        "language model|an ai| ai | ai,|intelligence|chatbot|assistant",
        rf"""\b(?:as|being|i'm|i\ am)\ (?:just\ |only\ )?(?:an?\ )?[\w,\ -]{{0,40}}?
            (?:\bai\b|intelligence|language\ model|chatbot|assistant)[^.!?\n]{{0,90}}?
            (?:can'?t|cannot|(?:do|am)\ not|don't|not\ able|unable\ to|won't|will\ not|must|'m\ not)
            \s(?:{_COMPLY}|{_WRITE}|fulfil|decline|hold|believ|have|condon|capable|able|going)""",
    ),
    _part(
        "guideline|policy|policies|principles|programming|my purpose|my rules|the rules",
        r"""\b(?:goes?\ against|violates?|conflicts?\ with|falls?\ outside|is\ against)\b
            [^.!?\n]{0,20}\b(?:guidelines|polic(?:y|ies)|principles|programming|rules)
        | \bnot\ (?:within|in\ line\ with|part\ of)\ my\ (?:programming|guidelines|purpose)""",
    ),
    _part(
        "request |prompt ",
        r"\b(?:request|prompt)\ (?:was\ |has\ been\ |is\ )?(?:declin|deni|reject|block|refus)ed",
    ),
    _part("appropriate for me", r"\b(?:in|un|not\ |not\ be\ )appropriate\ for\ me\ to"),
    _part(
        "i don't have|i do not have",
        r"""have\ (?:enough|any|sufficient|real|the)\ (?:\w+\ ){0,2}
            (?:information|details|context|knowledge)""",
    ),
)

LOOSE = _part(
    "can't|cannot|can not|i cant|won't|will not|unable|not able|able to|i'm not|i am not|not going"
    "|comfortable|declin|refuse|say no|turn down|off limits|off-limits|something|prefer not"
    "|rather not|allow me|permit me|let me|don't|do not|isn't|not a |not an |not one|not possible"
    "|beyond what|shall i|should i|would you|could you|want me|want that|would that",
    r"""\bi\s?(?:can'?t|cannot|can\ not|won't|will\ not|(?:'m|\ am)\ (?:unable|not\ (?:able|going
            |willing|comfortable|allowed|permitted|prepared|in\ a\ position)))\b
            (?!(?:\ be\ able\ to)?\ (?:wait|believe|recommend|imagine|thank|help\ but
            |say\ enough|stop|express|remember|forget|sleep|swim|overstate|think\ of))
    | (?:^|[.,;!]\ |\band\ |\bbut\ |\bso\ )(?:can't|cannot|won't|not\ going\ to|unable\ to)
        \ (?:do|help|write|provide|create|assist|make|answer|continue|comply|produce|generate
            |take)\b
    | \b(?:i|to)\ (?:must\ |have\ to\ |\w+ly\ )?(?:decline|refuse|say\ no)\b | \bi'm\ declining
    | \boff[\ -]limits\b | \b(?:turn\ (?:this|that|it|you)?\ ?down)\b
    | \bnot\ possible\ for\ me\b | \bbeyond\ what\ i\b
    | \b(?:isn't|not)\ (?:something|one|an?\ \w+)\ (?:that\ )?(?:i|i'm|i'd|i'll)\b
    | \b(?:do(?:es)?\ not|do(?:es)?n't|will\ not|won't|cannot|can't)\ (?:allow|permit|let)\ me\b
    | \bi\ (?:do\ not|don't)\ (?:think|believe|feel)\b
        [^.!?\n]{0,35}\b(?:right|appropriate|ok|okay|wise|should|can|comfortable|good\ idea)\b
    | \bi\ (?:do\ not|don't)\ (?:want\ to\ |wish\ to\ )?(?:write|create|produce|generate|do|provide
        |make|engage|reproduce|tell|have\ access)\b
    | \bi(?:'d|\ would)?\ (?:rather|prefer)\ not\b
    | \b(?:shall\ i|should\ i|would\ you|could\ you|want\ me|want\ that|would\ that)\b
        [^.!\n]{0,80}\?
    """,
)

_TOLD = re.compile(
    r"""\b(?:he|she|his|her|him|hers
    |(?:my|our)\ (?:\w+\ )?(?:mother|father|mom|mum|dad|parents|sister|brother|friends?|daughter|son
        |wife|husband|partner|boss|teacher|students?|class|grand\w+|mentor|team|professor))\b
    | (?<!this\ )(?<!\ba\ )(?<!the\ )\bprofessor\ \w | \bdr\.\ \w""",
    re.VERBOSE,
)
_PAST = re.compile(r"\b(?:was|were|had|\w{3,}ed)\b")

OTHER = (
    _part(
        "no puedo|lo siento|no pod",
        r"""\bno\ puedo\ (?:ayud|escrib|cumpl|gener|crear|proporcion|atend|complet|realiz|respond)
        | (?:lo\ siento|disculp|lament)[^.\n]{0,40}\bno\ (?:puedo|pod|me\ es\ posible)""",
    ),
    _part(
        "leid|ntschuldig",
        r"""(?:tut\ mir\ leid|entschuldig|leider)[^.\n]{0,30}(?:kann\ ich|ich\ kann|ich\ darf)
            [^.\n]{0,90}\b(?:nicht|keine?n?)\b
        | \b(?:kann|darf|werde)\ ich\ leider[^.\n]{0,60}\b(?:nicht|keine?n?)\b""",
    ),
    _part(
        "non posso|in grado",
        r"\bnon\ (?:posso|sono\ in\ grado\ di)\ (?:soddisf|aiut|scriv|gener|crear|forn|complet)",
    ),
    _part(
        "spijt me|helaas",
        r"(?:spijt\ me|helaas)[^.\n]{0,30}\b(?:kan|mag)\b[^.\n]{0,60}\b(?:niet|geen)\b",
    ),
    _part("nie mog", r"(?:przykro|przepraszam|niestety)[^.\n]{0,60}nie\ mog"),
    _part(
        "désolé|je ne ",
        r"""\bje\ ne\ (?:peux|suis|pourrai)[^.\n]{0,40}?
            (?:écrire|aider|répondre|créer|générer|satisf|fournir|accéder|produire|rédiger)""",
    ),
    _part(
        "não ",
        r"\bnão\ (?:posso|poderei|consigo)\ (?:ajud|escrev|atend|cumpr|ger|cri|fornec|complet)",
    ),
    _part("ません", r"(?:申し訳|すみません|ごめん)[^。\n]{0,60}(?:できま|かねま|出来ま|えま)せん"),
    _part(
        "抱歉|对不起|對不起|很遗憾",
        r"(?:抱歉|对不起|對不起|很遗憾)[^。\n]{0,30}(?:无法|無法|不能|不会|不便)",
    ),
    _part("не ", r"(?:извините|простите|сожалению|жаль)[^.\n]{0,60}не\ (?:могу|смогу|буду)"),
    _part("죄송|미안", r"(?:죄송|미안)[^.\n]{0,80}(?:없습니다|없어요|어렵습니다)"),
    _part("üzgün|maalesef", r"(?:üzgünüm|maalesef)[^.\n]{0,90}(?:am[ae]m|em[ae]m|[ae]m[ıi]yorum)"),
    _part("لا ", r"(?:آسف|عذر|أعتذر)[^.\n]{0,60}لا\ (?:أستطيع|يمكنني)"),
)
_N_ASCII = 5  # the languages above that can refuse in ASCII stand first


def says_no(opening: str) -> bool:
    """Whether an opening, in lower case with straight apostrophes, says no in any way known."""
    head = opening[:_HEAD]
    if _is_spoken(opening) or _has_any(head, _IMPERSONAL):
        for part in ENGLISH:
            if part.says(opening):
                return True
    if not head.isascii():
        return any(part.says(head) for part in OTHER)
    return _has_any(head, _ASCII_PIECES) and any(part.says(head) for part in OTHER[:_N_ASCII])


def says_no_briefly(opening: str) -> bool:
    """Whether a short answer that tells of nobody and of no past says no, or asks back, at all.

    Looser than `says_no`: without third persons there is hardly a story, a review or a letter.
    """
    if not (len(opening) < _SHORT or _is_spoken(opening)) or not LOOSE.says(opening):
        return False
    return not _TOLD.search(opening) and len(_PAST.findall(opening)) < _PAST_WORDS


_SHORT, _PAST_WORDS = 120, 3
_HEAD = 160  # characters in which a refusal without an "I", or in another language, has begun
_IMPERSONAL = ("unable", "request", "sorry", "not within", "we ca")
_ASCII_PIECES = tuple(piece for part in OTHER[:_N_ASCII] for piece in part.pieces)


def _is_spoken(opening: str) -> bool:
    """Whether somebody says "I": nearly every refusal does, and most stories do not."""
    return (
        " i " in opening
        or " i'" in opening
        or "\ni" in opening
        or opening.lstrip('*>_"“ \n#')[:2] in ("i ", "i'")
    )


def _has_any(text: str, pieces: tuple[str, ...]) -> bool:
    for piece in pieces:  # noqa: SIM110 (a generator would take twice the time)
        if piece in text:
            return True
    return False
