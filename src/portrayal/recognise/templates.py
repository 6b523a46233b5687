"""Templates: requests that are equal once the words of the groups are taken out."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from portrayal.annotate.word_match import any_of
from portrayal.recognise.columns import WORDS, InputColumn, bare, group_lexicon, is_first_name

GAP = "…"
"""What stands for words that are taken out."""
_ARTICLES = re.compile(r"\b(?:an?|the)\b\s*", re.IGNORECASE)
_GAPS = re.compile(rf"[\s{GAP}]+")
# A name in the middle of a sentence: capitalised words after a small letter or a comma
_NAMES = re.compile(r"(?<=[a-z,;:] )[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*")
_YEARS = re.compile(rf"{GAP}[- ]years?[- ]old\b")


class Masker:
    """Takes the words of a row's own groups and name out of its request, and those of the factors.

    Parameters
    ----------
    factors
        Factors whose words are taken out.
    names
        Names in the middle of sentences that are taken out.
    slots
        Group → word that stands for it in requests, where it is no word of a factor.
    columns
        Columns whose values in a row are taken out of its request.
    """

    def __init__(
        self,
        factors: Iterable[str] = (),
        names: frozenset[str] = frozenset(),
        slots: Mapping[str, str] | None = None,
        columns: Iterable[str] = (),
    ) -> None:
        lexicon, self.factors = group_lexicon(), tuple(sorted({*factors}))
        words = {w for w, (factor, _) in lexicon.items() if factor in self.factors and len(w) > 1}
        self._words = re.compile(rf"\b{any_of(words | WORDS['pronouns'])}\b", re.IGNORECASE)
        self.names, self.slots = names, dict(slots or {})
        self.columns = tuple(dict.fromkeys(columns))
        # How each template is shown: as its first request is, so that all of one have one name
        self._shown: dict[str, str] = {}
        self._cache: dict[tuple[str, tuple[str, ...]], tuple[str, str]] = {}

    def __call__(self, prompt: str, values: Sequence[str] = ()) -> tuple[str, str]:
        """Return the key of a request, and how its template is shown.

        Parameters
        ----------
        prompt
            The request.
        values
            Values of the row in `columns`, which stand in it.

        >>> mask = Masker(("gender",))
        >>> mask("Describe a deaf baker and her shop.", ["deaf"])
        ('describe baker and shop.', 'Describe a … baker and … shop.')
        >>> mask("Describe a baker and the shop.")[0]
        'describe baker and shop.'
        """
        cached = (prompt, (*values,))
        if cached not in self._cache:
            self._cache[cached] = self._masked(prompt, values)
        return self._cache[cached]

    def _masked(self, prompt: str, values: Sequence[str]) -> tuple[str, str]:
        spellings = {form for value in values if value for form in (value, bare(value))}
        spellings |= {value.replace("_", " ") for value in spellings}
        spellings |= {self.slots[value] for value in values if value in self.slots}
        masked = prompt
        for spelling in sorted(spellings, key=lambda words: (-len(words), words)):
            masked = re.sub(rf"(?<!\w){re.escape(spelling)}(?!\w)", GAP, masked, flags=re.I)
        masked = self._words.sub(GAP, masked)
        if self.names:
            masked = _NAMES.sub(lambda m: GAP if m[0] in self.names else m[0], masked)
        masked = " ".join(_YEARS.sub(GAP, masked).split())
        # Without articles, as "a deaf baker" and its control "a baker" are one template
        key = _GAPS.sub(" ", _ARTICLES.sub("", masked)).strip().casefold()
        key = re.sub(r" (?=[.,;:!?])", "", key)
        return key, self._shown.setdefault(key, re.sub(rf"{GAP}(?:[ ,-]*{GAP})+", GAP, masked))


def names_of_groups(prompts: Sequence[str], groups: Sequence[InputColumn]) -> frozenset[str]:
    """Return names in the middle of requests that go with one group.

    A name that stands in requests of every group is what they are about ("on Ann Lee").
    """
    rows_of: dict[str, list[int]] = defaultdict(list)
    for i, prompt in enumerate(prompts):
        for match in _NAMES.finditer(prompt):
            if is_first_name(match[0].split()[0]):
                rows_of[match[0]].append(i)
    return frozenset(
        name
        for name, rows in rows_of.items()
        if any(len({group.cells[i] for i in rows}) == 1 for group in groups)
    )


def slot_words(keys: Sequence[str], groups: Sequence[str]) -> dict[str, str]:
    """Return the word that stands for each group in one place of requests, where words go with it.

    Parameters
    ----------
    keys, groups
        Key of each row's request, and its group.

    >>> slot_words(["describe lumi cook.", "describe orra cook."], ["1", "2"])
    {'1': 'lumi', '2': 'orra'}
    """
    # Request with one word open → group → the words that stand there
    patterns: dict[tuple[str, ...], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for key, group in dict.fromkeys(zip(keys, groups, strict=True)):
        words = re.findall(r"[\w'’-]+|[^\w\s]", key)
        for i, word in enumerate(words if len(words) < 60 else ()):
            if group and word.isalnum():
                patterns[*words[:i], GAP, *words[i + 1 :]][group].add(word)
    votes: Counter[tuple[str, str]] = Counter()
    for by_group in patterns.values():
        single = {group: min(words) for group, words in by_group.items() if len(words) == 1}
        if len(single) == len(by_group) > 1 and len({*single.values()}) == len(single):
            votes.update(single.items())
    slots: dict[str, str] = {}
    for (group, word), _ in votes.most_common():
        if group not in slots and word not in slots.values():
            slots[group] = word
    return slots if sum(votes[pair] for pair in slots.items()) > 0.8 * votes.total() else {}
