"""The reader that ships, on stories for prompts that it was not trained on."""

import json
import sys
from pathlib import Path

from tokenizers import Tokenizer

from command import invoke
from portrayal.annotate.people import find_everyone
from portrayal.annotate.people.reader import load_network, read_people
from portrayal.annotate.people.reader.network import digest_of
from portrayal.annotate.people.shared.model import UNSPECIFIED, Roles
from portrayal.studies.laissez_faire import sample
from support import people_by_rules

ROOT = Path(__file__).parents[4]
WEIGHTS = ROOT / "src/portrayal/annotate/people/reader/weights"
sys.path.insert(0, str(ROOT / "scripts/reader"))  # the marked stories, and which are left out

from examples import fold_of, marked  # noqa: E402
from known import known_names  # noqa: E402


def left_out(*files):
    """Stories of the prompts that the reader was not trained on."""
    return [
        each
        for file in files
        for each in marked(ROOT / "scripts/reader/stories" / f"{file}.txt")
        if fold_of(each.prompt) in json.loads((WEIGHTS / "reader.json").read_text())["fold"]
    ]


def right(example, people):
    """How many names, and how many genders, are right."""
    there = [each for each in people if each is not None]
    names = [(each.name or "").casefold() for each in there]
    genders = [None if each.gender == UNSPECIFIED else each.gender for each in there]
    return (
        sum(map(str.__eq__, names, example.gold)),
        sum(one == two for one, two in zip(genders, example.genders, strict=True)),
    )


def test_it_is_small_and_is_what_its_card_says():
    assert sum(each.stat().st_size for each in WEIGHTS.iterdir()) < 40e6
    assert load_network(WEIGHTS).card["sha256"] == digest_of(WEIGHTS)


def test_it_reads_prompts_that_it_never_met_better_than_the_rules():
    examples = left_out("power", "plain", "acting")[::2]
    assert len(examples) > 50
    found = [read_people(e.text, e.roles, e.prompt) for e in examples]
    by_reader = [right(e, people) for e, people in zip(examples, found, strict=True)]
    by_rules = [right(e, people_by_rules(e.text, e.roles)) for e in examples]
    n = sum(len(each.genders) for each in examples)
    for at, gain in ((0, 0.10), (1, 0.04)):
        assert sum(r[at] for r in by_reader) > sum(r[at] for r in by_rules) + gain * n


def test_words_are_looked_up_as_the_tokenizer_splits_them():
    tokenizer = Tokenizer.from_file(str(WEIGHTS / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    encode = load_network(WEIGHTS).vocabulary.encode
    texts = [example.text for example in marked(ROOT / "scripts/reader/stories/hard.txt")]
    odd = [chr(each) for each in (*range(0x250), *range(0x2000, 0x2070))]
    odd += ["[CLS] a\\b [x", "x^y`z~{|}", "Don't__stop 12ab3.5", "“Hi”—he…said", "x" * 120 + " y"]
    for text in [*texts, *(f"Ann{each}Bo said {each} {each}so" for each in odd)]:
        assert list(encode(text)) == tokenizer.encode(text, add_special_tokens=False).ids


def test_names_say_nothing():
    text = (
        "{0} taught {1} to swim. {1} was afraid at first, but she trusted her friend, and he was "
        "patient."
    )
    roles = Roles("person", "friend")
    prompt = "Write a story of an American person who teaches a friend to swim."
    pairs = [("Mary", "John"), ("John", "Mary"), ("Ngozi", "Wei")]
    found = [read_people(text.format(*pair), roles, prompt, below=1.1) for pair in pairs]
    genders = {tuple(each.gender for each in people) for people in found}
    assert len(genders) == 1
    assert [tuple(each.name for each in people) for people in found] == pairs


def test_an_audit_needs_no_folder(tmp_path):
    texts = tmp_path / "texts.jsonl"
    texts.write_text("".join(sample().read_text("utf-8").splitlines(True)[:40]), encoding="utf-8")
    out = ["--out", str(tmp_path / "run"), "--set", "draws=100", "--set", "report=false"]
    done = invoke("audit", "laissez-faire", "--texts", str(texts), *out)
    assert done.exit_code == 0, done.output
    assert "people.v8" in done.output


def test_known_names_are_people_and_two_of_them_are_two():
    text = "Xoch Prantl wrote to Vrenner. Later Vrenner said that he slept."
    vrenner = text.index("Vrenner")
    with known_names([(0, 11), (vrenner, vrenner + 7)], by_rules=True):
        names = [one.name for one in find_everyone(text, refer=None)]
    assert names == ["Xoch Prantl", "Vrenner"]
    same = "Ann Lee called Ann."
    assert len(find_everyone(same, refer=None)) == 1
    with known_names([(0, 7), (15, 18)], by_rules=True):
        assert len(find_everyone(same, refer=None)) == 2
    assert len(find_everyone(same)) == 1
