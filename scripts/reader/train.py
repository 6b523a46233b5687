"""Train the reader, read prompts left out with it, or export it.

    python scripts/reader/train.py ENCODER --labelled STORIES.jsonl [...] --marked stories/*.txt
        --out FOLDER [--fold K] [--epochs N] [--labelled-per-epoch N] [--marked-per-epoch N]
        [--coreference FOLDER [--held-out N]] [--start FOLDER] [--seed N] [--mean-with FOLDER]

ENCODER is a folder of a transformers encoder of the BERT family with safetensors weights, such as
MiniLM. FOLDER becomes a reader, in ONNX of 8 bits a weight, beside `model.safetensors`, from which
`--start FOLDER` goes on, keeping the embeddings of words (without that file, from the 8-bit weights
of a reader that ships). `--coreference FOLDER` also learns whom pronouns of any text mean
(`coreference.py`), from all but GAP's validation part and one of N books and pairs of occupations.
`--mean-with FOLDER` takes the mean of the weights of both in the end (Wortsman et al. 2022, Model
soups). With `--fold K` one prompt of five is left out and read at the end, into
FOLDER/left_out.npz: what `fit_joining.py` learns the pool from, and what the reader is measured on.
Needs `portrayal[agency,onnx]`.
"""

import argparse
import json
import random
import re
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import coreference
import numpy as np
import onnxscript  # noqa: F401  what is missing for the export ends it here, not after hours
import torch
from coreference import Passage
from examples import (
    NOBODY,
    OBJECT,
    SUBJECT,
    UNKNOWN,
    Example,
    fold_of,
    labelled,
    marked,
    vary,
)
from onnx_export import write_onnx
from safetensors.torch import load_model, save_model
from torch import nn
from torch.nn.functional import cross_entropy, gelu, one_hot
from transformers import AutoModel, AutoTokenizer

from portrayal.annotate.people.reader.network import (
    CARD,
    ENCODER,
    GENDERS,
    HEADS,
    PLACEHOLDERS,
    PRONOUNS,
    TOKENIZER,
    WORDS,
    Embeddings,
    HiddenStory,
    Vocabulary,
    digest_of,
    files_of,
    hide,
    vocabulary_of,
)
from portrayal.annotate.people.reader.referents import (
    BEHIND,
    DISTANCES,
    MarkedText,
    mark,
    places,
)

LEFT_OUT, MODEL = "left_out.npz", "model.safetensors"
BATCH, RATE, HEAD_RATE = 16, 1e-4, 1e-3
LATER_RATE, LATER_HEAD_RATE = 7e-5, 3e-4
"""Rates of the encoder, and of the heads that are not new, where training goes on."""

CHARACTERS, LONGEST_PASSAGE = 7_200, 317
"""Characters of a batch of passages, and tokens of a passage."""

LATE = 0.3
"""Weight of stories that name the object first: models do so in one story of ten, the marked
stories in half, so that there are enough to learn from."""

SMOOTHED = ("intermediate.dense", "output.dense")
SMOOTHING, SMOOTHED_BY = 0.8, 200
"""How much of an activation's range goes into the weights, and the stories that show the range."""

_IGNORED, _HIDDEN_SCORE = -100, -1e4


class Referents(nn.Module):
    """Whom a pronoun means, as `Network.referents` computes it."""

    def __init__(self, h: int, k: int = 192) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(h, k), nn.Linear(h, k, bias=False)
        self.p, self.q = nn.Linear(h, k), nn.Linear(h, k)
        self.c = nn.Linear(k, k, bias=False)
        self.d, self.r = nn.Embedding(2 * (len(DISTANCES) + 1), k), nn.Embedding(BEHIND + 1, k)
        self.u = nn.Linear(k, 1)
        self.none = nn.Sequential(nn.Linear(h, k), nn.GELU(), nn.Linear(k, 1))
        self.drop = nn.Dropout(0.1)

    def forward(self, states: torch.Tensor, text: MarkedText) -> torch.Tensor:
        """Return scores of the mentions and of none of them, shape (n_pronouns, n_mentions + 1)."""
        spoken = self.drop(states[torch.tensor(text.pronouns) + 2])
        named = self.drop(states[torch.tensor(text.mentions) + 2])
        bands, ranks = map(torch.tensor, places(text.pronouns, text.mentions))
        both = self.p(spoken)[:, None] * self.q(named)
        inner = (
            self.a(spoken)[:, None] + self.b(named) + self.c(both) + self.d(bands) + self.r(ranks)
        )
        return torch.cat([self.u(gelu(inner)).squeeze(-1), self.none(spoken)], 1)


