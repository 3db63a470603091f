"""The model card of mobpack.toml: what a project says about a model, for its bill of materials."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from packager.core import licenses
from packager.core.errors import SettingError
from packager.core.strict_tables import STRICT

ADDRESS = re.compile(r"(https?://[^\s\"<>]+)?")


def _refuse_address(key: str, text: str) -> None:
    if not ADDRESS.fullmatch(text):
        raise SettingError(f"{key} '{text}' is not an address", hint="use one that begins with https://")


def _refuse_license(text: str) -> None:
    if text and not licenses.normalized(text):
        raise SettingError(
            f"license '{text}' is not an SPDX expression",
            hint=f'for example "Apache-2.0", "MIT OR GPL-3.0-only"; terms of your own: "{licenses.OWN_TERMS}NAME"',
        )


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Data that a model was trained or tested on."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    name: str
    """name of the data: `"ImageNet-1k"`"""
    url: str = ""
    """where they are described"""
    license: str = ""
    """SPDX expression of the data's licence"""
    use: str = "training"
    """use of the data: `training`, `fine-tuning`, `evaluation`"""
    description: str = ""
    """their contents, and how they were gathered"""
    sensitive: tuple[str, ...] = ()
    """sensitive contents: `["faces"]`"""

    def __post_init__(self) -> None:
        """Raises SettingError for invalid values."""
        _refuse_address("url", self.url)
        _refuse_license(self.license)


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A figure that the project has measured or quotes; mobpack's own measurements are added to it."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    name: str
    """name of the figure: `"top-1 accuracy"`"""
    value: float | str
    """the figure: `0.94`, `"94.1 %"`"""
    on: str = ""
    """data that it was measured on"""


@dataclass(frozen=True, kw_only=True)
class Card:
    """Facts about a model that only its project knows. All are optional."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    license: str = ""
    """SPDX expression of the model's licence, its weights included: `"Apache-2.0"`"""
    version: str = ""
    """version of the model, where it has one of its own"""
    source: str = ""
    """where the model comes from: an address"""
    author: str = ""
    """who made the model"""
    description: str = ""
    """description of the model, one sentence"""
    task: str = ""
    """task of the model; default: derived from its contract, `image to classes`"""
    architecture: str = ""
    """architecture of the net: `"PP-LCNet"`"""
    learning: str = ""
    """way of learning: `supervised`, `unsupervised`, `reinforcement-learning`, `semi-supervised`, `self-supervised`"""
    datasets: tuple[Dataset, ...] = ()
    """data that it was trained and tested on: `[[model.NAME.card.datasets]]`"""
    metrics: tuple[Metric, ...] = ()
    """figures of its accuracy: `[[model.NAME.card.metrics]]`"""
    users: tuple[str, ...] = ()
    """people it is meant for"""
    uses: tuple[str, ...] = ()
    """tasks it is meant for"""
    limits: tuple[str, ...] = ()
    """inputs and conditions under which it is wrong, or was never tried"""
    trade_offs: tuple[str, ...] = ()
    """accuracy that was given up for speed or size, or the reverse"""
    ethics: tuple[str, ...] = ()
    """risks to people, and groups for which it works worse"""

    def __post_init__(self) -> None:
        """Raises SettingError for invalid values."""
        _refuse_license(self.license)
        _refuse_address("source", self.source)
        if self.learning not in LEARNING:
            raise SettingError(f"learning '{self.learning}' is unknown", hint=f"one of {', '.join(LEARNING[1:])}")


LEARNING = ("", "supervised", "unsupervised", "reinforcement-learning", "semi-supervised", "self-supervised")
"""Ways of learning that CycloneDX knows"""
NO_CARD = Card()
