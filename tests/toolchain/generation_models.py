"""Models that generate texts, small ones with random weights, and their texts in Python."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
from tokenizers import Tokenizer

from packager.compile.compile import compile_variant
from packager.core import names
from packager.core.values import Choice, Plan, baseline
from packager.environments.runtime import Runtime
from packager.files.store import Store
from tests import decoders
from tests.generation import TABLE, Steps, generating

PROMPT = "the quick"
SEEDS = (0, 7, 2**40, -5)
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "teller": ("gpt2", {}),
    "sampler": ("llama", {"strategy": "sample", "repetition_penalty": 1.2}),
}


@dataclass(frozen=True, kw_only=True)
class Made:
    plan: Plan
    steps: Steps


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
        model = generating(own, net, name=name, **KINDS[name][1])
        plan = Plan(
            model=model,
            target="android",
            environment=Runtime.NAME,
            choices=(Choice(provider="cpu", compiled=compile_variant(baseline(model), store), reason=""),),
        )
        yield Made(plan=plan, steps=Steps.of(model))


def project(folder: Path) -> str:
    """mobpack.toml of all models, which are written to `folder`."""
    text = '[package]\nname = "models"\n[parity]\nrandom-samples = 1\n'
    for name, net in nets(folder):
        (folder / f"{name}.onnx").write_bytes(net.SerializeToString())
        keys = "".join(
            f"{names.kebab_case(key)} = {json.dumps(value)}\n" for key, value in {**TABLE, **KINDS[name][1]}.items()
        )
        text += f'[model.{name}]\npath = "{name}.onnx"\n'
        text += f'[model.{name}.inputs.input_ids]\nkind = "text"\ntokenizer = "tokenizer.json"\n'
        text += f'[model.{name}.outputs.logits]\nkind = "generated"\n{keys}'
    return text


def shown(text: str) -> str:
    """As the apps print texts."""
    return " ".join(str(ord(each)) for each in text)