class Reader(nn.Module):
    """Encoder and heads, as `portrayal.annotate.people.reader.network` computes them."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self.encoder = AutoModel.from_pretrained(folder, attn_implementation="eager")
        h = self.encoder.config.hidden_size
        self.role = nn.Sequential(nn.Linear(2 * h, h), nn.GELU(), nn.Linear(h, 2))
        self.null = nn.Linear(h, 2)
        self.pk, self.pq, self.pn = nn.Linear(h, 128), nn.Linear(h, 128), nn.Linear(h, 1)
        self.gen = nn.Sequential(
            nn.Linear(2 * h + len(PRONOUNS), h), nn.GELU(), nn.Dropout(0.1), nn.Linear(h, 4)
        )
        self.slot = nn.Linear(h, 2 * h)
        self.ref = Referents(h)

    def forward(self, batch: dict) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return scores of roles (n, 2, k + 1), genders (n, k + 2, 4), referents (n, l, k + 3)."""
        states = self.encoder(
            input_ids=batch["ids"], attention_mask=batch["mask"], token_type_ids=batch["kinds"]
        ).last_hidden_state
        return self.judge(states, batch)

    def judge(
        self, states: torch.Tensor, batch: dict
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return what `forward` does, of states (n, l, width) of the tokens of a batch."""
        n, _, h = states.shape
        k, candidate, pronoun = batch["k"], batch["candidate"], batch["pronoun"]
        first = states[:, 0]
        on = one_hot(candidate.clamp(min=0), k).float() * (candidate >= 0).unsqueeze(-1)
        people = torch.einsum("blk,blh->bkh", on, states) / on.sum(1).clamp(min=1).unsqueeze(-1)
        there = on.sum(1) > 0
        around = first.unsqueeze(1)
        role = self.role(torch.cat([people, around.expand_as(people)], -1))
        role = role.masked_fill(~there.unsqueeze(-1), _HIDDEN_SCORE)
        role = torch.cat([role, self.null(first).unsqueeze(1)], 1).transpose(1, 2)
        who = torch.cat([people, self.slot(first).view(n, 2, h)], 1)
        meant = torch.einsum("bld,bkd->blk", self.pk(states), self.pq(who)) / 128**0.5
        open_ = torch.cat([there, torch.ones(n, 2, dtype=torch.bool)], 1).unsqueeze(1)
        meant = torch.cat([meant.masked_fill(~open_, _HIDDEN_SCORE), self.pn(states)], -1)
        told = one_hot(pronoun.clamp(min=0), 3).float() * (pronoun >= 0).unsqueeze(-1)
        evidence = torch.einsum("blg,blk->bkg", told, meant.softmax(-1)[..., :-1]).log1p()
        genders = self.gen(torch.cat([who, around.expand(n, k + 2, h), evidence], -1))
        return role, genders, meant


def collate(stories: list[HiddenStory]) -> dict:
    """Return stories as tensors, padded."""
    longest = max(len(each.ids) for each in stories)

    def padded(lists: list[list[int]], fill: int) -> torch.Tensor:
        return torch.tensor([each + [fill] * (longest - len(each)) for each in lists])

    kinds = [[0] * each.second + [1] * (len(each.ids) - each.second) for each in stories]
    return {
        "ids": padded([each.ids for each in stories], 0),
        "mask": padded([[1] * len(each.ids) for each in stories], 0),
        "kinds": padded(kinds, 0),
        "candidate": padded([each.candidate for each in stories], -1),
        "pronoun": padded([each.pronoun for each in stories], -1),
        "k": max(1, *(each.n_candidates for each in stories)),
    }


def targets(
    example: Example, story: HiddenStory, k: int
) -> tuple[list[int], dict[int, int], list[int]]:
    """Return the classes of roles (2,), of genders by row, and of the referent of each token."""
    roles, genders = [_IGNORED, _IGNORED], {}
    rows = [k, k + 1]
    for slot, (who, gender) in enumerate(zip(example.who, example.genders, strict=True)):
        if who == NOBODY:
            roles[slot] = k
        elif 0 <= who < story.n_candidates:
            roles[slot] = rows[slot] = who
        else:
            continue
        genders[rows[slot]] = GENDERS.index(gender)
    return roles, genders, _referent_targets(example, story, rows, genders, k)


def _referent_targets(
    example: Example, story: HiddenStory, rows: list[int], genders: dict[int, int], k: int
) -> list[int]:
    """Labelled referents, or those that two different genders leave no doubt about."""
    classes = [_IGNORED] * len(story.ids)
    of = {SUBJECT: rows[0], OBJECT: rows[1], NOBODY: k + 2, UNKNOWN: _IGNORED}
    known = iter(example.referents or ())
    by_gender: dict[int, list[int]] = {}
    for row, gender in genders.items():
        by_gender.setdefault(gender, []).append(row)
    for at, gender in enumerate(story.pronoun):
        if gender < 0:
            continue
        if example.referents is not None:
            classes[at] = of[next(known, UNKNOWN)]
        elif gender < 2 and len(by_gender.get(gender, ())) == 1:
            classes[at] = by_gender[gender][0]
        elif gender < 2 and not by_gender.get(gender):
            classes[at] = k + 2
    return classes


def loss_of(
    model: Reader, examples: list[Example], words: Vocabulary, rng: random.Random
) -> torch.Tensor:
    """Return the loss of a batch: roles, genders, and half of the referents'."""
    order = [rng.sample(range(len(PLACEHOLDERS)), len(PLACEHOLDERS)) for _ in examples]
    stories = [
        hide(each.prompt, each.pieces, each.n_people, words, places)
        for each, places in zip(examples, order, strict=True)
    ]
    batch = collate(stories)
    return label_loss(model(batch), examples, stories, batch["k"])


def label_loss(
    said: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    examples: list[Example],
    stories: list[HiddenStory],
    k: int,
) -> torch.Tensor:
    """Return the loss of what a reader said of a batch whose longest story names `k` people."""
    role, genders, meant = said
    made = [targets(each, story, k) for each, story in zip(examples, stories, strict=True)]
    late = [
        LATE if len(e.who) == 2 and not e.roles.paired and e.who[0] > e.who[1] >= 0 else 1.0
        for e in examples
    ]
    weights = torch.tensor(late).repeat_interleave(2)
    of_roles = _mean_loss(role.reshape(-1, k + 1), [c for m in made for c in m[0]], weights)
    places = [(row, at) for row, m in enumerate(made) for at in m[1]]
    picked = genders[[row for row, _ in places], [at for _, at in places]]
    of_genders = _mean_loss(picked, [c for m in made for c in m[1].values()])
    longest = meant.shape[1]
    flat = [c for m in made for c in m[2] + [_IGNORED] * (longest - len(m[2]))]
    return of_roles + of_genders + 0.5 * _mean_loss(meant.reshape(-1, k + 3), flat)


def first_tokens(text: MarkedText) -> MarkedText:
    """The first `LONGEST_PASSAGE` tokens of a text."""
    near, spoken = text.mentions < LONGEST_PASSAGE, text.pronouns < LONGEST_PASSAGE
    return MarkedText(
        text.ids[:LONGEST_PASSAGE],
        text.mentions[near],
        text.people[near],
        text.pronouns[spoken],
        text.numbers[spoken],
    )


def referent_loss(
    model: Reader, passages: list[Passage], words: Vocabulary, rng: random.Random
) -> torch.Tensor:
    """Return the loss of passages: that a pronoun means any of those whom its label allows."""
    texts = [first_tokens(mark(each.text, each.marks, shuffled(words, rng))) for each in passages]
    longest = max(len(each.ids) for each in texts) + 3
    ids = torch.zeros(len(texts), longest, dtype=torch.int64)
    kinds, mask = ids.clone(), ids.clone()
    for row, each in enumerate(texts):
        whole = [words.opening, words.closing, *each.ids, words.closing]
        ids[row, : len(whole)], mask[row, : len(whole)] = torch.tensor(whole), 1
        kinds[row, 2 : len(whole)] = 1
    states = model.encoder(
        input_ids=ids, attention_mask=mask, token_type_ids=kinds
    ).last_hidden_state
    total, count = states.sum() * 0.0, 0.0
    for row, (text, passage) in enumerate(zip(texts, passages, strict=True)):
        if not len(text.mentions) or not len(text.pronouns):
            continue
        scores = model.ref(states[row], text).log_softmax(1)
        columns = [*text.people.tolist(), passage.n_people]
        for at, number in enumerate(text.numbers.tolist()):
            allowed = passage.referents.get(number)
            if allowed is None:
                continue
            right = [k for k, person in enumerate(columns) if person in allowed]
            right = right or [len(columns) - 1]  # whoever is meant is not in this window
            total = total - passage.weight * scores[at, right].logsumexp(0)
            count += passage.weight
    return total / max(count, 1.0)


def shuffled(words: Vocabulary, rng: random.Random) -> Vocabulary:
    """Return the vocabulary with its placeholders in random order."""
    return replace(words, names=tuple(rng.sample(words.names, len(words.names))))


def _mean_loss(
    scores: torch.Tensor, classes: list[int], weights: torch.Tensor | None = None
) -> torch.Tensor:
    """Mean cross entropy of the classes that are known and possible."""
    each = cross_entropy(scores, torch.tensor(classes), ignore_index=_IGNORED, reduction="none")
    counts = (torch.tensor(classes) != _IGNORED) & (each.detach() < -_HIDDEN_SCORE / 10)
    each = torch.where(counts, each, 0.0)
    if weights is not None:
        each = each * weights
    return each.sum() / counts.sum().clamp(min=1)


def batches(examples: list, rng: random.Random, characters: int | None = None) -> list[list]:
    """Batches of stories or passages of about one length, in random order.

    Of `BATCH` each, or, where `characters` are given, of so many and at most twice `BATCH`.
    """
    made: list[list] = [[]]
    for each in sorted(examples, key=lambda one: len(one.text) + rng.random() * 150):
        full = len(made[-1]) >= (2 * BATCH if characters else BATCH)
        if full or (characters and made[-1] and (len(made[-1]) + 1) * len(each.text) > characters):
            made.append([])
        made[-1].append(each)
    rng.shuffle(made)
    return made


def train(
    model: Reader,
    examples: list[Example],
    words: Vocabulary,
    asked: argparse.Namespace,
    passages: list[Passage],
) -> None:
    """Train in place, printing the loss.

    An epoch takes all passages, and of stories with and without labelled pronouns as many as are
    asked for, drawn anew; those without are many for few prompts.
    """
    rng = random.Random(asked.seed)
    plain = [each for each in examples if each.referents is None]
    rest = [each for each in examples if each.referents is not None]
    n_plain = min(len(plain), asked.labelled_per_epoch or len(plain))
    n_rest = min(len(rest), asked.marked_per_epoch or len(rest))
    slow = [p for p in model.encoder.parameters() if p.requires_grad]
    new = list(model.ref.parameters())
    heads = [p for n, p in model.named_parameters() if not n.startswith(("encoder.", "ref."))]
    rates = [RATE, HEAD_RATE, HEAD_RATE]
    if asked.start:
        rates = [LATER_RATE, HEAD_RATE, LATER_HEAD_RATE]
    groups = zip((slow, new, heads), rates, strict=True)
    optimiser = torch.optim.AdamW(
        [{"params": params, "lr": rate} for params, rate in groups], weight_decay=0.01
    )
    epochs = []
    for _ in range(asked.epochs):
        stories = batches(rng.sample(plain, n_plain) + rng.sample(rest, n_rest), rng)
        epochs.append([*stories, *(batches(passages, rng, CHARACTERS) if passages else ())])
        rng.shuffle(epochs[-1])
    steps = [batch for epoch in epochs for batch in epoch]
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, rates, total_steps=len(steps), pct_start=0.1
    )
    began, means = time.time(), {"stories": 0.0, "passages": 0.0}
    model.train()
    for step, batch in enumerate(steps, start=1):
        if isinstance(batch[0], Passage):
            kind = "passages"
            loss = referent_loss(model, [coreference.vary(e, rng) for e in batch], words, rng)
        else:
            kind = "stories"
            loss = loss_of(model, [vary(each, rng) for each in batch], words, rng)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        means[kind] = 0.95 * means[kind] + 0.05 * loss.item()
        if step % 40 == 0:
            said = ", ".join(f"{name} {value:.3f}" for name, value in means.items())
            print(f"step {step} of {len(steps)}: {said}, {time.time() - began:.0f} s", flush=True)
    model.eval()


