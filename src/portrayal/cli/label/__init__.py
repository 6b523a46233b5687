"""The commands `label …`: who is in texts and what they say, by people or by a model.

Three ways lead to the same agreement and the same scores: a sheet (CSV) that people fill in, a page
in the browser on which raters code, and a language model.
"""

import typer

import portrayal.cli.label.project as project
import portrayal.cli.label.read as read
import portrayal.cli.label.sheets as sheets
from portrayal.cli.options import Command

app = typer.Typer(
    help="Label texts: on a sheet (`sheet`), on a page for raters (`draw`, then `serve`), or by a "
    "language model (`model`); then `agreement`, `report`, `export`.",
    no_args_is_help=True,
)
_COMMANDS: dict[str, Command] = {
    "sheet": sheets.sheet,
    "draw": project.draw,
    "serve": project.serve,
    "model": read.model,
    "raters": project.raters,
    "agreement": read.agreement,
    "merge": sheets.merge,
    "clusters": read.clusters,
    "report": read.report,
    "export": read.export,
    "import": read.import_,
    "finetune": sheets.finetune,
}
for name, command in _COMMANDS.items():
    app.command(name)(command)
