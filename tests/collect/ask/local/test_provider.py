import asyncio
import importlib
import json
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from portrayal.collect.ask.local import provider as local
from portrayal.collect.ask.local.provider import LocalProvider
from portrayal.collect.ask.provider import Provider, RejectedError, StopError
from portrayal.errors import MissingExtraError, OptionError
from portrayal.models.loading import missing_extra
from support import needs

WORDS = [f"w{n}" for n in range(70)]
CONTEXT = 64


needs("torch", "transformers")
torch, transformers = map(importlib.import_module, ("torch", "transformers"))


def save_model(folder, *, template=None, kind="llama", eos=True, safe=True):
    from tokenizers import Tokenizer, models, pre_tokenizers

    special = ["<unk>", "<s>", "</s>"]
    vocabulary = {word: n for n, word in enumerate([*special, *WORDS])}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="<unk>", bos_token="<s>", eos_token="</s>"
    )
    if template:
        tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    torch.manual_seed(7)
    ends = {"bos_token_id": 1, "eos_token_id": 2 if eos else None}
    size = {"vocab_size": len(vocabulary)}
    if kind == "llama":
        config = transformers.LlamaConfig(
            hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=CONTEXT, initializer_range=0.35,
            **size, **ends,
        )  # fmt: skip
        model = transformers.LlamaForCausalLM(config)
    else:
        config = transformers.GPT2Config(
            n_positions=CONTEXT, n_embd=32, n_layer=2, n_head=4, initializer_range=0.35,
            **size, **ends,
        )  # fmt: skip
        model = transformers.GPT2LMHeadModel(config)
    if safe:
        model.save_pretrained(folder)
    else:
        config.save_pretrained(folder)
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
    return str(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_model(tmp_path_factory.mktemp("llama"))


def ask_one(provider, prompt, sample):
    return provider.ask(prompt) if sample is None else provider.ask_sample(prompt, sample)


def ask_all(provider, questions):
    async def all_of_them():
        try:
            asked = (ask_one(provider, p, s) for p, s in questions)
            return await asyncio.gather(*asked, return_exceptions=True)
        finally:
            await provider.close()

    return asyncio.run(all_of_them())


def greedy(folder, prompt_tokens, room):
    """The definition: one row, no padding, no cache, the likeliest token each time."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    tokens, made = list(prompt_tokens), []
    for _ in range(room):
        with torch.inference_mode():
            logits = model(torch.tensor([tokens])).logits[0, -1]
        made.append(int(logits.argmax()))
        if made[-1] == 2:
            return made
        tokens.append(made[-1])
    return made


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_a_padded_batch_gives_what_each_prompt_gives_alone(tmp_path, kind):
    path = save_model(tmp_path, kind=kind)
    prompts = ["w1 w2 w3", "w9", "w4 w8 w15 w16 w23 w42", "w60 w61"]
    provider = LocalProvider(path, {"temperature": 0, "max_tokens": 12})
    answers = ask_all(provider, [(p, 0) for p in prompts])
    for prompt, answer in zip(prompts, answers, strict=True):
        tokens = [3 + WORDS.index(word) for word in prompt.split()]
        made = greedy(path, tokens, 12)
        assert answer.usage.input_tokens == len(tokens)
        assert answer.usage.output_tokens == len(made)
        assert answer.finish_reason == ("stop" if made[-1] == 2 else "length")
        words = [WORDS[token - 3] for token in made if token > 2]
        assert answer.text.split() == words


def test_texts_are_drawn_from_the_whole_distribution(folder):
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    with torch.inference_mode():
        logits = model(torch.tensor([[10, 11]])).logits[0, -1]
    expected = torch.softmax(logits.double(), -1).numpy()  # sums to one as exactly as scipy asks
    provider = LocalProvider(folder, {"max_tokens": 1}, batch_size=256)
    answers = ask_all(provider, [("w7 w8", n) for n in range(4096)])
    drawn = Counter(answer.text or "</s>" for answer in answers)
    special = expected[:3].sum()  # </s> ends the text, the other two are not shown
    observed = [drawn["</s>"], *(drawn[word] for word in WORDS)]
    wanted = np.array([special, *expected[3:]]) * len(answers)
    common = wanted > 5
    pooled = [[*np.array(v)[common], np.array(v)[~common].sum()] for v in (observed, wanted)]
    assert chisquare(*pooled).pvalue > 1e-3
    assert np.count_nonzero(observed) > 50


def test_the_same_batch_repeats_and_other_samples_or_seeds_do_not(folder):
    def texts(questions, **options):
        provider = LocalProvider(folder, {"max_tokens": 20, **options})
        return [answer.text for answer in ask_all(provider, questions)]

    batch = [("w1 w2", 0), ("w1 w2", 1), ("w3", 0)]
    first = texts(batch)
    assert texts(batch) == first
    assert first[0] != first[1]
    assert texts([("w1 w2", 2), ("w1 w2", 3), ("w3", 2)]) != first
    assert texts(batch, seed=1) != first
    assert len({texts([("w1 w2", None)])[0] for _ in range(3)}) == 3


def test_the_global_random_stream_is_left_alone(folder):
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    ask_all(LocalProvider(folder, {"max_tokens": 5}), [("w1", 0)])
    assert torch.equal(torch.rand(4), expected)


def test_the_chat_template_is_used_where_there_is_one(tmp_path):
    template = "{% for m in messages %}w1 {{ m['content'] }} w2 {% endfor %}w3"
    provider = LocalProvider(save_model(tmp_path, template=template), {"max_tokens": 4})
    (answer,) = ask_all(provider, [("w9 w9 w9", 0)])
    assert answer.usage.input_tokens == 6
    provider = LocalProvider(str(tmp_path), {"max_tokens": 4})
    model = provider._load()
    assert model.encode("w9") == [4, 12, 5, 6]
    model = LocalProvider(str(tmp_path), {"system": "w8"})._load()
    assert model.encode("w9") == [4, 11, 5, 4, 12, 5, 6]
    assert model.encode("w9", "w7") == [4, 11, 10, 5, 4, 12, 5, 6]  # the run's, then the prompt's


def test_a_system_prompt_stands_before_the_prompt_without_a_template(folder):
    model = LocalProvider(folder, {"system": "w8"})._load()
    assert model.encode("w9") == [11, 12]


def test_a_prompt_without_room_is_rejected_and_a_long_one_is_cut_alone(tmp_path):
    full, long = " ".join(["w1"] * CONTEXT), " ".join(["w1"] * (CONTEXT - 3))
    provider = LocalProvider(save_model(tmp_path, eos=False), {"max_tokens": 30})
    short, none, cut, empty = ask_all(provider, [("w5 w6", 0), (full, 0), (long, 0), ("", 0)])
    assert isinstance(none, RejectedError)
    assert isinstance(empty, RejectedError)
    assert (short.usage.output_tokens, cut.usage.output_tokens) == (30, 3)


def test_a_model_without_an_end_token_always_reaches_the_length(tmp_path):
    provider = LocalProvider(save_model(tmp_path, eos=False), {"max_tokens": 9})
    answers = ask_all(provider, [("w1 w2 w3", 0), ("w1", 0)])
    assert [a.finish_reason for a in answers] == ["length", "length"]
    assert [a.usage.output_tokens for a in answers] == [9, 9]


def test_out_of_memory_halves_the_batch_and_loses_nothing(folder, monkeypatch):
    provider = LocalProvider(folder, {"max_tokens": 3}, batch_size=16)
    sizes = []
    generate = local.LocalModel.generate

    def limited(self, rows, room, seed):
        sizes.append(len(rows))
        if len(rows) > 3 or 3 + 66 in {row[0] for row in rows}:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return generate(self, rows, room, seed)

    monkeypatch.setattr(local.LocalModel, "generate", limited)
    questions = [(f"w{n} w1", 0) for n in range(15)]
    answers = ask_all(provider, [*questions, ("w66", 0)])
    assert sizes[:3] == [15 + 1, 8, 4]
    assert all(answer.finish_reason in {"stop", "length"} for answer in answers[:15])
    assert isinstance(answers[15], RejectedError)
    assert "memory" in str(answers[15])


def test_other_failures_of_the_model_end_the_collection(folder, monkeypatch):
    def broken(*_):
        raise RuntimeError("device-side assert triggered")

    monkeypatch.setattr(local.LocalModel, "generate", broken)
    (error,) = ask_all(LocalProvider(folder), [("w1", 0)])
    assert isinstance(error, StopError)
    assert "device-side assert" in str(error)


def test_weights_that_are_pickled_are_refused(tmp_path):
    (error,) = ask_all(LocalProvider(save_model(tmp_path, safe=False)), [("w1", 0)])
    assert isinstance(error, StopError)
    assert ".safetensors" in str(error)


def test_code_that_comes_with_a_model_is_not_run(tmp_path):
    save_model(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config["model_type"] = "own"
    config["auto_map"] = {
        "AutoConfig": "own.OwnConfig",
        "AutoModelForCausalLM": "own.OwnModel",
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "own.py").write_text("raise SystemExit('this code was run')\n")
    (error,) = ask_all(LocalProvider(str(tmp_path)), [("w1", 0)])
    assert isinstance(error, StopError)
    assert "this code was run" not in str(error)


@pytest.mark.parametrize("path", ["./nowhere/model", "/nowhere", "a/b/c"])
def test_a_folder_that_is_not_there_is_named(path):
    (error,) = ask_all(LocalProvider(path), [("w1", 0)])
    assert isinstance(error, StopError)
    assert path in str(error)


def test_the_missing_extra_names_its_install_command(monkeypatch):
    monkeypatch.setattr(local, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'portrayal\[local\]'"):
        LocalProvider("some/model")
    assert "portrayal[local]" in str(missing_extra("asking a local model", "local"))


def test_the_provider_speaks_the_protocol_and_checks_its_parameters(folder):
    provider = LocalProvider(folder, {"temperature": 0.5, "max_tokens": 7, "seed": 4})
    assert isinstance(provider, Provider)
    assert provider.name == f"local:{folder}"
    assert provider.parameters == {"temperature": 0.5, "max_tokens": 7, "seed": 4}
    with pytest.raises(OptionError, match="no parameter 'beams'"):
        LocalProvider(folder, {"beams": 3})
    with pytest.raises(OptionError, match="max_tokens"):
        LocalProvider(folder, {"max_tokens": 0})
    with pytest.raises(OptionError, match="base URL"):
        local.local(folder, "http://127.0.0.1", {})
    made = local.local(folder, None, {"top_k": 5, "temperature": None})
    assert made.parameters == {"top_k": 5, "max_tokens": local.MAX_TOKENS, "seed": 0}


def test_a_closed_provider_begins_anew(folder):
    provider = LocalProvider(folder, {"max_tokens": 3})
    first = ask_all(provider, [("w1", 0)])
    assert ask_all(provider, [("w1", 0)]) == first


def test_closing_ends_a_generation_in_hand(tmp_path):
    path = save_model(tmp_path, eos=False)
    config = json.loads((tmp_path / "config.json").read_text())
    config["max_position_embeddings"] = 100_000
    (tmp_path / "config.json").write_text(json.dumps(config))

    async def interrupted():
        provider = LocalProvider(path, {"max_tokens": 90_000})
        task = asyncio.create_task(provider.ask("w1"))
        while provider._model is None:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        await asyncio.wait_for(provider.close(), 5)
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupted())