def kept_passages(folder: Path, held_out: int) -> list[Passage]:
    """Passages of a folder without those that are left out: see the module's first lines."""
    passages = list(coreference.coreference(folder))
    groups = sorted({each.group for each in passages if not each.group.startswith("gap")})
    out = {*groups[::held_out], "gap-validation.tsv.gz"}
    return [each for each in passages if each.group not in out]


def load_shipped(model: Reader, folder: Path) -> None:
    """Take the weights of a reader that ships: 8 bits each in ONNX, and its heads.

    What `smooth` and `write_onnx` made of a layer is undone; heads that it lacks stay as they are.
    """
    import onnx
    from onnx.numpy_helper import to_array

    raw = {each.name: to_array(each) for each in onnx.load(folder / ENCODER).graph.initializer}

    def whole(name: str) -> np.ndarray:
        bits, zero = (
            raw[f"{name}_{part}"].astype(np.float32) for part in ("quantized", "zero_point")
        )
        return (bits - zero) * raw[f"{name}_scale"]

    # A student's graph is its encoder alone, of blocks; a teacher's is within the whole reader
    small = any(name.startswith("blocks.") for name in raw)
    outer = "encoder." if small else ""
    block = "encoder.blocks.{}.layer" if small else "encoder.encoder.layer.{}"
    found = {}
    for name, values in raw.items():
        if name.endswith((".bias", "LayerNorm.weight")):
            found[outer + name.replace("dense.layer.bias", "dense.bias")] = values
        elif name.endswith("embeddings.weight_quantized"):
            weight = name.removesuffix("_quantized")
            found[outer + weight] = whole(weight)
    with np.load(files_of(folder)[WORDS], allow_pickle=False) as raw_words:
        words = Embeddings(raw_words["table"], raw_words["scale"], raw_words["zero"])
    found["encoder.embeddings.word_embeddings.weight"] = words.of(range(len(words.table)))
    layers = sorted(
        (
            name.removesuffix("_quantized")
            for name in raw
            if re.fullmatch(r"val_\d+_quantized", name)
        ),
        key=lambda name: int(name.removeprefix("val_")),
    )
    for number, name in enumerate(layers):
        layer, part = divmod(number, len(_PARTS))
        place = f"{block.format(layer)}.{_PARTS[part]}"
        divided = raw.get(f"{place.removeprefix(outer)}.divided", 1.0)
        found[f"{place}.weight"] = whole(name).T * divided
    with np.load(folder / HEADS, allow_pickle=False) as heads:
        found |= {name: heads[name].astype(np.float32) for name in heads.files}
    told = model.load_state_dict(
        {name: torch.tensor(np.ascontiguousarray(v)) for name, v in found.items()}, strict=False
    )
    fine = ("ref.", "encoder.pooler")
    odd = [name for name in told.missing_keys if not name.startswith(fine)]
    if odd or told.unexpected_keys:
        raise SystemExit(f"{folder}: not a reader of this form: {odd + told.unexpected_keys}")


