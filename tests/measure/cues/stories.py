"""A run of small stories whose people were read from the text, as several tests use it."""

from portrayal.annotate import annotate_run
from portrayal.collect import import_texts
from portrayal.run import Run
from portrayal.studies.laissez_faire import FIELDS

LADEN = {
    "domain": "Labor",
    "condition": "power-laden",
    "subject_role": "doctor",
    "object_role": "patient",
}
NEUTRAL = {"domain": "Learning", "condition": "power-neutral", "subject_role": "student"}
NAMES = ("Maria", "Jamal", "Priya", "Emily")


def stories(n=40):
    """Rows of stories: every fourth has a Navajo patient, the last three cannot be read."""
    rows = []
    for i in range(n):
        name, helper = NAMES[i % 4], ("John", "Sarah")[i % 2]
        pronoun = "he" if name == "Jamal" else "she"
        model = ("m1", "m2")[i % 3 == 0]
        if i % 2:
            text = f"{name} is a student. {name} studies and {pronoun} likes mathematics a lot."
            rows.append({"prompt": f"Write of student {i % 6}.", **NEUTRAL, "text": text})
        else:
            who = ", a Navajo elder," if i % 4 == 0 else ""
            text = f"{helper} is a doctor. {name}{who} thanks the doctor, and {pronoun}"
            text += " goes home. The hospital was quiet."
            rows.append({"prompt": f"Write of doctor {i % 6}.", **LADEN, "text": text})
        rows[-1] |= {"model": model}
    for row, text in zip(
        rows[-3:], ("", "I'm sorry, but I can't write that story.", " "), strict=True
    ):
        row["text"] = text
    return rows


def story_run(path, n=40, *, shard_rows=7):
    """Return the run, annotated, with the settings that an audit would have written."""
    run = Run(path)
    path.mkdir(parents=True, exist_ok=True)
    import_texts(run, stories(n), FIELDS, (), shard_rows=shard_rows)
    annotate_run(run, "people.v8")
    run.write_settings({"study": "laissez-faire", "annotators": ["people.v8"]})
    return run
