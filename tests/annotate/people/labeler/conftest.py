"""Stories with roles, a model that labels them, and the run that holds them."""

import json
from collections import Counter

import pytest

from portrayal.collect import import_texts
from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.limits import Retry
from portrayal.collect.ask.provider import Answer, RejectedError, Usage
from portrayal.run import Run
from portrayal.studies.laissez_faire import FIELDS
from servers.labeler import fields_of

NAMES = ("Emily", "Maria", "Grace", "Olivia", "Nora", "Ruth", "Alice", "Clara", "Diana", "Edith")
N_TEXTS = len(NAMES)


def story(i):
    """Return the i-th story: one woman who teaches Sam."""
    return f"{NAMES[i]} taught Sam number {i}. She was patient, and he thanked her."


class Labeler:
    """A model that labels the stories; `answer` may be replaced, `fails` lists texts it rejects."""

    name, parameters = "server:labeler", {}

    def __init__(self):
        self.asked = Counter()
        self.fails = ()
        self.answer = self.right
        self.stop_after = None

    async def ask(self, prompt):
        if self.stop_after is not None and self.asked.total() >= self.stop_after:
            raise KeyboardInterrupt
        i = next(i for i in range(N_TEXTS) if story(i) in prompt)
        self.asked[i] += 1
        if i in self.fails:
            raise RejectedError("too long")
        return Answer(self.answer(i, fields_of(prompt)), usage=Usage(300, 100))

    async def close(self):
        pass

    @staticmethod
    def right(i, fields):
        values = (NAMES[i], "Sam", ["she", "her"], ["he"])
        return json.dumps(dict(zip(fields, values, strict=True)))


@pytest.fixture
def labeler():
    """A model that labels every story rightly."""
    return Labeler()


@pytest.fixture
def asking(labeler):
    """It is asked twice about each text."""
    quick = Retry(attempts=2, first_wait=0.001)
    return Asking("server:labeler", 2, provider=labeler, retry=quick, concurrency=2)


@pytest.fixture
def rows():
    """Texts as `label_people` takes them."""
    return [
        {"text_id": f"t{i}", "text": story(i), "subject_role": "teacher", "object_role": "student"}
        for i in range(N_TEXTS)
    ]


@pytest.fixture
def run(tmp_path):
    """A held run with the stories in shards of four, and two texts that cannot be read."""
    held = Run(tmp_path / "run")
    roles = {"subject_role": "teacher", "object_role": "student"}
    more = {"model": "m", "domain": "Learning", "condition": "power-laden", **roles}
    texts = [{"text": story(i), "prompt_id": f"p{i % 3}", **more} for i in range(N_TEXTS)]
    texts[3:3] = [{"text": "", "prompt_id": "p0", **more}]
    texts.append({"text": "I'm sorry, but I can't write that.", "prompt_id": "p1", **more})
    with held.lock():
        import_texts(held, texts, FIELDS, (), shard_rows=4)
        yield held