_PARTS = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
"""Layers of a block in the order in which ONNX numbers their weights."""


def read(
    model: Reader, examples: list[Example], words: Vocabulary
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return log-probabilities of roles and genders of each story, as `Reading` has them."""
    found = []
    with torch.inference_mode():
        for at in range(0, len(examples), BATCH):
            part = examples[at : at + BATCH]
            stories = [hide(each.prompt, each.pieces, each.n_people, words) for each in part]
            batch = collate(stories)
            role, genders, _ = model(batch)
            for row, story in enumerate(stories):
                n, k = story.n_candidates, batch["k"]
                seen = [*range(n), k]
                found.append(
                    (
                        role[row][:, seen].log_softmax(-1).double().numpy(),
                        genders[row][[*range(n), k, k + 1]].log_softmax(-1).double().numpy(),
                    )
                )
    return found


class _Smooth(nn.Module):
    """A layer whose inputs are divided by what its weights are multiplied with."""

    def __init__(self, layer: nn.Linear, scale: torch.Tensor) -> None:
        super().__init__()
        self.divided = nn.Parameter(1 / scale)
        self.layer = nn.Linear(layer.in_features, layer.out_features)
        self.layer.weight = nn.Parameter(layer.weight * scale)
        self.layer.bias = layer.bias

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Return what the layer returned."""
        return self.layer(values * self.divided)


def smooth(encoder: nn.Module, given: list[dict[str, torch.Tensor]]) -> None:
    """Take outliers out of what feed-forward layers read, so that 8 bits hold it better.

    A few of the activations are far larger than others, and 8 bits are shared out over their whole
    range. Dividing each by its largest value in what is `given`, to the power of `SMOOTHING`, and
    multiplying the weights in return leaves the result as it is (Xiao et al. 2023, SmoothQuant, Eq.
    4). The encoder's states are then 9 % off those of the float model on average, not 15.
    """
    layers = {
        name: layer
        for name, layer in encoder.named_modules()
        if isinstance(layer, nn.Linear) and name.endswith(SMOOTHED)
    }
    largest: dict[str, torch.Tensor] = {}

    def look(name: str, values: torch.Tensor) -> None:
        seen = values.abs().amax((0, 1))
        largest[name] = torch.maximum(seen, largest.get(name, seen))

    hooks = [
        layer.register_forward_pre_hook(lambda _, given, name=name: look(name, given[0]))
        for name, layer in layers.items()
    ]
    with torch.inference_mode():
        for each in given:
            encoder(**each)
    for hook in hooks:
        hook.remove()
    for name, layer in layers.items():
        weights = layer.weight.detach().abs().amax(0).clamp(min=1e-5)
        scale = largest[name].clone().clamp(min=1e-5) ** SMOOTHING / weights ** (1 - SMOOTHING)
        above, _, last = name.rpartition(".")
        setattr(encoder.get_submodule(above), last, _Smooth(layer, scale.clamp(min=1e-3)))


def export(
    model: Reader,
    encoder: nn.Module,
    given: list[dict[str, torch.Tensor]],
    out: Path,
    facts: dict,
) -> None:
    """Write encoder, words, heads (16 bits a weight), tokenizer and card; see `load_network`.

    `encoder` returns the states of each of the stories whose tensors are `given`.
    """
    smooth(encoder, given)
    out.mkdir(parents=True, exist_ok=True)
    example = {
        name: torch.zeros(2, 9 if values.shape == given[0]["input_ids"].shape else 5).long()
        for name, values in given[0].items()
    }
    write_onnx(encoder.eval(), example, "states", out / ENCODER)
    np.savez(out / WORDS, **without_words(out / ENCODER))
    heads: dict[str, Any] = {
        name: value.numpy().astype(np.float16)
        for name, value in model.state_dict().items()
        if not name.startswith("encoder.")
    }
    np.savez(out / HEADS, **heads)
    card = {**facts, "joining": {}, "sha256": digest_of(out)}
    (out / CARD).write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


def without_words(path: Path) -> dict[str, Any]:
    """Take the embeddings of words out of an encoder in ONNX, and return them as `Embeddings`.

    The encoder reads "words", shape (n_texts, n_tokens, width), in place of "input_ids" from then
    on, so that several encoders share one table.
    """
    import onnx
    from onnx import TensorProto, helper
    from onnx.numpy_helper import to_array

    model = onnx.load(path)
    graph = model.graph
    looked = next(each for each in graph.node if "input_ids" in each.input)
    whole = next(each for each in graph.node if looked.output[0] in each.input)
    parts = (looked.input[0], *whole.input[1:])
    raw = {each.name: each for each in graph.initializer if each.name in parts}
    table, scale, zero = (to_array(raw[name]) for name in parts)
    ids = next(each for each in graph.input if each.name == "input_ids")
    axes = [each.dim_param or each.dim_value for each in ids.type.tensor_type.shape.dim]
    for each in (looked, whole):
        graph.node.remove(each)
    for each in raw.values():
        graph.initializer.remove(each)
    graph.input.remove(ids)
    words = helper.make_tensor_value_info("words", TensorProto.FLOAT, [*axes, table.shape[1]])
    graph.input.insert(0, words)
    for each in graph.node:
        for at, name in enumerate(each.input):
            if name == whole.output[0]:
                each.input[at] = words.name
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return {"table": table, "scale": scale, "zero": zero}


class _States(nn.Module):
    """The encoder alone."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        token_type_ids: torch.Tensor,
    ) -> torch.Tensor:
        """Return the last states."""
        return self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state


def read_training(asked: argparse.Namespace) -> tuple[Vocabulary, list[Example]]:
    """Return the encoder's vocabulary, and the labelled and the marked stories."""
    tokenizer = AutoTokenizer.from_pretrained(asked.encoder, trust_remote_code=False)

    def encode(text: str) -> list[int]:
        ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    words = vocabulary_of(encode, tokenizer.cls_token_id, tokenizer.sep_token_id)
    examples = [each for path in asked.labelled for each in labelled(path)]
    examples.extend(each for path in asked.marked for each in marked(path))
    return words, examples


def main() -> None:
    """Train, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("encoder")
    parser.add_argument("--labelled", nargs="*", type=Path, default=[])
    parser.add_argument("--marked", nargs="*", type=Path, default=[])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--fold", type=int)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--labelled-per-epoch", type=int)
    parser.add_argument("--marked-per-epoch", type=int)
    parser.add_argument("--coreference", type=Path)
    parser.add_argument("--held-out", type=int, default=7)
    parser.add_argument("--start", type=Path)
    parser.add_argument("--mean-with", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    torch.manual_seed(asked.seed)
    words, examples = read_training(asked)
    left = [each for each in examples if fold_of(each.prompt) == asked.fold]
    kept = [each for each in examples if fold_of(each.prompt) != asked.fold]
    print(f"{len(kept)} stories to train on, {len(left)} left out", flush=True)
    passages = kept_passages(asked.coreference, asked.held_out) if asked.coreference else []
    model = Reader(asked.encoder)
    if asked.start:
        has_model = (asked.start / MODEL).is_file()
        (load_model if has_model else load_shipped)(
            model, asked.start / MODEL if has_model else asked.start
        )
        model.encoder.embeddings.word_embeddings.weight.requires_grad_(False)
    train(model, kept, words, asked, passages)
    if asked.mean_with:
        other = Reader(asked.encoder)
        load_model(other, asked.mean_with / MODEL)
        with torch.no_grad():
            for one, two in zip(model.parameters(), other.parameters(), strict=True):
                one.add_(two).mul_(0.5)
    asked.out.mkdir(parents=True, exist_ok=True)
    save_model(model, asked.out / MODEL)
    if left:
        made = read(model, left, words)
        arrays: dict[str, Any] = {
            f"{k}{i}": pair[at] for i, pair in enumerate(made) for at, k in enumerate("rg")
        }
        np.savez(asked.out / LEFT_OUT, **arrays)
    shown = [
        collate([hide(each.prompt, each.pieces, each.n_people, words)])
        for each in kept[:: max(1, len(kept) // SMOOTHED_BY)]
    ]
    names = {"input_ids": "ids", "attention_mask": "mask", "token_type_ids": "kinds"}
    given = [{name: each[key] for name, key in names.items()} for each in shown]
    shutil.copyfile(Path(asked.encoder) / TOKENIZER, asked.out / TOKENIZER)
    facts = {
        "encoder": Path(asked.encoder).name,
        "start": str(asked.start and asked.start.name),
        "seed": asked.seed,
        "epochs": asked.epochs,
        "fold": asked.fold,
        "stories": len(kept),
    }
    export(model, _States(model.encoder), given, asked.out, facts)


if __name__ == "__main__":
    main()
