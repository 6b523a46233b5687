"""Headers as people have them: which column is read as prompt, text and model, or asked about."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.collect.fields import TextFields, find_columns, map_columns, parse_columns
from portrayal.errors import DataError, OptionError

FIELDS = ("text", "text_id", "prompt", "prompt_id", "model", "outcome")

READ = [
    "prompt,text,model",
    "Prompt,Output,LLM",
    "PROMPT,RESPONSE,MODEL",
    "prompt,completion,model_name",
    "prompt,generated_text,model_id",
    "query,response,model",
    "Query,Response,Model",
    "instruction,output,model",
    "Instruction,Completion,Model Name",
    "input,output,model",
    "Input Text,Output Text,Engine",
    "question,answer,llm",
    "Question,Answer,Language Model",
    "prompt_text,response_text,model-name",
    "user_prompt,model_response,model_id",
    "User Prompt,Model Response,Model",
    "userPrompt,modelOutput,modelName",
    "prompt,generation,engine",
    "Prompts,Responses,Models",
    "prompt,story,llm_name",
    "Prompt used,Story text,Model used",
    "prompt,content,model",
    "request,reply,chatbot",
    "full_prompt,llm_response,llm_model",
    "prompt,AI Response,AI Model",
    "  prompt , text ,  model ",
    "ＰＲＯＭＰＴ,Ｏｕｔｐｕｔ,ＭＯＤＥＬ",  # full width
    "Eingabe,Antwort,Modell",
    "pregunta,respuesta,modelo",
    "prompt,réponse,modèle",
    "提示,回答,模型",
    "prompt,model_output,source_model",
    "prompt,prediction,generated_by",
    "user_message,completion_text,llm",
    "prompt.text,generated.text,model.id",
]
"""Headers of prompt, text and model, in this order."""

ASKED = [
    "prompt,output,response,model",
    "instruction,input,output,model",
    "prompt,text,model_name,model_id",
    "prompt,body of the tale,model",
]
"""Headers of which one column cannot be told."""


@pytest.mark.parametrize("header", READ)
def test_what_people_write_is_read_right(header: str) -> None:
    prompt, text, model = columns = header.split(",")
    found = find_columns(FIELDS, ["row", *columns, "notes"], needed=("text",))
    assert (found["prompt"], found["text"], found["model"]) == (prompt, text, model)
    assert "notes" not in found.values()


@pytest.mark.parametrize("header", ASKED)
def test_what_cannot_be_told_is_asked(header: str) -> None:
    with pytest.raises(DataError, match=r"--column (text|prompt|model)="):
        find_columns(FIELDS, header.split(","), needed=("text",))


def test_thirty_headers_are_tried() -> None:
    assert len(READ) >= 30


def test_what_was_guessed_is_said_and_a_models_name_is_not_passed_over(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("portrayal"), "propagate", True)
    caplog.set_level(logging.INFO, "portrayal")
    find_columns(FIELDS, ["Prompt", "Output", "LLM"], file="a.csv")
    assert list(dict.fromkeys(caplog.messages)) == [
        "a.csv: read as text = Output, prompt = Prompt, model = LLM"
    ]
    caplog.clear()
    find_columns(FIELDS, ["text", "GPT version"], file="a.csv")
    assert "'GPT version' looks like a model's name" in caplog.text
    caplog.clear()
    find_columns(FIELDS, ["text", "prompt", "model", "model_version"], file="a.csv")
    assert not caplog.messages


def test_the_users_word_wins() -> None:
    found = find_columns(FIELDS, ["output", "response"], columns=["text=response"])
    assert found == {"text": "response"}
    study = TextFields(strata=("domain",), required=())
    assert map_columns(study, ["Output", "Domain"]) == {"text": "Output", "domain": "Domain"}


def test_a_columns_name_may_hold_commas() -> None:
    assert parse_columns(["text=said, in full,model=who"]) == {
        "text": "said, in full",
        "model": "who",
    }
    with pytest.raises(OptionError, match="text is mapped to two columns"):
        parse_columns(["text=a", "text=b"])


@given(st.text(st.characters(categories=("Ll", "Lo", "Mn", "Mc")), min_size=1, max_size=12))
def test_a_name_in_any_script_finds_itself_whatever_its_case_and_blanks(name: str) -> None:
    spelled = f" {name.upper()} "
    if spelled.casefold().strip() != name.casefold():
        return  # letters whose capital is another letter
    found = find_columns([name], [spelled, "text"])
    assert name == "text" or found == {name: spelled}
