"""Train the agency classifiers that ship.

    python scripts/train_agency.py LAC_FOLDER [--taught FILE] [--out FILE] [--compare]
    python scripts/train_agency.py LAC_FOLDER --untaught
    python scripts/train_agency.py LAC_FOLDER --transformer ENCODER

LAC_FOLDER holds train.csv of elainew728/labe-agency (MIT). FILE is what `scripts/teach_agency.py`
wrote: sentences without labels, and what a transformer says of them.

--transformer fine-tunes the third and fourth layer of ENCODER, a folder of all-MiniLM-L6-v2
(Apache-2.0), over the reader's embeddings of words, and writes it in 8 bits with its digest.
Batches hold paraphrases of one source, which are found over train.csv and validation.csv; no label
of the latter is read.

--compare prints cross-validations of the settings that were tried; without it one setting is
trained. They keep paraphrases of one source in one fold, and leave out the teacher's sentences that
were made of those held out. But the teacher has seen all training sentences, so they choose and
measure nothing: how right the classifier is, `scripts/cross_agency.py` measures.

The same files give the same arrays: run with OMP_NUM_THREADS=1, as sums in other orders round
otherwise.
"""

import argparse
import gzip
import hashlib
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from lac_families import families
from numpy.typing import NDArray

from portrayal.annotate.agency import mask
from portrayal.annotate.agency.labelled import LabelledSentences, read_labelled
from portrayal.annotate.agency.linear import (
    WordScores,
    fit_linear,
    linear_classifier,
    write_linear,
)
from portrayal.annotate.agency.loading import CARD, ENCODER, WEIGHTS
from portrayal.annotate.people.reader import network, reading

NAME, UNTAUGHT = "linear-lac.v1", "linear-lac-untaught.v2"
OUT = Path(__file__).parents[1] / "src/portrayal/annotate/agency/linear.npz"
KINDS = ("masked", "plain")
FOLDS = 3

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Recipe:
    """How the teacher's sentences are used.

    Attributes
    ----------
    weight
        Of each of the teacher's sentences, where a labelled one has 1.
    strength
        C, the inverse of the L2 penalty.
    contrast
        See `fit_linear`.
    """

    weight: float
    strength: float
    contrast: float = 0.5


CHOSEN, ALONE = Recipe(0.2, 10.0, 0.0), Recipe(0.0, 3.0)
COMPARED = (CHOSEN, *(Recipe(0.1 * 2**k, 3.0, c) for k in range(3) for c in (0.0, 0.5)))


@dataclass(frozen=True, eq=False)
class Material:
    """Labelled sentences first, then the teacher's.

    Attributes
    ----------
    texts
        The labelled sentences; `free`, the teacher's.
    targets
        Labels, then probabilities of agentic, shape (n,).
    sources
        Labelled rows that each of the teacher's sentences was made of.
    family
        Of the labelled sentences: paraphrases of one source share a number.
    """

    texts: Sequence[str]
    free: Sequence[str]
    targets: FloatArray
    sources: tuple[tuple[int, ...], ...]
    family: IntArray


def material(
    labelled: LabelledSentences, taught: Sequence[Mapping[str, Any]], kind: str, family: IntArray
) -> Material:
    """Return what one set of scores is trained on."""
    texts = [mask(each) if kind == "masked" else each for each in labelled.sentences]
    said = [row[kind]["agentic"] for row in taught]
    return Material(
        texts,
        [row[kind]["text"] for row in taught],
        np.array([*labelled.labels.tolist(), *said], dtype=np.float64),
        tuple(tuple(row["source"]) for row in taught),
        family,
    )


def fitted(given: Material, rows: IntArray, recipe: Recipe) -> WordScores:
    """Return the scores of a recipe, trained on some of the labelled sentences."""
    known = set(rows.tolist())
    free = [row for row, made in enumerate(given.sources) if known.issuperset(made)]
    drawn = np.array(free if recipe.weight else [], dtype=np.int64)
    every = np.concatenate([rows, len(given.texts) + drawn])
    sentences = [*given.texts, *given.free]
    return fit_linear(
        [sentences[row] for row in every.tolist()],
        given.targets[every].tolist(),
        name=NAME if recipe.weight else UNTAUGHT,
        weights=[1.0] * len(rows) + [recipe.weight] * len(drawn),
        strength=recipe.strength,
        contrast=recipe.contrast,
    )


def cross_validate(given: Material, rows: IntArray, recipe: Recipe) -> float:
    """Return the accuracy over folds of the families of these labelled sentences, in 0–1."""
    rng = np.random.default_rng(0)
    fold = rng.integers(0, FOLDS, given.family.max() + 1)[given.family[rows]]
    right = 0
    for number in range(FOLDS):
        held = rows[fold == number]
        classify = linear_classifier(fitted(given, rows[fold != number], recipe))
        agentic = classify([given.texts[row] for row in held])[:, 1] > 0.5
        right += int(np.sum(agentic == given.targets[held]))
    return right / len(rows)


