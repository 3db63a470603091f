"""Results of comparisons, kept in the user's cache from one run to the next."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome for a tokenizer."""

    name: str
    date: str
    version: str
    """of Hugging Face's library"""
    refusal: str = ""
    """why mobpack does not take it; empty if it does"""
    tokens: int = 0
    """size of the vocabulary, with added tokens"""
    model_bytes: int = 0
    """the tokenizer's graph"""
    texts: int = 0
    pairs: int = 0
    different: Mapping[str, int] | None = None
    """texts whose tokens differ, by kind"""

    @property
    def differences(self) -> int:
        return sum((self.different or {}).values())


def keep(outcome: Outcome, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(outcome), indent=1)
    (folder / f"{outcome.name}.json").write_text(text, encoding="utf-8")


def kept(name: str, folder: Path) -> Outcome | None:
    path = folder / f"{name}.json"
    return Outcome(**json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None
