"""The kind `classes`: a score for each class."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import ClassVar, Literal, Self

from packager.contract.kind import AttachedOutput, Core
from packager.contract.labels import labels_for
from packager.contract.scores import TEXTS, Activation, activated, batch_rows, row
from packager.core.contract import LOWEST, ClassesOutput
from packager.core.errors import ConfigError, SettingError
from packager.core.signature import ElementType, TensorSpec
from packager.core.strict_tables import STRICT
from packager.graph.writer import Writer


@dataclass(frozen=True, kw_only=True)
class Classes:
    """One score for each class: `[1, n]`, `[n]` or `[1, n, 1, 1]`.

    The graph returns all of them after the activation, as float [n]. Apps get the best `top_k` of those that are not
    below `threshold`, best first, ties by index. NaN is always below.
    """

    KIND: ClassVar[str] = "classes"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["classes"] = "classes"
    """kind of the output"""
    activation: Activation
    """activation that turns the model's output into probabilities: `softmax` of logits if one class is right, `sigmoid`
    if several may be, `none` if the model includes it"""
    labels: Path | None = None
    """file with one class name per line, in the model's order"""
    top_k: int = 5
    """number of classes that apps get by default"""
    threshold: float | None = None
    """smallest score of reported classes; default: none"""

    def __post_init__(self) -> None:
        """Raises SettingError."""
        if self.top_k < 1:
            raise SettingError(f"top-k {self.top_k} is less than 1", hint="omit it for the default, 5")
        if self.threshold is not None and not isfinite(self.threshold):
            raise SettingError(f"threshold {self.threshold} is not a score", hint="omit it to get every class")
        if self.threshold is not None and self.activation != "none" and not 0 <= self.threshold <= 1:
            raise SettingError(f"threshold {self.threshold:g} is not a probability", hint="use a number from 0 to 1")

    def within(self, folder: Path) -> Self:
        return replace(self, labels=folder / self.labels) if self.labels else self

    def attach(self, writer: Writer, spec: TensorSpec, core: Core) -> AttachedOutput:
        numbers, count = (batch_rows if core.is_batch else row)(writer, spec, what="classes")
        if count == 1 and self.activation == "softmax":
            raise ConfigError("the softmax of a single class is always 1", hint='use activation = "sigmoid"')
        shape = (TEXTS, count) if core.is_batch else (count,)
        typed = ClassesOutput(
            identifier=spec.identifier,
            scores=writer.output(activated(writer, numbers, self.activation), "scores", ElementType.FLOAT, shape),
            labels=labels_for(self.labels, count),
            top_k=min(self.top_k, count),
            threshold=self._threshold(),
        )
        return AttachedOutput(typed=typed, taken=(spec.name,), is_batch=core.is_batch)

    def _threshold(self) -> float:
        if self.threshold is not None:
            return self.threshold
        return LOWEST if self.activation == "none" else 0.0
