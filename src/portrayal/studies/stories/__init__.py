"""Stories: who appears in them, in which role, under which names, and the report of that.

A *study of stories* says its prompts, its names and its baseline; the laissez-faire study is one,
and so is each study that a TOML file describes (`studies.own`).
"""

from portrayal.studies.stories.audit import (
    LADEN,
    MEASURES,
    NEUTRAL,
    Stories,
    StoryOptions,
    naming,
    story_fields,
)

__all__ = ["LADEN", "MEASURES", "NEUTRAL", "Stories", "StoryOptions", "naming", "story_fields"]
