"""Words as the topic model sees them: lower-cased lemmas, stop words kept."""

import re
from functools import cache

from portrayal.errors import MissingExtraError

LEMMATISER = "lemminflect"
"""What turns a form into its lemma; its version is kept with every model."""

_TOKEN = re.compile(r"[^\W_]+|['’](?:s|t|re|ve|ll|d|m)(?![^\W_])")
_INFLECTED = ("ing", "ed", "s")
_PARTS_OF_SPEECH = ("VERB", "AUX", "NOUN", "ADJ", "ADV")


class Lemmas(dict[str, str]):
    """Lemma of every form looked up so far; a form is looked up once.

    Raises
    ------
    MissingExtraError
        When lemminflect is not installed.
    """

    def __init__(self) -> None:
        super().__init__()
        try:
            from lemminflect import getAllLemmas
        except ImportError as error:
            raise MissingExtraError(
                f"topics need {LEMMATISER}, which is not installed. "
                'Install it with: pip install "portrayal[news]"'
            ) from error
        self._look_up = getAllLemmas

    def __missing__(self, form: str) -> str:
        lemma = self[form] = _choose(form, self._look_up(form))
        return lemma

    def of(self, text: str) -> list[str]:
        """Return the lemmas of a text, in order; marks and signs are left out."""
        return list(map(self.__getitem__, forms(text)))


def forms(text: str) -> list[str]:
    """Return the lower-cased forms of a text; "China's" gives "china" and "'s"."""
    return _TOKEN.findall(text.lower().replace("’", "'"))


@cache
def lemmas() -> Lemmas:
    """Return this process's lemmas."""
    return Lemmas()


def _choose(form: str, found: dict[str, tuple[str, ...]]) -> str:
    """Return one lemma without a tagger: a base form stays, an inflected one follows its verb.

    "number" stays though "numb" has it as its comparative; "running" follows "run" though it is a
    noun too; clitics stay, as "'s" is both "is" and a genitive.
    """
    options = [found[part][0] for part in _PARTS_OF_SPEECH if part in found]
    if not options or form.startswith("'") or not form.isalpha():
        return form
    if form in options and not form.endswith(_INFLECTED):
        return form
    return options[0]
