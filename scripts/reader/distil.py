"""Make a small encoder of stories that says what a whole reader says, and write the reader.

    python scripts/reader/distil.py ENCODER --teacher READER --labelled STORIES.jsonl [...]
        --marked stories/*.txt --out FOLDER [--fold K ...] [--variations N] [--epochs N]
        [--layers 0 2 3 5] [--inner 768] [--wide 1] [--seed N]

READER is a folder of a reader that `train.py` trained, ENCODER what it began from. Of its layers
`--layers` stay. The first reads every token, with the `--inner` feed-forward units that matter
most; the others go on with the tokens that the heads read: names, pronouns and the first. The
first `--wide` of them look at all tokens, the last ones at each other. They learn the states that
READER has there and its probabilities (Hinton et al. 2015; Jiao et al. 2020, TinyBERT), and the
labels, of `--variations` of each story; without `--teacher`, the labels alone, from ENCODER. With
`--fold` prompts are left out.
"""

import argparse
import random
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from examples import Example, fold_of, labelled, marked, vary
from safetensors.torch import save_model
from torch import nn
from torch.nn.functional import gelu, kl_div, mse_loss, scaled_dot_product_attention
from train import (
    BATCH,
    MODEL,
    SMOOTHED_BY,
    TOKENIZER,
    Reader,
    batches,
    collate,
    export,
    label_loss,
    load_shipped,
)
from transformers import AutoTokenizer

from portrayal.annotate.people.reader.network import (
    PLACEHOLDERS,
    HiddenStory,
    Vocabulary,
    hide,
    vocabulary_of,
)

RATE, STATES = 4e-4, 1.0
"""Learning rate at its highest, and the weight of the states."""


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

    def narrow(self, inner: int, active: torch.Tensor) -> None:
        """Keep the `inner` feed-forward units that matter most, by how active each is."""
        into, out = self.layer.intermediate.dense, self.layer.output.dense
        best = (active * out.weight.norm(dim=0)).topk(inner).indices.sort().values
        into.weight, into.bias = nn.Parameter(into.weight[best]), nn.Parameter(into.bias[best])
        out.weight = nn.Parameter(out.weight[:, best])
        into.out_features = out.in_features = inner


