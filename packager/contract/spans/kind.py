"""The kind `spans`: named parts of a text, such as people and places."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import ClassVar, Literal, Self

from packager.contract.kind import AttachedOutput, Core
from packager.contract.labels import labels_for
from packager.contract.scores import Activation, activated, in_words, rows
from packager.contract.spans import merging
from packager.contract.spans.merging import Aggregation
from packager.contract.spans.schemes import Scheme, tags
from packager.contract.texts import tokens_of
from packager.core.contract import SpansOutput
from packager.core.errors import ConfigError, SettingError
from packager.core.signature import ElementType, TensorSpec
from packager.core.strict_tables import STRICT
from packager.graph.writer import Writer


@dataclass(frozen=True, kw_only=True)
class Spans:
    """A score for each label of each token of a text: `[1, tokens, labels]` or `[tokens, labels]`.

    Each token of the text has its best label, of equal ones the first. Tokens in a row whose labels have the same name
    are a span, unless the scheme says that another one begins or ends between them. Its score is the mean of theirs.
    Special tokens and padding count as nothing. The same as transformers' token-classification pipeline.
    """

    KIND: ClassVar[str] = "spans"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["spans"] = "spans"
    """kind of the output"""
    labels: Path
    """file with one label per line, in the model's order: `O`, `B-PER`, `I-PER`"""
    scheme: Scheme = "auto"
    """prefixes of the labels: `bio` is B- and I-, as IOB1 and IOB2 have them; `bilou` has L- and U-, or E- and S-, too;
    `plain` has none. `auto` follows the labels"""
    outside: str = "O"
    """label of tokens outside of spans"""
    activation: Activation = "softmax"
    """activation that turns the model's output into probabilities; `none` if the model includes it"""
    aggregation: Aggregation = "simple"
    """pieces that have a label each: `simple` takes tokens, the others take words, with the scores of a word's `first`
    token, the `average` of them, or those of the token with the best score (`max`), as in transformers"""
    threshold: float | None = None
    """smallest score of reported spans; default: none"""
    text: str = ""
    """the input with the text, if there are several"""

    def __post_init__(self) -> None:
        """Raises SettingError."""
        if self.threshold is not None and not isfinite(self.threshold):
            raise SettingError(f"threshold {self.threshold} is not a score", hint="omit it to get every span")
        if self.threshold is not None and self.activation != "none" and not 0 <= self.threshold <= 1:
            raise SettingError(f"threshold {self.threshold:g} is not a probability", hint="use a number from 0 to 1")

    def within(self, folder: Path) -> Self:
        return replace(self, labels=folder / self.labels)

    def attach(self, writer: Writer, spec: TensorSpec, core: Core) -> AttachedOutput:
        count = _labels_of(spec)
        labels = tags(labels_for(self.labels, count), self.scheme, self.outside)
        names = tuple(dict.fromkeys(each.name for each in labels if each.name))
        tokens = tokens_of(core, self.text, texts=1)
        writer = replace(writer, flat=tokens.flat)
        table = rows(writer, spec, count)
        pieces = merging.pieces(writer, activated(writer, table, self.activation), tokens, self.aggregation)
        found = merging.spans(writer, pieces, labels, names, self.threshold)
        shape = (f"{spec.name}.count",)
        typed = SpansOutput(
            identifier=spec.identifier,
            classes=writer.output(found.classes, "classes", ElementType.INT64, shape),
            starts=writer.output(found.starts, "starts", ElementType.INT64, shape),
            ends=writer.output(found.ends, "ends", ElementType.INT64, shape),
            scores=writer.output(found.scores, "scores", ElementType.FLOAT, shape),
            text=tokens.texts[0],
            labels=names,
        )
        return AttachedOutput(typed=typed, taken=(spec.name,))


def _labels_of(spec: TensorSpec) -> int:
    """Number of labels."""
    *others, count = spec.shape or (None,)
    is_one_text = len(others) == 1 or (len(others) == 2 and (others[0] == 1 or not isinstance(others[0], int)))
    if not is_one_text or not isinstance(count, int) or count < 1:
        raise ConfigError(
            f"the output is {in_words(spec)}: not [1, tokens, labels]",
            hint='choose the output with a score for each label, often logits, or use kind = "tensor" for this one',
        )
    return count
