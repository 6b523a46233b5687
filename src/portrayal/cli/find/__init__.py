"""The commands `find …`: people, marked words and cues in texts of a file or a run."""

import typer

import portrayal.cli.find.cues as cues_module
import portrayal.cli.find.people as people_module
import portrayal.cli.find.words as words_module

app = typer.Typer(
    help="Find people, the words that mark a group, or cues of identity in any texts.",
    no_args_is_help=True,
)
app.command("people")(people_module.people)
app.command("words")(words_module.words)
app.command("cues")(cues_module.cues)
