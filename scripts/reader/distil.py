"""Make a small encoder of stories that says what a whole reader says, and write the reader.

    python scripts/reader/distil.py ENCODER --teacher READER --labelled STORIES.jsonl [...]
        --marked stories/*.txt --out FOLDER [--fold K ...] [--start FOLDER]
        [--epochs taught fresh again] [--layers 0 1 3 5] [--inner 384] [--wide 2] [--seed N]
        [--mean-with FOLDER ...] [--further stories/they_taught.txt ...]

READER is a folder of a reader that `train.py` trained, ENCODER what it began from. Of its layers
`--layers` stay. The first reads every token and keeps the `--inner` feed-forward units that matter
most, with weights that make up for the others (He et al. 2017, channel pruning). The others go on
with the tokens that the heads read: names, pronouns and the first. Up to layer `--wide` they look
at all tokens, later at each other. They learn the states that READER has there and its
probabilities (Hinton et al. 2015; Jiao et al. 2020, TinyBERT), and the labels, of stories varied as
in training. An epoch that is `taught` takes new variations, one that does it `again` those before;
in a `fresh` one it learns the labels alone, of new variations, as the teacher takes longest.
With `--fold` prompts are left out; `--start` goes on from a folder; `--mean-with` takes the mean of
the weights with those of other students in the end (Wortsman et al. 2022, Model soups).
`--further` are stories that the start has not met: the genders of their people are learned in
`fresh` epochs, in which each counts four times beside a part of the others, of which the start's
own answers are learned too (Li & Hoiem 2016, Learning without forgetting); the last block learns,
with the heads of genders and pronouns, and the head of roles stays as it is.
"""

import argparse
import json
import random
import shutil
import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from pathlib import Path

import numpy as np
import torch
from examples import Example, fold_of, marked, vary
from safetensors.torch import load_file, load_model, save_model
from torch import nn
from torch.nn.functional import gelu, kl_div, mse_loss, scaled_dot_product_attention
from train import (
    BATCH,
    MODEL,
    SMOOTHED_BY,
    Reader,
    batches,
    collate,
    export,
    label_loss,
    load_shipped,
    read_training,
)

from portrayal.annotate.people.reader.network import (
    CARD,
    PLACEHOLDERS,
    TOKENIZER,
    WORDS,
    HiddenStory,
    Vocabulary,
    digest_of,
    files_of,
    hide,
)

KINDS = ("taught", "again", "fresh")
"""Of an epoch; see the first lines."""

RATE, FITTED_BY, RIDGE = 4e-4, 150, 1e-6
"""Learning rate at its highest; stories by which the first layer is narrowed, and its ridge."""

FURTHER_RATE, COPIES, OLD_MARKED, OLD_LABELLED, KEPT = 2e-4, 4, 1500, 500, 0.5
"""Of `--further`: rate; copies of a story, and other stories, an epoch; weight of the start."""


