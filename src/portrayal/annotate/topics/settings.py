"""What a user may choose about topics."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from portrayal.errors import OptionError
from portrayal.validate import check_count, check_seed


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """Settings of the document level.

    Attributes
    ----------
    topic_model
        Folder of a saved topic model to use in place of fitting one.
    topics
        Numbers of topics to try; by default the paper's, or fewer for a small corpus.
    seed
        Start of the fit's random stream.
    threshold
        Standardized residual above which a topic is associated with a group (paper: 3).
    min_share
        Share of a document that a topic needs to count, as a fraction; what gensim reports.
    """

    topic_model: str | None = None
    topics: Sequence[int] = field(default=())
    seed: int = 0
    threshold: float = 3.0
    min_share: float = 0.01

    def __post_init__(self) -> None:
        """Refuse settings that cannot be used."""
        for k in self.topics:
            check_count("topics", k, minimum=2)
        check_seed(self.seed)
        if not self.threshold > 0:
            raise OptionError(f"threshold must be above 0; got {self.threshold!r}.")
        if not 0 <= self.min_share < 1:
            raise OptionError(f"min_share must be a fraction in 0–1; got {self.min_share!r}.")
