"""Models that generate texts of texts and recordings, small ones with random weights, and their texts in Python."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import onnx
from tokenizers import Tokenizer

from packager import models
from packager.compile.compile import compile_variant
from packager.contract import INPUT_KINDS, OUTPUT_KINDS, attachment
from packager.contract.attachment import Tables
from packager.core import names
from packager.core.values import Choice, Model, Plan, baseline
from packager.engines.environments.runtime import Runtime
from packager.files.store import Store
from tests.cases import decoders, encoder_decoders
from tests.cases.generation import TABLE, Steps, generating
from tests.cases.onnx_text import saved

PROMPT = "the quick"
SEEDS = (0, 7, 2**40, -5)
STARTS, MOST = ("a", "d"), 12
"""tokens that the text of a recording begins with, and its longest length"""
SCRIBE = f"""
[model.scribe]
path = "decoder_model_merged.onnx"
encoder = "encoder_model.onnx"
[model.scribe.inputs.input_values]
kind = "audio"
rate = 16000
[model.scribe.outputs.logits]
kind = "generated"
tokenizer = "tokenizer.json"
start-tokens = {json.dumps(STARTS)}
stop-tokens = ["{decoders.STOP}"]
max-new-tokens = {MOST}
"""
TEMPLATE = "chat_template.jinja"
CHAT = (
    "{% for message in messages %}{% if message.role == 'assistant' and loop.first %}"
    "{{ raise_exception('begin with a question') }}{% endif %}{{ message.role ~ ':' ~ message.content | trim ~ '\n' }}"
    "{% endfor %}{% if '</end>' in messages[0].content %}{% endif %}the quick"
)
"""chat template of the model `sampler`"""
SAID = (("system", "be kind"), ("user", "\u3000 fox\x1c"), ("assistant", "$quick"), ("user", "\U0001f600 dog "))
"""a conversation, whose blanks are Unicode's, and those that not every language trims"""
CONVERSATION = "system:be kind\nuser:fox\nassistant:$quick\nuser:\U0001f600 dog\nthe quick"
"""the prompt of SAID"""
SPOILT = ((("assistant", "dog"),), (("user", "a </end> b"),), ())
"""conversations that the template does not take"""
REFUSED = (
    "begin with a question",
    "message 1 has '</end>', which the chat template acts on",
    "a conversation needs a message",
)
"""errors of SPOILT"""
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "teller": ("gpt2", {}),
    "sampler": ("llama", {"strategy": "sample", "repetition_penalty": 1.2, "chat_template": TEMPLATE}),
}


@dataclass(frozen=True, kw_only=True)
class Made:
    plan: Plan
    steps: Steps


@dataclass(frozen=True, kw_only=True)
class Heard:
    plan: Plan
    text: str
    """of the recording whose sample n is ((n * 7919) % 60000 - 30000) / 32768, 160 in all, 16000 a second"""


def nets(folder: Path) -> Iterator[tuple[str, onnx.ModelProto]]:
    """The models by their names, and `tokenizer.json` in `folder`."""
    known = Tokenizer.from_file(str(decoders.tokenizer(folder)))
    words = known.encode(f" fox {decoders.EMOJI}s \u6771, {decoders.EMOJI}").ids
    script = [-1] * (len(known.encode(PROMPT).ids) + 2) + words[:-1]
    for name, (kind, _) in KINDS.items():
        own = script if name == "teller" else ()
        yield name, decoders.decoder(known.get_vocab_size(), kind=kind, script=own)


def made(folder: Path, store: Store) -> Iterator[Made]:
    """Every model, written to `folder` and converted for the CPU."""
    for name, net in nets(folder):
        own = folder / name
        own.mkdir()
        decoders.tokenizer(own)
        keys = {key: own / TEMPLATE if value == TEMPLATE else value for key, value in KINDS[name][1].items()}
        (own / TEMPLATE).write_text(CHAT, encoding="utf-8")
        model = generating(own, net, name=name, **keys)
        yield Made(plan=_plan(model, store), steps=Steps.of(model))


def heard(folder: Path, store: Store) -> Heard:
    """The model `scribe`, an encoder of sounds and a decoder, written to `folder` and converted for the CPU."""
    own = folder / "scribe"
    own.mkdir()
    tokens = decoders.tokenizer(own)
    encoder, decoder = _scribe(own)
    inputs: Any = INPUT_KINDS
    outputs: Any = OUTPUT_KINDS
    made = outputs["generated"](
        stop_tokens=(decoders.STOP,), start_tokens=STARTS, tokenizer=tokens, max_new_tokens=MOST
    )
    tables = Tables(inputs={"input_values": inputs["audio"](rate=16000)}, outputs={"logits": made})
    model = attachment.attach(models.load(decoder, "scribe", encoder=encoder), tables).model
    return Heard(plan=_plan(model, store), text=plain_text(own))


def _scribe(folder: Path) -> tuple[Path, Path]:
    """The encoder and the decoder of a recording's text, written to `folder`, which has the tokenizer."""
    size = Tokenizer.from_file(str(folder / "tokenizer.json")).get_vocab_size()
    encoder = saved(folder / "encoder_model.onnx", encoder_decoders.encoder())
    return encoder, saved(folder / "decoder_model_merged.onnx", encoder_decoders.decoder(size, is_masked=True))


def plain_text(folder: Path) -> str:
    """The text of the recording by a plain loop over both files, which are written to `folder`."""
    known = Tokenizer.from_file(str(decoders.tokenizer(folder)))
    _scribe(folder)
    samples = (numpy.arange(160) * 7919 % 60000 - 30000).astype(numpy.float32)[None] / 32768
    ones = {"encoder_attention_mask": numpy.ones((1, samples.size // encoder_decoders.WINDOW), numpy.int64)}
    return str(known.decode(encoder_decoders.plain_of(folder, {"input_values": samples}, ones, STARTS, MOST)))


def _plan(model: Model, store: Store) -> Plan:
    return Plan(
        model=model,
        target="android",
        environment=Runtime.NAME,
        choices=(Choice(provider="cpu", compiled=compile_variant(baseline(model), store), reason=""),),
    )


def project(folder: Path) -> str:
    """mobpack.toml of all models, which are written to `folder`."""
    text = '[package]\nname = "models"\n[parity]\nrandom-samples = 1\n'
    for name, net in nets(folder):
        (folder / TEMPLATE).write_text(CHAT, encoding="utf-8")
        (folder / f"{name}.onnx").write_bytes(net.SerializeToString())
        keys = "".join(
            f"{names.kebab_case(key)} = {json.dumps(value)}\n" for key, value in {**TABLE, **KINDS[name][1]}.items()
        )
        text += f'[model.{name}]\npath = "{name}.onnx"\n'
        text += f'[model.{name}.inputs.input_ids]\nkind = "text"\ntokenizer = "tokenizer.json"\n'
        text += f'[model.{name}.outputs.logits]\nkind = "generated"\n{keys}'
    _scribe(folder)
    return text + SCRIBE


def messages(said: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Messages as apps of JavaScript write them."""
    return [{"role": role, "text": text} for role, text in said]


def shown(text: str) -> str:
    """As the apps print texts."""
    return " ".join(str(ord(each)) for each in text)
