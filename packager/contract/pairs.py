"""The kind `pairs`: a score that says how well a document fits a query."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Self

from packager.contract.kind import AttachedOutput, Core
from packager.contract.scores import TEXTS, Activation, activated, batch_rows, row
from packager.contract.texts import texts_of
from packager.core.contract import PairsOutput
from packager.core.errors import ConfigError, SettingError
from packager.core.signature import ElementType, TensorSpec
from packager.core.strict_tables import STRICT
from packager.graph.writer import Writer


@dataclass(frozen=True, kw_only=True)
class PairScore:
    """A score of a query and a document, of a cross-encoder: `[1, 1]`, `[1]`, or one for each of two classes, `[1, 2]`.

    The graph returns it after the activation, as float [1].
    """

    KIND: ClassVar[str] = "pairs"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["pairs"] = "pairs"
    """kind of the output"""
    activation: Activation
    """activation that turns the model's output into a probability: `sigmoid` of one number, `softmax` of two, or `none`
    for the number as it is"""
    relevant: int | None = None
    """of two classes: the one of documents that fit, 0 or 1; default: 1"""
    text: str = ""
    """the input with the query and the document, if there are several"""

    def __post_init__(self) -> None:
        """Raises SettingError."""
        if self.relevant not in (None, 0, 1):
            raise SettingError(f"relevant {self.relevant} is not one of two classes", hint="use 0 or 1")

    def within(self, folder: Path) -> Self:
        return self

    def attach(self, writer: Writer, spec: TensorSpec, core: Core) -> AttachedOutput:
        numbers, count = (batch_rows if core.is_batch else row)(writer, spec, what="scores")
        self._refuse_unfit(count)
        query, document = texts_of(core, self.text, texts=2)
        score = activated(writer, numbers, self.activation)
        if count == 2:
            axis = {"axis": 1} if core.is_batch else {}
            score = writer.node("Gather", score, [1 if self.relevant is None else self.relevant], **axis)
        if core.is_batch:
            score = writer.node("Reshape", score, [-1])
        typed = PairsOutput(
            identifier=spec.identifier,
            score=writer.output(score, "score", ElementType.FLOAT, (TEXTS,) if core.is_batch else (1,)),
            query=query,
            document=document,
        )
        return AttachedOutput(typed=typed, taken=(spec.name,), is_batch=core.is_batch)

    def _refuse_unfit(self, count: int) -> None:
        if count > 2:
            raise ConfigError(f"the output has {count} scores, not one or two", hint='use kind = "classes"')
        if count == 1 and self.relevant is not None:
            raise ConfigError("relevant has no effect on a single score", hint="omit it")
        if count == 1 and self.activation == "softmax":
            raise ConfigError("the softmax of a single score is always 1", hint='use activation = "sigmoid" or "none"')