class Block(nn.Module):
    """A layer of BERT in which some tokens look at others."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(
        self, values: torch.Tensor, seen: torch.Tensor, mask: torch.Tensor | None
    ) -> torch.Tensor:
        """Return states of shape (n, l, width) that looked at `seen`, shape (n, m, width)."""
        own, out = self.layer.attention.self, self.layer.attention.output
        n, width = values.shape[0], values.shape[2]
        query, key, value = (
            layer(given).view(n, -1, own.num_attention_heads, own.attention_head_size)
            for layer, given in ((own.query, values), (own.key, seen), (own.value, seen))
        )
        looked = scaled_dot_product_attention(
            query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2), attn_mask=mask
        )
        looked = looked.transpose(1, 2).reshape(n, -1, width)
        values = out.LayerNorm(values + out.dense(looked))
        inner = gelu(self.layer.intermediate.dense(values))
        return self.layer.output.LayerNorm(values + self.layer.output.dense(inner))


class Small(nn.Module):
    """An encoder whose first block alone reads every token."""

    def __init__(self, bert: nn.Module, layers: list[int], wide: int) -> None:
        super().__init__()
        self.embeddings, self.wide = bert.embeddings, wide
        self.blocks = nn.ModuleList(Block(bert.encoder.layer[at]) for at in layers)

    def forward(
        self, input_ids: torch.Tensor, token_type_ids: torch.Tensor, needed: torch.Tensor
    ) -> torch.Tensor:
        """Return states of the `needed` tokens, shape (n, n_needed, width)."""
        return self.rest(self.first(input_ids, token_type_ids), needed)

    def first(
        self, ids: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return states of all tokens, shape (n, l, width)."""
        every = self.embeddings(input_ids=ids, token_type_ids=kinds)
        made: torch.Tensor = self.blocks[0](every, every, mask)
        return made

    def rest(
        self,
        every: torch.Tensor,
        needed: torch.Tensor,
        mask: torch.Tensor | None = None,
        few: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return what `forward` does, from what `first` returned; masks of all, and of few."""
        states = every.gather(1, needed.unsqueeze(-1).expand(-1, -1, every.shape[2]))
        for at, block in enumerate(self.blocks[1:]):
            states = block(states, every, mask) if at < self.wide else block(states, states, few)
        return states

    def narrow(self, inner: int, batch: dict) -> None:
        """Keep `inner` feed-forward units of the first block, and fit what reads them anew."""
        layer = self.blocks[0].layer
        seen: list[torch.Tensor] = []
        hook = layer.output.dense.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
        with torch.no_grad():
            self.first(batch["ids"], batch["kinds"], _open(batch["mask"]))
        hook.remove()
        units = seen[0][batch["mask"].bool()]
        into, out = layer.intermediate.dense, layer.output.dense
        with torch.no_grad():
            goal = out(units).double()
            best = (units.abs().mean(0) * out.weight.norm(dim=0)).topk(inner).indices.sort().values
            known = torch.cat([units[:, best], torch.ones(len(units), 1)], 1).double()
            ridge = RIDGE * len(units) * torch.eye(inner + 1).double()
            fitted = torch.linalg.solve(known.T @ known + ridge, known.T @ goal).float()
            into.weight, into.bias = nn.Parameter(into.weight[best]), nn.Parameter(into.bias[best])
            out.weight = nn.Parameter(fitted[:-1].T.clone())
            out.bias = nn.Parameter(fitted[-1].clone())
        into.out_features = out.in_features = inner


def _open(mask: torch.Tensor) -> torch.Tensor:
    """A mask of tokens, shape (n, l), as attention takes it."""
    return mask[:, None, None].bool()


@dataclass
class Lesson:
    """A varied story, and what is computed of it once.

    Attributes
    ----------
    example, story
        The story, as labelled and as token ids.
    states
        The teacher's states of the tokens that the heads read, shape (n_needed, width); None where
        it was not asked.
    every
        The student's first states of all tokens, shape (n_tokens, width).
    is_further
        Whether the student's start has not met the story.
    """

    example: Example
    story: HiddenStory
    states: np.ndarray | None
    every: np.ndarray
    is_further: bool = False

    @property
    def text(self) -> str:
        """What `batches` sorts by."""
        return self.example.text

    @cached_property
    def few(self) -> HiddenStory:
        """The story without the tokens that no head reads."""
        ids, candidate, pronoun = (
            [values[at] for at in self.story.needed]
            for values in (self.story.ids, self.story.candidate, self.story.pronoun)
        )
        return replace(self.story, ids=ids, candidate=candidate, pronoun=pronoun, second=0)


def hidden(
    examples: list[Example], words: Vocabulary, rng: random.Random
) -> list[tuple[Example, HiddenStory]]:
    """Return the stories varied, with their names hidden, the shortest first."""
    made = []
    for each in examples:
        told, order = vary(each, rng), rng.sample(range(len(PLACEHOLDERS)), len(PLACEHOLDERS))
        made.append((told, hide(told.prompt, told.pieces, told.n_people, words, order)))
    return sorted(made, key=lambda one: len(one[1].ids))


def lessons(
    varied: list[tuple[Example, HiddenStory]], teacher: Reader | None, small: Small
) -> list[Lesson]:
    """Return the stories with what a teacher, and the student's first block, make of them."""
    made = []
    with torch.inference_mode():
        for start in range(0, len(varied), BATCH):
            part = varied[start : start + BATCH]
            batch = collate([story for _, story in part])
            every = small.first(batch["ids"], batch["kinds"], _open(batch["mask"])).half()
            taught = [None] * len(part)
            if teacher is not None:
                states = teacher.encoder(
                    input_ids=batch["ids"],
                    attention_mask=batch["mask"],
                    token_type_ids=batch["kinds"],
                ).last_hidden_state.half()
                pairs = zip(states, part, strict=True)
                taught = [each[story.needed].numpy() for each, (_, story) in pairs]
            for (example, story), one, two in zip(part, taught, every, strict=True):
                made.append(Lesson(example, story, one, two[: len(story.ids)].numpy()))
    return made


def loss_of(
    student: Reader, teacher: Reader, start: Reader | None, part: list[Lesson]
) -> torch.Tensor:
    """Return how far the student is from the labels, and from what another says.

    That is the teacher's states and answers; or, where there is a `start`, its answers of stories
    that it has met.
    """
    few, whole = collate([each.few for each in part]), collate([each.story for each in part])
    every = torch.zeros(*whole["ids"].shape, part[0].every.shape[1])
    needed = torch.zeros_like(few["ids"])
    for row, each in enumerate(part):
        every[row, : len(each.every)] = torch.from_numpy(each.every)
        needed[row, : len(each.story.needed)] = torch.tensor(each.story.needed)
    masks = _open(whole["mask"]), _open(few["mask"])
    states = student.encoder.rest(every, needed, *masks)
    said = student.judge(states, few)
    total = label_loss(said, [e.example for e in part], [e.few for e in part], few["k"])
    if start is not None:
        met = torch.tensor([not each.is_further for each in part])
        with torch.no_grad():
            wanted = start.judge(start.encoder.rest(every, needed, *masks), few)
        return total + KEPT * distance(said, wanted, few["pronoun"] >= 0, met)
    if part[0].states is None:
        return total
    known, goal = few["mask"].bool(), torch.zeros_like(states)
    goal[known] = torch.from_numpy(np.concatenate([each.states for each in part])).float()
    with torch.no_grad():
        wanted = teacher.judge(goal, few)
    total = total + mse_loss(states[known], goal[known]) / goal[known].var()
    return total + distance(said, wanted, few["pronoun"] >= 0, torch.ones(len(part)).bool())


def distance(
    said: tuple[torch.Tensor, ...],
    wanted: tuple[torch.Tensor, ...],
    spoken: torch.Tensor,
    chosen: torch.Tensor,
) -> torch.Tensor:
    """Divergence of roles, genders and half that of referents, of the `chosen` stories.

    `spoken` tells the pronouns of each story, shape (n, l).
    """
    total = torch.zeros(())
    if not chosen.any():
        return total
    of_pronouns = spoken & chosen[:, None]
    for weight, rows, one, two in zip(
        (1.0, 1.0, 0.5), (chosen, chosen, of_pronouns), said, wanted, strict=True
    ):
        logs = [each[rows].log_softmax(-1).flatten(0, -2) for each in (one, two)]
        total = total + weight * kl_div(*logs, reduction="batchmean", log_target=True)
    return total


def train(
    student: Reader,
    teacher: Reader,
    start: Reader | None,
    given: Iterator[list[Lesson]],
    n_steps: int,
    asked: argparse.Namespace,
) -> None:
    """Train in place, printing the loss; `given` are the epochs."""
    rng = random.Random(asked.seed)
    free = [each for each in student.parameters() if each.requires_grad]
    rate = FURTHER_RATE if asked.further else RATE
    optimiser = torch.optim.AdamW(free, lr=rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, rate, total_steps=n_steps, pct_start=0.05
    )
    began, mean = time.time(), 0.0
    for step, part in enumerate((batch for epoch in given for batch in batches(epoch, rng)), 1):
        loss = loss_of(student, teacher, start, part)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(free, 1.0)
        optimiser.step()
        schedule.step()
        mean = loss.item() if step == 1 else 0.95 * mean + 0.05 * loss.item()
        if step % 40 == 0:
            print(f"step {step} of {n_steps}: {mean:.3f}, {time.time() - began:.0f} s", flush=True)


def parse() -> argparse.Namespace:
    """What is asked for on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("encoder")
    parser.add_argument("--teacher", type=Path, required=True)
    parser.add_argument("--labelled", nargs="*", type=Path, default=[])
    parser.add_argument("--marked", nargs="*", type=Path, default=[])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--fold", nargs="*", type=int, default=[])
    parser.add_argument("--epochs", nargs="+", choices=KINDS, default=["taught"] * 4)
    parser.add_argument("--start", type=Path)
    parser.add_argument("--layers", nargs="+", type=int, default=[0, 1, 3, 5])
    parser.add_argument("--inner", type=int, default=384)
    parser.add_argument("--wide", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mean-with", nargs="*", type=Path, default=[])
    parser.add_argument("--further", nargs="*", type=Path, default=[])
    asked = parser.parse_args()
    if asked.epochs[0] == "again":
        parser.error("--epochs: the first has no variations before it; begin with taught or fresh.")
    if asked.further and (asked.start is None or {*asked.epochs} != {"fresh"}):
        parser.error(
            "--further: stories beside what a student knows; give --start, --epochs fresh."
        )
    return asked


def main() -> None:
    """Train, and write what was asked for."""
    asked = parse()
    torch.manual_seed(asked.seed)
    rng = random.Random(asked.seed)
    words, examples = read_training(asked)
    kept = [each for each in examples if fold_of(each.prompt) not in asked.fold]
    print(f"{len(kept)} stories to train on, {len(examples) - len(kept)} left out")
    teacher, student = Reader(asked.encoder), Reader(asked.encoder)
    for each in (teacher, student) if "taught" in asked.epochs else ():
        load_shipped(each, asked.teacher)
    teacher.eval().requires_grad_(False)
    small = Small(student.encoder, asked.layers, asked.wide)
    student.encoder, student.ref = small, nn.Identity()
    student.eval()  # without dropout
    varied = hidden(kept, words, rng)
    small.narrow(
        asked.inner,
        collate([story for _, story in rng.sample(varied, min(FITTED_BY, len(varied)))]),
    )
    frozen = [small.embeddings, small.blocks[0]]
    if asked.further:
        frozen += [*small.blocks[1:-1], student.role, student.null]
    for each in frozen:
        each.requires_grad_(False)
    if asked.start:
        has_model = (asked.start / MODEL).is_file()
        (load_model if has_model else load_shipped)(
            student, asked.start / MODEL if has_model else asked.start
        )
    start = deepcopy(student).eval().requires_grad_(False) if asked.further else None
    further = [each for path in asked.further for each in marked(path)]
    further = [each for each in further if fold_of(each.prompt) not in asked.fold]
    texts = {each.text for each in further}

    def epochs() -> Iterator[list[Lesson]]:
        for kind in asked.epochs:
            if kind != "again":
                told = hidden(drawn(kept, further, rng), words, rng)
                given = lessons(told, teacher if kind == "taught" else None, small)
                for each in given:
                    each.is_further = each.text in texts
            yield given

    n_stories = len(drawn(kept, further, random.Random(0)))
    n_steps = len(asked.epochs) * ceil(n_stories / BATCH)
    train(student, teacher, start, epochs(), n_steps, asked)
    asked.out.mkdir(parents=True, exist_ok=True)
    save_model(student, asked.out / MODEL)
    if asked.mean_with:
        alone = load_file(asked.out / MODEL)
        others = [load_file(folder / MODEL) for folder in asked.mean_with]
        student.load_state_dict(
            {name: torch.stack([alone[name], *(o[name] for o in others)]).mean(0) for name in alone}
        )
    write(student, [story for _, story in varied], asked)


def drawn(kept: list[Example], further: list[Example], rng: random.Random) -> list[Example]:
    """The stories of an epoch: all, or copies of `further` ones beside a part of the others."""
    if not further:
        return kept
    sources = (
        ([each for each in kept if each.referents is not None], OLD_MARKED),
        ([each for each in kept if each.referents is None], OLD_LABELLED),
    )
    others = [one for part, most in sources for one in rng.sample(part, min(len(part), most))]
    return others + COPIES * further


def write(student: Reader, stories: list[HiddenStory], asked: argparse.Namespace) -> None:
    """Write the reader; its words are those of the teacher, so that encoders share them."""
    given = []
    for story in stories[:: max(1, len(stories) // SMOOTHED_BY)]:
        batch = collate([story])
        needed = torch.tensor([story.needed])
        given.append(
            {"input_ids": batch["ids"], "token_type_ids": batch["kinds"], "needed": needed}
        )
    facts = {
        "encoder": Path(asked.encoder).name,
        "teacher": asked.teacher.name,
        "layers": asked.layers,
        "inner": asked.inner,
        "wide": asked.wide,
        "seed": asked.seed,
        "epochs": asked.epochs,
        "start": str(asked.start and asked.start.name),
        "fold": asked.fold,
        "stories": len(stories),
        **({"further": [path.name for path in asked.further]} if asked.further else {}),
    }
    shared = files_of(asked.teacher)
    shutil.copyfile(shared[TOKENIZER], asked.out / TOKENIZER)
    export(student, student.encoder, given, asked.out, facts)
    shutil.copyfile(shared[WORDS], asked.out / WORDS)
    card = json.loads((asked.out / CARD).read_text(encoding="utf-8"))
    card["sha256"] = digest_of(asked.out)
    (asked.out / CARD).write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
