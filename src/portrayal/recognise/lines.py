"""Lines: what a table was taken for, in sentences that name every column."""

from pathlib import Path

from portrayal.annotate.language import is_english
from portrayal.recognise.choice import Choice
from portrayal.recognise.columns import InputColumn, InputTable
from portrayal.recognise.roles import ColumnRoles
from portrayal.recognise.rows import without_prompt
from portrayal.shown import counted, one_line

_SHOWN = 4


def lines_of(table: InputTable, roles: ColumnRoles, choice: Choice) -> tuple[str, ...]:
    """Return at most five lines: the texts, the columns, the comparison, what is set aside."""
    lines = [
        _texts(table, roles),
        _columns(table, roles, choice),
        _comparison(table, roles, choice),
    ]
    lines += [_set_aside(table, roles, choice), _not_said(choice)]
    return tuple(one_line(line) for line in lines if line)


def _texts(table: InputTable, roles: ColumnRoles) -> str:
    models = len(roles.model.counts) if roles.model else 0
    by = f", {counted(models, 'model')} in `{roles.model.name}`" if roles.model else ""
    prompts = " + ".join(f"`{column.name}`" for column in roles.prompts)
    asked_in = f"; prompts in {prompts}" if prompts else ""
    name = Path(table.source.name).name
    return f"{name}: {counted(table.n_rows, 'text')} in `{roles.text.name}`{by}{asked_in}."


def _columns(table: InputTable, roles: ColumnRoles, choice: Choice) -> str:
    parts = []
    if choice.comparison == "originals":
        parts.append(f"each text beside its original ({choice.blocks})")
    elif choice.groups:
        groups = [
            f"`{column.name}` ({' / '.join([*column.counts][:_SHOWN])}"
            + (f" and {n - _SHOWN} more)" if (n := len(column.counts)) > _SHOWN else ")")
            for column in choice.groups
        ]
        parts.append(f"{', '.join(groups)} = who was asked about")
    for column in roles.results:
        unclear = " (holds a word for unclear)" if column.has_unknown else ""
        parts.append(f"`{column.name}` = read from the texts{unclear}: a result, not a group")
    if roles.scores:
        parts.append(f"scores: {', '.join(f'`{column.name}`' for column in roles.scores)}")
    if roles.name is not None:
        parts.append(f"`{roles.name.name}` = names")
    if choice.study == "pairs":
        held = {*roles.used, *choice.recipe.pair, *choice.recipe.source}
        held |= {column.name for column in choice.groups}
        free = [column for name, column in table.columns.items() if name not in held]
        names = [f"`{column.name}`" for column in free if _may_be_score(column)]
        parts += [f"not compared (--score): {', '.join(names[:_SHOWN])}"] if names else []
    ignored = [f"`{name}` ({reason})" for name, reason in roles.ignored.items()]
    if ignored:
        more = f" and {len(ignored) - _SHOWN} more" if len(ignored) > _SHOWN else ""
        parts.append(f"ignored: {', '.join(ignored[:_SHOWN])}{more}")
    return f"Taken as: {'; '.join(parts)}. Change: --by, --column." if parts else ""


def _may_be_score(column: InputColumn) -> bool:
    """Whether a column holds numbers or yes and no, and neither ids nor counts of rows."""
    is_id = column.share_distinct == 1 and "".join(column.counts).isdigit()
    return column.is_score and not is_id and not any(map(column.called, ("id", "counter")))


def _comparison(table: InputTable, roles: ColumnRoles, choice: Choice) -> str:
    if choice.question:
        return ""
    if choice.comparison == "study":
        sentence = f"the prompts are those of the study {choice.study}"
    elif choice.comparison == "people":
        sentence = "who is in the texts; no column is known to say whom they were asked about"
        settings = [table.columns[name] for name in choice.recipe.further]
        words = [c.name for c in settings if c not in roles.results and not c.is_score]
        sentence += f" (if `{words[0]}` does: --by {words[0]})" if words else ""
    elif choice.comparison == "groups":
        sentence = "between groups as they are; whatever else differs between their requests counts"
        if choice.n_blocks == 1:
            sentence = "between groups within one request"
    else:
        values = {value for group in choice.groups[:1] for value in group.cells if value}
        several = "two groups or more" if len(values) > 2 else "both"
        sentence = f"within {choice.n_blocks:,} {choice.blocks} ({choice.n_both:,} hold {several})"
    remarks = "".join(f"; {remark}" for remark in choice.remarks)
    return f"Comparison: {sentence}{remarks}."


def _set_aside(table: InputTable, roles: ColumnRoles, choice: Choice) -> str:
    prompts = roles.prompts[-1].cells if roles.prompts else ("",) * table.n_read
    texts = roles.text.cells
    empty = sum(not text for text in texts)
    cut = sum(
        len(without_prompt(text, prompt)) < len(text)
        for text, prompt in zip(texts, prompts, strict=True)
        # A study reads its texts as they are
        if prompt and choice.comparison != "study"
    )
    parts = [f"{empty:,} empty"] if empty else []
    if foreign := sum(not is_english(text) for text in texts):
        parts.append(f"{foreign:,} not in English, read in words, length and columns alone")
    parts += [f"{cut:,} began with the prompt, which was cut"] if cut else []
    few = f" (of {table.n_read:,} rows looked at)" if table.n_read < table.n_rows else ""
    lines = [f"Set aside: {'; '.join(parts)}{few}."] if parts else []
    repeated = _repeated(roles)
    return " ".join([*lines, f"Counted all the same: {repeated}{few}."] if repeated else lines)


def _repeated(roles: ColumnRoles) -> str:
    """The model most of whose texts stand twice, if there is one."""
    models = roles.model.cells if roles.model else ("",) * len(roles.text.cells)
    texts: dict[str, list[str]] = {}
    for model, text in zip(models, roles.text.cells, strict=True):
        if text:
            texts.setdefault(model, []).append(text)
    shares = {
        model: 1 - len({*texts_of_model}) / len(texts_of_model)
        for model, texts_of_model in texts.items()
    }
    model = max(shares, key=lambda name: shares[name], default="")
    if not shares or shares[model] < 0.2:
        return ""
    return f"{shares[model]:.0%} of the texts{f' of {model}' if model else ''} repeat another one"


def _not_said(choice: Choice) -> str:
    if choice.question or choice.comparison in ("people", "study"):
        return ""
    if choice.comparison == "groups":
        return "Not said: whether it is because of who they are; anything about other requests."
    return "Not said: why; anything about requests unlike these."
