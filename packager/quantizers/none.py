"""Ships the model in its own precision."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from packager.core.strict_tables import STRICT
from packager.graph.rewriting.draft import Draft


@dataclass(frozen=True, kw_only=True)
class NoQuantizer:
    NAME: ClassVar[str] = "none"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    quantizer: Literal["none"] = "none"
    """how the variant is made"""

    def quantize(self, draft: Draft) -> None:
        """Leaves the graph unchanged."""