LAYERS, FROZEN = 4, 2
"""Layers of the encoder that are kept, and those of them that stay as they are."""
EPOCHS, BATCH, RATE, HEAD_RATE, DECAY = 4, 16, 2e-4, 1e-3, 0.9
SMOOTHING, PAIRS, AVERAGED = 0.05, 0.5, 0.35
"""Label smoothing; weight of the loss on pairs of paraphrases; part of the steps whose weights are
averaged, every fifth of them (Izmailov et al. 2018)."""
MOST_TOKENS, MOST_PLACES = 64, 128
"""Tokens of a sentence that are trained on, and those that are read, at most."""


def batches(family: IntArray, lengths: IntArray, rng: np.random.Generator) -> list[list[int]]:
    """Part sentences into batches of alike length, paraphrases of one source side by side."""
    members: dict[int, list[int]] = {}
    for row in rng.permutation(len(family)).tolist():
        members.setdefault(int(family[row]), []).append(row)
    units = []
    for alike in members.values():
        alike.sort(key=lambda row: int(lengths[row]))
        units += [alike[at : at + 4] for at in range(0, len(alike), 4)]
    found: list[list[int]] = []
    order = rng.permutation(len(units))
    for at in range(0, len(order), 6 * BATCH):
        pool = [units[unit] for unit in order[at : at + 6 * BATCH]]
        batch: list[int] = []
        for unit in sorted(pool, key=lambda unit: max(int(lengths[row]) for row in unit)):
            batch = [*batch, *unit]
            if len(batch) >= BATCH:
                found.append(batch)
                batch = []
        found += [batch] if batch else []
    rng.shuffle(found)
    return found


def reader_words() -> network.Embeddings:
    """Return the embeddings of words of the reader that ships."""
    with np.load(reading.WEIGHTS / network.WORDS, allow_pickle=False) as raw:
        return network.Embeddings(raw["table"], np.float32(raw["scale"]), np.float32(raw["zero"]))