class Small(nn.Module):
    """An encoder whose first block alone reads every token."""

    def __init__(self, bert: nn.Module, layers: list[int], wide: int) -> None:
        super().__init__()
        self.embeddings, self.wide = bert.embeddings, wide
        self.blocks = nn.ModuleList(Block(bert.encoder.layer[at]) for at in layers)

    def forward(
        self,
        input_ids: torch.Tensor,
        token_type_ids: torch.Tensor,
        needed: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        needed_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return states of the `needed` tokens, shape (n, n_needed, width)."""
        whole, few = (
            None if mask is None else mask[:, None, None].bool()
            for mask in (attention_mask, needed_mask)
        )
        every = self.embeddings(input_ids=input_ids, token_type_ids=token_type_ids)
        every = self.blocks[0](every, every, whole)
        states = every.gather(1, needed.unsqueeze(-1).expand(-1, -1, every.shape[2]))
        for at, block in enumerate(self.blocks[1:]):
            states = block(states, every, whole) if at < self.wide else block(states, states, few)
        return states


@dataclass(frozen=True)
class Lesson:
    """A varied story, and what the teacher makes of it.

    Attributes
    ----------
    example, story
        The story, as labelled and as token ids.
    states
        The teacher's states of the tokens that the heads read, shape (n_needed, width); None where
        there is no teacher.
    """

    example: Example
    story: HiddenStory
    states: np.ndarray | None

    @property
    def text(self) -> str:
        """What `batches` sorts by."""
        return self.example.text

    @property
    def few(self) -> HiddenStory:
        """The story without the tokens that no head reads."""
        kept = self.story.needed

        def of(values: list[int]) -> list[int]:
            return [values[at] for at in kept]

        return replace(
            self.story,
            ids=of(self.story.ids),
            second=0,
            candidate=of(self.story.candidate),
            pronoun=of(self.story.pronoun),
        )


def lessons(
    examples: list[Example],
    words: Vocabulary,
    teacher: Reader | None,
    rng: random.Random | None = None,
) -> list[Lesson]:
    """Return the stories, varied where `rng` is given, with what the teacher makes of them."""
    made = []
    for each in examples:
        told, order = each, None
        if rng is not None:
            told, order = vary(each, rng), rng.sample(range(len(PLACEHOLDERS)), len(PLACEHOLDERS))
        story = hide(told.prompt, told.pieces, told.n_people, words, order)
        made.append(Lesson(told, story, None))
    if teacher is None:
        return made
    places = sorted(range(len(made)), key=lambda at: len(made[at].story.ids))
    with torch.inference_mode():
        for start in range(0, len(places), BATCH):
            part = places[start : start + BATCH]
            batch = collate([made[at].story for at in part])
            states = teacher.encoder(
                input_ids=batch["ids"],
                attention_mask=batch["mask"],
                token_type_ids=batch["kinds"],
            ).last_hidden_state
            for row, at in enumerate(part):
                kept = states[row][made[at].story.needed].half().numpy()
                made[at] = replace(made[at], states=kept)
    return made


def tensors_of(part: list[Lesson]) -> tuple[dict, dict]:
    """Return what `Small` reads of a batch, and the batch of its few tokens as heads read it."""
    whole, few = collate([each.story for each in part]), collate([each.few for each in part])
    needed = torch.zeros_like(few["ids"])
    for row, each in enumerate(part):
        needed[row, : len(each.story.needed)] = torch.tensor(each.story.needed)
    given = {
        "input_ids": whole["ids"],
        "token_type_ids": whole["kinds"],
        "needed": needed,
        "attention_mask": whole["mask"],
        "needed_mask": few["mask"],
    }
    return given, few


def loss_of(student: Reader, teacher: Reader | None, part: list[Lesson]) -> torch.Tensor:
    """Return how far the student is from the labels, and from the teacher's states and answers."""
    given, few = tensors_of(part)
    states = student.encoder(**given)
    said = student.judge(states, few)
    stories = [each.few for each in part]
    total = label_loss(said, [each.example for each in part], stories, few["k"])
    if teacher is None:
        return total
    known = few["mask"].bool()
    goal = torch.zeros_like(states)
    goal[known] = torch.from_numpy(np.concatenate([each.states for each in part])).float()
    with torch.no_grad():
        wanted = teacher.judge(goal, few)
    total = total + STATES * mse_loss(states[known], goal[known]) / goal[known].var()
    spoken = few["pronoun"] >= 0
    role, genders, meant = (
        (one, two) if at < 2 else (one[spoken], two[spoken])
        for at, (one, two) in enumerate(zip(said, wanted, strict=True))
    )
    for (one, two), weight in ((role, 1.0), (genders, 1.0), (meant, 0.5)):
        logs = one.log_softmax(-1).flatten(0, -2), two.log_softmax(-1).flatten(0, -2)
        total = total + weight * kl_div(*logs, reduction="batchmean", log_target=True)
    return total


def student_of(
    folder: str, teacher: Reader | None, asked: argparse.Namespace, part: list[Lesson]
) -> Reader:
    """Return a reader with some of the layers, whose first keeps the units that `part` needs."""
    student = Reader(folder)
    if teacher is not None:
        student.load_state_dict(teacher.state_dict())
    small = Small(student.encoder, asked.layers, asked.wide)
    student.encoder, student.ref = small, nn.Identity()
    active: list[torch.Tensor] = []
    hook = small.blocks[0].layer.intermediate.register_forward_hook(
        lambda _, __, made: active.append(made.abs().mean((0, 1)))
    )
    # `Block` computes the layer by its parts: the first is run whole, to see which units it uses
    with torch.no_grad():
        given, _ = tensors_of(part)
        small.blocks[0].layer(
            small.embeddings(input_ids=given["input_ids"], token_type_ids=given["token_type_ids"])
        )
    hook.remove()
    small.blocks[0].narrow(asked.inner, active[0])
    small.embeddings.word_embeddings.weight.requires_grad_(False)
    return student.eval()  # without dropout


def train(
    student: Reader, teacher: Reader | None, given: list[list[Lesson]], asked: argparse.Namespace
) -> None:
    """Train in place, printing the loss; an epoch takes one variation of each story."""
    rng = random.Random(asked.seed)
    steps = [
        batch for epoch in range(asked.epochs) for batch in batches(given[epoch % len(given)], rng)
    ]
    free = [each for each in student.parameters() if each.requires_grad]
    optimiser = torch.optim.AdamW(free, lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, RATE, total_steps=len(steps), pct_start=0.05
    )
    began, mean = time.time(), 0.0
    for step, part in enumerate(steps, start=1):
        loss = loss_of(student, teacher, part)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(free, 1.0)
        optimiser.step()
        schedule.step()
        mean = loss.item() if step == 1 else 0.95 * mean + 0.05 * loss.item()
        if step % 40 == 0:
            print(
                f"step {step} of {len(steps)}: {mean:.3f}, {time.time() - began:.0f} s, "
                f"{time.process_time():.0f} CPU s",
                flush=True,
            )


def main() -> None:
    """Train, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("encoder")
    parser.add_argument("--teacher", type=Path)
    parser.add_argument("--labelled", nargs="*", type=Path, default=[])
    parser.add_argument("--marked", nargs="*", type=Path, default=[])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--fold", nargs="*", type=int, default=[])
    parser.add_argument("--variations", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--layers", nargs="+", type=int, default=[0, 2, 4, 5])
    parser.add_argument("--inner", type=int, default=512)
    parser.add_argument("--wide", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    torch.manual_seed(asked.seed)
    rng = random.Random(asked.seed)
    tokenizer = AutoTokenizer.from_pretrained(asked.encoder, trust_remote_code=False)

    def encode(text: str) -> list[int]:
        ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    words = vocabulary_of(encode, tokenizer.cls_token_id, tokenizer.sep_token_id)
    examples = [each for path in asked.labelled for each in labelled(path)]
    examples += [each for path in asked.marked for each in marked(path)]
    kept = [each for each in examples if fold_of(each.prompt) not in asked.fold]
    print(f"{len(kept)} stories to train on, {len(examples) - len(kept)} left out", flush=True)
    teacher = None
    if asked.teacher:
        teacher = Reader(asked.encoder)
        load_shipped(teacher, asked.teacher)
        teacher.eval().requires_grad_(False)
    given = [lessons(kept, words, teacher, rng) for _ in range(asked.variations)]
    student = student_of(asked.encoder, teacher, asked, rng.sample(given[0], 200))
    train(student, teacher, given, asked)
    asked.out.mkdir(parents=True, exist_ok=True)
    save_model(student, asked.out / MODEL)
    facts = {
        "encoder": Path(asked.encoder).name,
        "teacher": str(asked.teacher and asked.teacher.name),
        "layers": asked.layers,
        "inner": asked.inner,
        "wide": asked.wide,
        "seed": asked.seed,
        "epochs": asked.epochs,
        "fold": asked.fold,
        "stories": len(kept),
    }
    shown = lessons(kept[:: max(1, len(kept) // SMOOTHED_BY)], words, None)
    names = ("input_ids", "token_type_ids", "needed")
    tensors = [{name: tensors_of([each])[0][name] for name in names} for each in shown]
    shutil.copyfile(Path(asked.encoder) / TOKENIZER, asked.out / TOKENIZER)
    export(student, student.encoder, tensors, asked.out, facts)


if __name__ == "__main__":
    main()
