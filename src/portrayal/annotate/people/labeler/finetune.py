"""Export for fine-tuning: hand labels as the chats that a service is fine-tuned on."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portrayal.annotate.people.labeler.answer import label_prompt
from portrayal.annotate.people.shared.model import Roles, clean_name
from portrayal.collect.ask.replies import read_list
from portrayal.collect.fields import find_columns
from portrayal.collect.sources import open_source
from portrayal.errors import DataError, OptionError
from portrayal.run.files import write_atomically

_NEEDED = ("text", "subject_role", "gold_subject_name", "gold_subject_references")
_OPTIONAL = ("object_role", "gold_object_name", "gold_object_references", "prompt_id", "prompt")


@dataclass(frozen=True, slots=True)
class FineTuneExport:
    """What was written.

    Attributes
    ----------
    train, validation
        The files; no validation file where none was asked for.
    n_train, n_validation
        Chats in each.
    refused
        Rows left out, by reason.
    """

    train: Path
    validation: Path | None
    n_train: int
    n_validation: int
    refused: Mapping[str, int]


def export_finetune(
    gold: str | Path,
    out: str | Path,
    *,
    columns: Iterable[str] = (),
    validation_share: float = 0.0,
    system: str | None = None,
    seed: int = 0,
) -> FineTuneExport:
    """Write hand labels as chats: the prompt of Table S7, and the labels as the answer.

    Parameters
    ----------
    gold
        File with `text`, `subject_role`, `object_role`, and hand labels in `gold_subject_name`,
        `gold_subject_references` and those of the object. References are a list or its text,
        "['she', 'her']"; an empty list is a label, an empty cell is none.
    out
        JSON lines file to write.
    columns
        "FIELD=NAME" strings for columns with other names.
    validation_share
        Fraction of the prompts whose rows go to a second file, `out` with "-validation" in its
        name; rows of one prompt are never in both.
    system
        A system message before each chat; the labeler itself sends none unless told to.
    seed
        Of the split.

    Raises
    ------
    DataError
        Where columns are missing or no row has labels.
    OptionError
        Where the share cannot be used.
    """
    if not 0 <= validation_share < 1:
        raise OptionError(
            f"validation_share must be a fraction from 0 to below 1; got {validation_share!r}."
        )
    target, refused = Path(out), Counter[str]()
    chats: dict[str, list[str]] = {}
    source = open_source(gold)
    mapping = find_columns(
        (*_NEEDED, *_OPTIONAL), source.columns, columns=columns, needed=_NEEDED, file=str(gold)
    )
    # A chat for each row, by prompt
    for raw in source.rows():
        row = {name: raw.get(column) for name, column in mapping.items()}
        chat = _chat(row, system, refused)
        if chat is not None:
            # What must not be in both files: the prompt, or else the roles
            roles = f"{row['subject_role']}\n{row.get('object_role')}"
            group_fields = (row.get("prompt_id"), row.get("prompt"), roles)
            group = next(one for one in group_fields if isinstance(one, str) and one.strip())
            chats.setdefault(group, []).append(chat)
    if not chats:
        reasons = (
            ", ".join(f"{n} {reason}" for reason, n in refused.items()) or "the file has no rows"
        )
        raise DataError(
            f"{gold}: no row can be written ({reasons}). A row needs names and references by hand "
            "in gold_subject_name, gold_subject_references and those of the object."
        )
    # Prompts of the second file are drawn by seed; at least one of several where a share is asked
    held_out: set[str] = set()
    if validation_share:
        if len(chats) < 2:
            raise OptionError("a validation file needs rows of at least two prompts.")
        digest = {
            group: hashlib.blake2b(f"{seed}\n{group}".encode(), digest_size=8).digest()
            for group in chats
        }
        # Drawn by digest, so that the order of the rows changes nothing
        n_held_out = min(max(round(validation_share * len(chats)), 1), len(chats) - 1)
        held_out.update(sorted(chats, key=digest.__getitem__)[:n_held_out])
    train = [chat for group, rows in chats.items() if group not in held_out for chat in rows]
    validation = [chat for group, rows in chats.items() if group in held_out for chat in rows]
    write_atomically(target, "".join(train))
    second = None
    if validation:
        second = target.with_name(f"{target.stem}-validation{target.suffix}")
        write_atomically(second, "".join(validation))
    return FineTuneExport(target, second, len(train), len(validation), dict(refused))


def _chat(row: Mapping[str, Any], system: str | None, refused: Counter[str]) -> str | None:
    """The line of a row; None where it lacks a text, role or label, which is counted."""
    text, subject, other = map(row.get, ("text", "subject_role", "object_role"))
    if not (isinstance(text, str) and text.strip() and isinstance(subject, str) and subject):
        refused["without text or role"] += 1
        return None
    prompt = label_prompt(text, Roles(subject, other if isinstance(other, str) and other else None))
    names, references = {}, {}
    for slot, role in zip(("subject", "object"), prompt.characters, strict=False):
        name, gold_references = row.get(f"gold_{slot}_name"), row.get(f"gold_{slot}_references")
        gold_references = (
            read_list(gold_references) if isinstance(gold_references, str) else gold_references
        )
        if not (
            isinstance(name, str) and name.strip() and isinstance(gold_references, (list, tuple))
        ):
            refused["without labels"] += 1
            return None
        # The answer that Table S7 asks for where there is no name
        names[f"{role} name"] = clean_name(name) or "Unspecified"
        references[f"{role} references"] = [
            item for item in gold_references if isinstance(item, str)
        ]
    answer = json.dumps({**names, **references}, ensure_ascii=False, indent=2)
    messages_of = [("user", prompt.text), ("assistant", answer)]
    if system:
        messages_of.insert(0, ("system", system))
    messages = [{"role": role, "content": content} for role, content in messages_of]
    return json.dumps({"messages": messages}, ensure_ascii=False) + "\n"
