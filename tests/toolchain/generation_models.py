"""Models that generate texts, small ones with random weights, and their texts in Python."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from packager.compile.compile import compile_variant
from packager.core.values import Choice, Plan, baseline
from packager.environments.runtime import Runtime
from packager.files.store import Store
from tests import decoders
from tests.generation import Steps, generating

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


def made(folder: Path, store: Store, **keys: Any) -> Iterator[Made]:
    """Every model, written to `folder` and converted for the CPU; `keys` replace those of its plan."""
    known = Tokenizer.from_file(str(decoders.tokenizer(folder)))
    words = known.encode(f" fox {decoders.EMOJI}s \u6771, {decoders.EMOJI}").ids
    script = [-1] * (len(known.encode(PROMPT).ids) + 2) + words[:-1]
    for name, (kind, table) in KINDS.items():
        own = folder / name
        own.mkdir()
        decoders.tokenizer(own)
        net = decoders.decoder(known.get_vocab_size(), kind=kind, script=script if name == "teller" else ())
        model = generating(own, net, name=name, **table)
        file = compile_variant(baseline(model), store)
        plan = Plan(
            model=model,
            target="android",
            environment=Runtime.NAME,
            choices=(Choice(provider="cpu", compiled=file, reason=""),),
        )
        yield Made(plan=replace(plan, **keys), steps=Steps.of(model))


def shown(text: str) -> str:
    """As the apps print texts."""
    return " ".join(str(ord(each)) for each in text)