def new_transformer(base: str, seed: int) -> Any:
    """Return the lower layers of an encoder with a new head: embeddings of words to a logit."""
    import torch
    from torch import nn
    from transformers import AutoModel

    class Classifier(nn.Module):
        """The mean of the last states, without a mask of one text, decides."""

        def __init__(self) -> None:
            super().__init__()
            whole = AutoModel.from_pretrained(base, attn_implementation="eager")
            own = whole.embeddings
            places = own.position_embeddings.weight[:MOST_PLACES]
            self.places = nn.Parameter(places + own.token_type_embeddings.weight[0])
            self.norm = own.LayerNorm
            self.layers = nn.ModuleList(whole.encoder.layer[:LAYERS])
            torch.manual_seed(seed)
            self.drop, self.head = nn.Dropout(0.1), nn.Linear(places.shape[1], 1)
            nn.init.normal_(self.head.weight, 0.0, 0.02)
            nn.init.zeros_(self.head.bias)

        def forward(self, words: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
            """Logits of agentic, shape (n_texts, n_tokens, width) -> (n_texts,)."""
            states = self.norm(words + self.places[: words.shape[1]])
            hidden = None if mask is None else (mask[:, None, None] - 1.0) * 1e9
            for layer in self.layers:
                made = layer(states, hidden)
                states = made[0] if isinstance(made, tuple) else made
            if mask is None:
                return self.head(states.mean(1))[:, 0]
            mean = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
            return self.head(self.drop(mean))[:, 0]

    return Classifier()


def loss_of(logits: Any, labels: NDArray[np.int64], family: IntArray) -> Any:
    """Cross-entropy with smoothed labels, and that of which of two paraphrases is agentic."""
    import torch
    from torch.nn import functional

    wanted, source = torch.tensor(labels).float(), torch.tensor(family)
    soft = wanted * (1.0 - SMOOTHING) + SMOOTHING / 2.0
    loss = functional.binary_cross_entropy_with_logits(logits, soft)
    pairs = (source[:, None] == source) & (wanted[:, None] > wanted)
    if pairs.any():
        apart = (logits[:, None] - logits)[pairs]
        loss = loss + PAIRS * functional.softplus(-apart).mean()
    return loss


def train_transformer(
    labelled: LabelledSentences, family: IntArray, base: str, seed: int = 0
) -> Any:
    """Return a transformer whose upper layers are fine-tuned on both kinds of each sentence."""
    import torch
    from torch import nn
    from transformers import AutoTokenizer

    words = reader_words()
    table = torch.tensor(words.of(range(len(words.table))))
    model, tokenizer = new_transformer(base, seed), AutoTokenizer.from_pretrained(base)
    kinds = ([mask(each) for each in labelled.sentences], list(labelled.sentences))
    ids = [tokenizer(t, truncation=True, max_length=MOST_TOKENS)["input_ids"] for t in kinds]
    lengths = np.array([max(map(len, both)) for both in zip(*ids, strict=True)])
    for weights in (model.places, *model.norm.parameters(), *model.layers[:FROZEN].parameters()):
        weights.requires_grad_(False)
    groups: list[dict[str, Any]] = [
        {"params": layer.parameters(), "lr": RATE * DECAY**below, "weight_decay": 0.01}
        for below, layer in enumerate(reversed(model.layers[FROZEN:]))
    ]
    groups.append({"params": model.head.parameters(), "lr": HEAD_RATE, "weight_decay": 0.0})
    optimiser = torch.optim.AdamW(groups)
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    plan = [batch for _ in range(EPOCHS) for batch in batches(family, lengths, rng)]
    steps, an_epoch = len(plan), len(plan) // EPOCHS
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda at: min((at + 1) / (steps * 0.1), (steps - at) / (steps * 0.9))
    )
    begins_plain = rng.random(len(labelled)) < 0.5
    mean: dict[str, Any] = {}
    n_averaged = 0
    for step, batch in enumerate(plan):
        model.train()
        model.layers[:FROZEN].eval()
        plain = begins_plain[batch] ^ (step // an_epoch % 2 == 1)
        read = [torch.tensor(ids[int(k)][row]) for k, row in zip(plain, batch, strict=True)]
        padded = nn.utils.rnn.pad_sequence([table[each] for each in read], batch_first=True)
        shown = nn.utils.rnn.pad_sequence([torch.ones(len(each)) for each in read], True)
        loss = loss_of(model(padded, shown), labelled.labels[batch], family[batch])
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if step >= steps * (1.0 - AVERAGED) and step % 5 == 0:
            n_averaged += 1
            now = {name: weights.clone() for name, weights in model.state_dict().items()}
            mean = {n: mean.get(n, w) + (w - mean.get(n, w)) / n_averaged for n, w in now.items()}
        if step % 50 == 0:
            print(f"step {step} of {steps}: {loss.item():.3f}", flush=True)
    model.load_state_dict(mean)
    return model.eval()


def export_transformer(model: Any, out: Path) -> None:
    """Write encoder and card; 7 of 8 bits of a weight are used, which compresses better."""
    import torch

    sys.path.append(str(Path(__file__).with_name("reader")))
    from onnx_export import write_onnx

    table = reader_words().table
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "encoder.onnx"
        write_onnx(model, {"words": torch.zeros(2, 9, table.shape[1])}, "logit", path, bits=7)
        content = gzip.compress(path.read_bytes(), 9, mtime=0)
    (out / ENCODER).write_bytes(content)
    card = {"sha256": hashlib.sha256(content + table.tobytes()).hexdigest()}
    (out / CARD).write_text(json.dumps(card) + "\n", encoding="utf-8")
    print(f"{ENCODER}: {len(content) / 1e6:.2f} MB")


def main() -> None:
    """Train both sets of scores and write the file, or print what the settings give."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lac", type=Path)
    parser.add_argument("--taught", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--compare", action="store_true", help="print settings, train nothing")
    parser.add_argument("--untaught", action="store_true", help="train on LAC alone")
    parser.add_argument("--transformer", help="folder of an encoder to fine-tune")
    asked = parser.parse_args()
    labelled = read_labelled(asked.lac / "train.csv")
    if asked.transformer:
        more = read_labelled(asked.lac / "validation.csv").sentences
        family = families([*labelled.sentences, *more])[: len(labelled)]
        export_transformer(train_transformer(labelled, family, asked.transformer), WEIGHTS)
        return
    lines = asked.taught.read_text(encoding="utf-8").splitlines() if asked.taught else []
    family = families(labelled.sentences)
    taught = [json.loads(line) for line in lines]
    given = {kind: material(labelled, taught, kind, family) for kind in KINDS}
    rows = np.arange(len(labelled))
    if asked.compare:
        for recipe in COMPARED:
            print(f"{recipe}: {cross_validate(given['masked'], rows, recipe):.4f}", flush=True)
        return
    out = OUT.with_name("untaught.npz") if asked.untaught and asked.out == OUT else asked.out
    recipe = ALONE if asked.untaught else CHOSEN
    write_linear(out, *(fitted(given[kind], rows, recipe) for kind in KINDS))
    print(f"{out.name}: {out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
