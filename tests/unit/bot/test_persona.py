"""persona.md is checked at start: what is missing is named."""

from __future__ import annotations

import pytest

from bot.errors import ConfigError
from bot.persona import PLACEHOLDERS, find_persona, language_of, load_persona, parse_persona
from tests.unit.bot.company import PERSONA

TEXT = PERSONA.read_text(encoding="utf-8")


def test_the_persona_that_comes_with_the_program_is_whole():
    persona = load_persona(PERSONA)
    for language in ("ko", "en"):
        for name, fields in PLACEHOLDERS.items():
            said = persona.say(name, language, **dict.fromkeys(fields, "VALUE"))
            assert said
            assert ("VALUE" in said) == bool(fields)
    assert "Say only what stands in the numbered evidence" in persona.guidance


@pytest.mark.parametrize("heading", ["## Voice", "## Rules", "## Language", "### no_evidence", "### empty"])
def test_a_missing_section_is_named(heading):
    with pytest.raises(ConfigError) as caught:
        parse_persona(TEXT.replace(f"{heading}\n", "#### gone\n", 1), name="persona.md")
    assert "persona.md" in str(caught.value)
    assert heading.lstrip("# ") in str(caught.value)


def test_a_text_that_is_missing_in_one_language_is_named_with_the_language():
    korean, english = TEXT.split("## Texts (en)")
    with pytest.raises(ConfigError, match=r"no_model.*Texts \(en\)"):
        parse_persona(korean + "## Texts (en)" + english.replace("### no_model", "### other"), name="p")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [("{tools}", "{toolz}", "{toolz}"), ("{id}", "id", "must hold {id}"), ("{id}", "{id", "brace")],
)
def test_wrong_words_in_braces_are_named(old, new, words):
    with pytest.raises(ConfigError) as caught:
        parse_persona(TEXT.replace(old, new, 1), name="p")
    assert words in str(caught.value)


def test_a_persona_beside_the_configuration_is_preferred(tmp_path):
    config = tmp_path / "haechi.toml"
    assert find_persona(None, config).name == "persona.md"
    assert find_persona(None, config).parent != tmp_path
    (tmp_path / "persona.md").write_text(TEXT, encoding="utf-8")
    assert find_persona(None, config) == tmp_path / "persona.md"
    assert find_persona(tmp_path / "mine.md", config) == tmp_path / "mine.md"


def test_a_persona_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"gone\.md"):
        load_persona(tmp_path / "gone.md")


@pytest.mark.parametrize(
    ("question", "language"), [("연차는?", "ko"), ("PaymentRetry는 어디?", "ko"), ("Where is it?", "en"), ("42", "en")]
)
def test_the_language_of_a_question(question, language):
    assert language_of(question) == language


def test_a_changed_file_is_read_again_and_a_broken_one_is_not_taken(tmp_path):
    file = tmp_path / "persona.md"
    original = PERSONA.read_text(encoding="utf-8")
    file.write_text(original, encoding="utf-8")
    persona = load_persona(file)
    assert persona.say("thanks", "en").startswith("Glad that it helped.")
    file.write_text(original.replace("Glad that it helped.", "You are welcome!"), encoding="utf-8")
    assert persona.say("thanks", "en").startswith("You are welcome!")
    file.write_text("# nothing of it", encoding="utf-8")
    assert persona.say("thanks", "en").startswith("You are welcome!")
    file.unlink()
    assert persona.say("thanks", "en").startswith("You are welcome!")
    file.write_text(original.replace("calm, brief", "cheerful, brief"), encoding="utf-8")
    assert "cheerful, brief" in persona.guidance
