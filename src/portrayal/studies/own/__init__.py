"""Studies of one's own: a TOML file, or a folder with one, is a study as the published ones are."""

from portrayal.studies.own.reading import keep_study, prompts_of_file, read_study, write_start

__all__ = ["keep_study", "prompts_of_file", "read_study", "write_start"]
