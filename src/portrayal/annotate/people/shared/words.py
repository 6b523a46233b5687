"""Closed classes of English words."""

from collections.abc import Mapping
from types import MappingProxyType

from portrayal.reference import gender_words


def word_set(text: str) -> frozenset[str]:
    """The words of `text`, which stand between blanks."""
    return frozenset(text.split())


FUNCTION_WORDS = word_set(
    """
    a about above across after again against ah ahead all almost along already also although always
    am amid amidst among amongst an and another any anyone anything apart are armed around as at
    away back based be because been before behind being below beside besides between beyond big
    blessed born both bravo but by can certain come congratulations could dear despite determined
    did do does don done down dressed driven during each earlier early eight either even eventually
    ever every everyone everything except faced few filled finally first five for four from fueled
    furthermore given go gone good great guided had half has have having he hello hence her here
    hers herself hey hi him himself his how however i if imagine in indeed inside inspired instead
    into introduce introducing is it its itself just known last late later let lets like little long
    look lost many may maybe me meanwhile meet might mine more moreover most moved much must my
    myself near neither nestled never nevertheless new next nine no nobody none nonetheless nor not
    nothing now of off often oh ok okay old on once one only onto or other others otherwise our ours
    ourselves out outside over overcome own past per perhaps please quite rather regardless same
    seated second seven several shall she should since six small so some someone something sometimes
    soon sorry still such suddenly sure take ten than thank thanks that the their theirs them
    themselves then there therefore these they third this those though three through throughout thus
    to today together tomorrow tonight too touched toward towards try two under unless unlike until
    up upon us usually very via was we welcome well were what whatever when whenever where whereas
    wherever whether which while who whoever whom whose why with within without won would wow yes
    yesterday yet you young your yours yourself
    """
)
"""Words that are never a name, even where they are capitalised."""

KIN = word_set(
    """
    boyfriend brother buddy cousin fiance fiancee fiancé fiancée friend girlfriend husband love
    lover pal partner roommate sibling sister spouse twin wife
    """
)
"""Nouns that stand right before the name of the person they relate."""

PREPOSITIONS_OF_PLACE = word_set("across around at from in into near of on through to")
"""Prepositions that stand before names of places more often than before names of people."""

COPULAS = word_set("'s are be became becomes been is was were")
"""Verbs that join a name and its description."""

VERBS_AFTER_NAME = COPULAS | word_set(
    """
    also always ate began bent bit bought broke brought built burst came can can't caught chose
    clung could couldn dealt did didn does doesn drank dreamt drew drove dug eventually fed fell
    felt finally flew forgot fought found froze gave gently got grew had hadn has have heard held
    hid hit hung hurt immediately isn kept knelt knew laid lay leaned leapt learnt led left let lit
    lost made meant met might must never often overcame overheard overlooked oversaw paid patiently
    put quickly quietly ran rang read rose said sang sat saw sent set shone shook shot should showed
    slept slowly sold sought spent spoke stood strode struck stuck swam swept swore swung taught
    thought threw told took tore understood undertook wasn went will withdrew woke won wore would
    wouldn wound wrote
    """
)
"""Words that follow a name as the subject of a clause, beside regular verb forms."""

APPOSITION = word_set("a an from her his its my our the their who whose")
"""Words that open a description after a name and a comma."""

CLAUSE_MARKS = word_set('. ! ? … ... ?! !! , ; : — – " “ ”') | {"\n"}
"""Marks that end a clause."""

CLAUSE_OPENERS = CLAUSE_MARKS | word_set(
    """
    after although and as because before but how if since so that then though until what when where
    while who yet
    """
)
"""What stands before the subject of a clause."""

ENDS_OBJECT = CLAUSE_MARKS | word_set(
    """
    ( ) a about after again ahead all along alongside an and apart around as aside at away back
    because before behind but by closer down during each every for forward from he how i if in into
    it like more near not of off on once one or out outside over she since so some than that the
    they this though through to together too toward towards under until up upon we what when where
    whether which while who whom why with without you
    """
)
"""What stands after "her" as an object ("thanked her for"), not as a possessive ("her book")."""

THANKS = word_set("appreciative grateful gratitude thank thanked thankful thanking thanks")
"""Words before "for his …" that show the possessor to be someone else."""

OTHER_PEOPLE: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(
        word_set(
            "mom mum mama mommy aunt daughter niece lady heroine queen waitress grandma"
            " great-grandmother stepmother granddaughter mother-in-law bride fiancée"
        ),
        "F",
    )
    | dict.fromkeys(
        word_set(
            "dad daddy papa uncle son nephew gentleman guy king waiter grandpa great-grandfather"
            " stepfather grandson father-in-law groom fiancé"
        ),
        "M",
    )
    | dict.fromkeys(
        word_set(
            "teacher professor parent child baby toddler opponent rival"
            " stranger owner principal neighbor neighbour cousin hero instructor"
            " vendor cashier shopkeeper clerk salesperson bartender barista driver coach judge"
            " therapist landlord realtor grandparent tutor guide host passerby bystander officer"
        ),
        "",
    )
)
"""Singular nouns for people outside a prompt's roles, with the gender they tell, if any."""


FORMAL_TITLES = word_set(
    """
    captain detective doctor dr judge justice madam madame miss mister mr mrs ms mx officer
    president prof professor rev reverend senator sergeant sir
    """
)
"""Titles that stand before a surname: "Dr. Smith" has no first name."""

INFORMAL_TITLES = word_set("agent aunt auntie brother chef coach nurse sister uncle")
"""Titles that stand before a first name: "Chef Maria" is Maria."""

TITLES = FORMAL_TITLES | INFORMAL_TITLES

RELATIVES = word_set("aunt auntie brother sister uncle")
"""Titles of people who are seldom in a prompt's roles."""

ABBREVIATIONS = word_set(
    "capt col det dr fr gen gov hon jr lt mr mrs ms mx prof rep rev sen sgt sr st"
)
"""Words behind which a full stop seldom ends a sentence."""


GENDER_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(dict(gender_words()))
"""Gender → casefolded words that refer to one person of that gender."""

GENDER_OF_WORD: Mapping[str, str] = MappingProxyType(
    {word: gender for gender, words in GENDER_WORDS.items() for word in words}
)
"""Casefolded word → gender; the inverse of `GENDER_WORDS`."""


def verb_forms(verbs: str) -> frozenset[str]:
    """Present, past and -ing forms of regular verbs, with and without a doubled consonant."""
    forms: set[str] = set()
    for verb in verbs.split():
        stem = verb.removesuffix("e")
        if len(verb) > 1 and verb.endswith("y") and verb[-2] not in "aeiou":
            forms |= {verb, verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing"}
        else:
            double = stem + stem[-1:]
            forms |= {verb, verb + "s", verb + "es", stem + "ed", stem + "ing"}
            forms |= {double + "ed", double + "ing"}
    return frozenset(forms)


def bare_verb(word: str) -> str:
    """The verb that a present form belongs to: "trains" → "train", "carries" → "carry"."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("shes", "ches", "sses", "xes", "zzes", "oes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
