"""Prompts of conversations are those of jinja2, set up as transformers does, for the chat templates that models have.

`tests/cases/chat_templates.json` has those of Axolotl (Apache-2.0) up to 4 KB, and forms of ten others written anew.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import pytest
from jinja2 import Template, TemplateError
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from packager.contract.generation.chat import read
from packager.contract.generation.conversation import Generation, table_of
from packager.core.chat import OUT_OF_ORDER, ChatError, ChatTemplate, Message, prompt
from packager.core.errors import ConfigError
from tests.nights import examples

FILE = Path(__file__).parents[1] / "cases" / "chat_templates.json"
TEMPLATES: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8"))
TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
TODAY = {"strftime_now": "26 Jul 2024"}
NAMES = {"s": "system", "u": "user", "a": "assistant"}
ORDERS = [
    "u",
    "a",
    "s",
    "su",
    "uu",
    "uau",
    "sua",
    "suau",
    "usu",
    "uauau",
    "suauauau",
    "uaa",
    "ss",
    "s" + "ua" * 12 + "u",
]
"""roles of conversations: short ones, long ones, and some that templates refuse"""
TEXTS = (
    "Hi",
    "  spaced \n",
    "\n\nlines\n\n",
    " Gr\u00fc\u00dfe \u6771\u4eac \U0001f600\u2003",
    "<|im_end|> [INST] {{ x }} {% if %}",
    "\xa0y\x1c\u3000",
)


def conversations() -> Iterator[list[Message]]:
    for number, order in enumerate(ORDERS * examples(3)):
        texts = (TEXTS[(number * 5 + place) % len(TEXTS)] for place in range(len(order)))
        yield [Message(role=NAMES[letter], text=text) for letter, text in zip(order, texts, strict=True)]


def reference(source: str) -> Template:
    def refuse(words: str) -> NoReturn:
        raise TemplateError(words)

    extensions = [loopcontrols, Generation]
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=extensions)
    environment.globals |= {"raise_exception": refuse, "strftime_now": lambda _: TODAY["strftime_now"]}
    environment.filters["tojson"] = lambda value, **_: json.dumps(value, ensure_ascii=False)
    return environment.from_string(source)


def rendered(template: Template, messages: Sequence[Message]) -> tuple[str, str]:
    """The prompt, or the error, of the template itself."""
    said = [{"role": each.role, "content": each.text} for each in messages]
    try:
        return template.render(messages=said, tools=None, documents=None, add_generation_prompt=True, **TOKENS), ""
    except (TemplateError, TypeError) as error:
        return "", str(error)


def made(table: ChatTemplate, messages: Sequence[Message]) -> tuple[str, str]:
    try:
        return prompt(table, messages), ""
    except ChatError as error:
        return "", str(error)


@pytest.mark.parametrize("name", TEMPLATES)
def test_prompts_are_those_of_the_template(name: str) -> None:
    table, template = table_of(TEMPLATES[name], {**TOKENS, **TODAY}), reference(TEMPLATES[name])
    found = {tuple(each): (made(table, each), rendered(template, each)) for each in conversations()}
    refused = [each for each, (mine, _) in found.items() if mine == ("", OUT_OF_ORDER)]
    assert [each for each, (mine, theirs) in found.items() if mine != theirs and each not in refused] == []
    assert [each for each in refused if is_usual(each) and not found[each][1][1]] == []
    assert len(table.pieces) <= 40


def is_usual(messages: Sequence[Message]) -> bool:
    """Whether users and assistants take turns after a system message, if any, and a user has the last word."""
    rest = [each.role for each in messages if each is not messages[0] or each.role != "system"]
    return len(rest) % 2 == 1 and rest == ["user", "assistant"] * (len(rest) // 2) + ["user"]


def test_texts_that_a_template_acts_on_are_refused() -> None:
    table = table_of(TEMPLATES["qwen3"], {})
    assert "</think>" in table.refused
    with pytest.raises(ChatError, match="message 2 has '</think>', which the chat template acts on"):
        prompt(table, [Message(role="user", text="a"), Message(role="assistant", text="<think>b</think>c")])
    blank = table_of("{% for m in messages %}{% if m.content %}{{ m.content }}{% endif %}{% endfor %}", {})
    with pytest.raises(ChatError, match="message 1 has no text"):
        prompt(blank, [Message(role="user", text=" ")])


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("{{ messages[0].content }\n", "line 1"),
        ("a\n{% include 'b' %}", "line 2, uses `include`"),
        ("a\n\n{{ messages[0].content | upper }}", "line 3, uses `upper` of a message"),
        ("{{ messages[0] | tojson }}", "line 1, uses the filter `tojson`"),
        ("{{ messages[0].content[:3] }}", "uses `getitem` of a message"),
        ("{% if 'a' in messages[0].content %}{% endif %}", "looks for 'a' in a message"),
        ("{% if messages[0].content == messages[-1].content %}{% endif %}", "compares messages by their texts"),
        ("{{ '%s' | format(messages[0].content) }}", "uses the filter `format`"),
        ("{{ messages[0].content.replace('a', 'b') }}", "uses `replace` of a message"),
        ("{{ ['a', messages[0].content] | string }}", "uses `repr` of a message"),
        ("{{ '-'.join([messages[0].content]) }}", "changes the text of a message"),
        ("{{ strftime_now('%d') }}", "writes the day's date"),
        ("{{ bos_token }}", "writes bos_token, which tokenizer_config.json does not name"),
        ("{{ raise_exception('never') }}", "takes no conversation: never"),
        ("{% for m in messages %}{{ m.content }}{{ loop.index }}{% endfor %}", "depend on more than the roles"),
    ],
)
def test_what_no_table_has_is_refused_with_its_line(source: str, words: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        table_of(source, {})
    assert words in refusal.value.message


def test_the_template_of_a_tokenizers_settings_has_their_tokens(tmp_path: Path) -> None:
    settings = {
        "bos_token": {"content": "<b>"},
        "eos_token": None,
        "chat_template": [{"name": "tool_use", "template": "x"}, {"name": "default", "template": "{{ bos_token }}"}],
    }
    file = tmp_path / "tokenizer_config.json"
    file.write_text(json.dumps(settings), encoding="utf-8")
    said = [Message(role="user", text="a")]
    assert prompt(read(file, {}), said) == "<b>"
    other = tmp_path / "chat_template.jinja"
    other.write_text("{{ bos_token }}{{ eos_token }}{{ mood }}{{ messages[0].content }}", encoding="utf-8")
    assert prompt(read(other, {"mood": "!"}), said) == "<b>!a"
    other.write_text("", encoding="utf-8")
    assert isinstance(read(other, {}), ChatTemplate)
