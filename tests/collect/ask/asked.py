"""Ask a provider that a test made, in the words of the tests."""

from typing import Any

from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.collection import CollectReport
from portrayal.collect.ask.loop import collect
from portrayal.collect.ask.provider import Provider
from portrayal.run import Run


def collect_texts(
    run: Run, prompts: Any, provider: Provider, samples: int = 1, **options: Any
) -> CollectReport:
    """Ask `provider` every prompt; `options` are of `Asking`."""
    own = {name: options.pop(name) for name in ("shard_rows", "study") if name in options}
    asking = Asking(provider.name, samples, provider=provider, **options)
    return collect(run, prompts, asking, **own)
