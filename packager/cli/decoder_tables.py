"""Proposes tables of mobpack.toml for a language model: a decoder alone, which goes on with a text."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from packager.cli.encoder_tables import LEFT_OUT, LOGITS, ids_of, names_of
from packager.cli.text_files import Beside
from packager.cli.text_tables import IDS, Table, Value, proved

if TYPE_CHECKING:
    from packager.core.values import Model

ARCHITECTURES = ("ForCausalLM", "LMHeadModel")
"""end names of classes of transformers that are language models"""


def proposals(model: "Model") -> list[Table]:
    """Tables for the prompt and the text; none for other models."""
    about = Beside.of(model.path)
    inputs = {spec.name for spec in model.signature.inputs}
    outputs = {spec.name: spec for spec in model.signature.outputs}
    if IDS[0] not in inputs or len(outputs[LOGITS].shape if LOGITS in outputs else ()) != 3:
        return []
    if not _is_named(about) and not _has_caches(model):
        return []
    doubt = "" if about.tokenizer else "no tokenizer lies beside the model"
    keys: dict[str, Value] = {"kind": "text", "tokenizer": about.tokenizer or "tokenizer.json"}
    comments = {IDS[0]: "apps pass strings: docs/text.md"}
    text = Table(side="inputs", name=IDS[0], keys=keys, comments=comments, doubt=doubt)
    plain, template = _output(about), _template(about)
    if template is None:
        return proved(model, [text, plain], about)
    tables = proved(model, [text, _with_chat(plain, template)], about)
    return tables if not tables[1].doubt else proved(model, [text, _without(plain, tables[1].doubt)], about)


def _is_named(about: Beside) -> bool:
    named = about.config.get("architectures")
    return isinstance(named, list) and any(str(each).endswith(ARCHITECTURES) for each in named)


def _has_caches(model: "Model") -> bool:
    """Whether the model keeps what it made of earlier tokens, and goes on with nothing but a text."""
    from packager.models.joining import HIDDEN
    from packager.samples.states import states_of

    return HIDDEN not in {spec.name for spec in model.signature.inputs} and bool(states_of(model))


def _output(about: Beside) -> Table:
    settings = {**about.config, **about.generation}
    stops, (names, doubt) = ids_of(settings.get("eos_token_id")), names_of(about)
    keys: dict[str, Value] = {"kind": "generated", "stop-tokens": [names.get(each, f"<{each}>") for each in stops]}
    most = settings.get("max_new_tokens")
    if isinstance(most, int) and most > 0:
        keys["max-new-tokens"] = most
    comments = {LOGITS: "a text, part by part", "stop-tokens": "end the text"}
    left_out = [key for key in LEFT_OUT if about.generation.get(key)]
    if left_out:
        doubt = f"generation_config.json has {', '.join(left_out)}, which no key here replaces"
    if not stops:
        doubt = "neither generation_config.json nor config.json has eos_token_id"
    return Table(side="outputs", name=LOGITS, keys=keys, comments=comments, doubt=doubt)


def _with_chat(output: Table, template: Path) -> Table:
    words = {"chat-template": "apps pass conversations: docs/generation.md"}
    return replace(output, keys={**output.keys, "chat-template": template}, comments={**output.comments, **words})


def _without(output: Table, reason: str) -> Table:
    """`output` for a model whose chat template is refused."""
    return replace(output, comments={**output.comments, LOGITS: f"a text, part by part; no chat-template: {reason}"})


def _template(about: Beside) -> Path | None:
    """The file with the model's chat template; None for a model without."""
    if about.tokenizer is None:
        return None
    file = about.tokenizer.with_name("chat_template.jinja")
    if file.is_file():
        return file
    return about.tokenizer.with_name("tokenizer_config.json") if about.settings.get("chat_template") else None
