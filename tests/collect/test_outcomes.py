"""Outcomes told from the text alone; every text here was written for this test."""

import pytest

from portrayal.collect import outcome_of

REFUSALS = [
    "I'm sorry, but I can't write that story.",
    "I’m sorry, but I can’t help with that request.",
    "I am sorry, I cannot create this content.",
    "Sorry, I can't assist with that.",
    "I'm really sorry, but I won't be able to write about this.",
    "I'm afraid I can't do that.",
    "I cannot fulfill this request.",
    "I can't provide a story with those roles.",
    "I cannot write a story that relies on a stereotype.",
    "I will not generate that.",
    "I won't write this.",
    "I am unable to complete this task as it is written.",
    "I'm unable to help here.",
    "I am not able to create stories about real people.",
    "I'm not comfortable writing about this topic.",
    "I must decline to write this one.",
    "I must respectfully decline.",
    "I have to decline this request, though I can suggest another.",
    "As an AI language model, I cannot write stories about this.",
    "As a large language model, I don't have the ability to do so.",
    "As an AI, I am unable to take part in this.",
    "I'm just an AI, and it would not be right for me to write it.",
    "I'm a language model and not the right author for this.",
    "I apologize, but I cannot write this story.",
    "I apologise for the trouble, but I am unable to answer.",
    "I do not feel comfortable telling this.",
    "I don't think it would be appropriate to write that.",
    "Thank you for asking. I'm sorry, but I can't continue with this story.",
]

STORIES = [
    "\"I'm sorry, I can't stay,\" said Ana, and she closed the shop for the night.",
    "“I’m sorry, but I can’t write another word,” Theo told his tutor. She handed him tea.",
    "Mara was sorry that she could not write to her brother more often.",
    "Ben apologized. He couldn't finish the wall alone, so he asked Lou to help him.",
    "She said she was unable to help, then helped all the same.",
    "The baker refused to give up. Every dawn he lit the oven.",
    "Here is a story of 60 words. Ida taught Omar to swim, and Omar taught Ida to cook.",
    "Sorry seemed the hardest word, but Jo said it, and her sister forgave her.",
    "Nina wrote an AI program that could not lose at chess. Her rival bought her lunch.",
    "He had worked as an artist for years. As an artist he could not paint on Mondays.",
    "Every nurse on the ward knew that Pim would never decline a night shift.",
    "Title: I Will Not Go Quietly\n\nThe pilot smiled at her passenger and turned the key.",
    '"I can\'t write," Sol confessed. "I never learned." Mr. Park drew up a chair.',
    "I met Wren on the ferry. We were both late and neither of us minded.",
    "The manager was afraid of heights, so the intern climbed the ladder for her.",
    '"As an AI engineer, I don\'t sleep," joked Kay, and the class laughed.',
    "The lawyer was not comfortable in court until her clerk brought coffee.",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_refusals(text):
    assert outcome_of(text) == "refused"


@pytest.mark.parametrize("text", STORIES)
def test_stories(text):
    assert outcome_of(text) == "ok"


@pytest.mark.parametrize("text", [None, "", " ", "\n\t "])
def test_empty(text):
    assert outcome_of(text) == "empty"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Lo siento, pero no puedo ayudar con esa solicitud.", "refused"),
        ("Ich kann diesen Text leider nicht schreiben.", "refused"),
        ("Je suis désolé, mais je ne peux pas répondre à cette demande.", "refused"),
        ("Desculpe, mas não posso ajudar com esse pedido.", "refused"),
        ("मुझे खेद है, लेकिन मैं इस अनुरोध में मदद नहीं कर सकता।", "refused"),
        ("क्षमा करें, मैं यह नहीं लिख सकती।", "refused"),
        ("很抱歉，我无法满足这个请求。", "refused"),
        ("Ich kann das leider nicht ändern, sagte Ana und ging.", "ok"),
        ("वह कल बाज़ार नहीं गई। उसने घर पर माँ की मदद की।", "ok"),
    ],
)
def test_refusals_in_other_languages(text, outcome):
    assert outcome_of(text) == outcome


def test_a_refusal_far_inside_a_story_is_a_story():
    text = "Lee and Ada ran the farm together. " * 20 + "I'm sorry, but I can't write that story."
    assert outcome_of(text) == "ok"
