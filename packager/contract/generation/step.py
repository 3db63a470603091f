"""A step of a generated text, as nodes: logits in, the characters of a token out."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from packager.contract.generation import choosing
from packager.contract.generation.choosing import Sampling
from packager.contract.generation.inputs import PROGRESS, STEPS, STRIPPED, TEXTS, Names, progress_of
from packager.contract.kind import AttachedOutput, Core
from packager.contract.scores import floats, in_words
from packager.contract.tokenization import detokenizing
from packager.contract.tokenization.decoder import Decoder
from packager.core.chat import ChatTemplate
from packager.core.contract import GeneratedOutput, StateInput
from packager.core.errors import ConfigError
from packager.core.signature import ElementType, TensorSpec
from packager.graph.writer import Writer

RANDOM_PROGRESS = (0, 1)
"""values that are valid everywhere in the progress, and among tokens and bytes"""


@dataclass(frozen=True, kw_only=True)
class TokenStep:
    """Chooses a token by the logits of the last one."""

    KIND: ClassVar[str] = "step"

    names: Names
    ids: str
    """input with the token ids of this step"""
    takes_all: bool
    """whether the model has no caches and takes all tokens in each step"""
    stops: tuple[int, ...]
    """tokens that end the text"""
    decoder: Decoder
    most: int
    """number of tokens"""
    penalty: float
    sampling: Sampling | None
    """None for the likeliest token"""
    has_encoder: bool = False
    """whether an encoder, which only the first step runs, takes what apps pass"""
    chat: ChatTemplate | None = None
    """makes prompts of conversations"""

    def within(self, folder: Path) -> Self:
        return self

    def attach(self, writer: Writer, spec: TensorSpec, core: Core) -> AttachedOutput:
        logits, size = _last(writer, spec)
        states = list(self._states(writer))
        ids = writer.cast(writer.node("Reshape", self.ids, [-1]), ElementType.INT64)
        tokens = ids if self.takes_all else writer.node("Concat", self.names.tokens, ids, axis=0)
        if self.penalty != 1.0:
            logits = choosing.penalized(writer, logits, tokens, self.penalty)
        seed = writer.input("seed", ElementType.INT64, (1,)) if self.sampling else None
        number = progress_of(writer, self.names, STEPS)
        token = (
            choosing.sampled(writer, logits, size, self.sampling, seed=seed.name, number=number)
            if self.sampling and seed
            else choosing.best(writer, logits)
        )
        steps = writer.node("Add", number, 1)
        is_stop = self._is_stop(writer, token)
        is_last = writer.node("Or", is_stop, writer.node("GreaterOrEqual", steps, self.most))
        spoken = self._spoken(writer, size, token, is_stop, is_last)
        after = spoken.progress
        made = {
            self.names.progress: writer.node("Concat", steps, token, after.texts, after.stripped, axis=0),
            self.names.bytes: after.bytes,
            self.names.tokens: writer.node("Concat", tokens, token, axis=0) if self.takes_all else tokens,
        }
        typed = GeneratedOutput(
            identifier=spec.identifier,
            code_points=writer.output(
                writer.cast(spoken.points, ElementType.INT32), "characters", ElementType.INT32, ("new characters",)
            ),
            is_finished=writer.output(writer.cast(is_last, ElementType.INT32), "finished", ElementType.INT32, (1,)),
            seed=seed,
            has_encoder=self.has_encoder,
            chat=self.chat,
        )
        return AttachedOutput(
            typed=typed,
            taken=tuple(name for name in core.outputs if name not in core.carried),
            states=tuple(
                StateInput(
                    identifier=each.identifier,
                    input=each,
                    output=writer.output(
                        made[each.name], f"next {each.name.rsplit('.', 1)[-1]}", each.element, _after(each)
                    ),
                )
                for each in states
            ),
            values={each.name: RANDOM_PROGRESS for each in states},
        )

    def _states(self, writer: Writer) -> Iterator[TensorSpec]:
        """The inputs that are states of the step's own."""
        yield writer.input("progress", ElementType.INT64, (PROGRESS,))
        yield writer.input("bytes", ElementType.INT64, ("waiting bytes",))
        if self.takes_all or self.penalty != 1.0:
            yield writer.input("tokens", ElementType.INT64, ("earlier tokens",))

    def _is_stop(self, writer: Writer, token: str) -> str:
        """bool [1]"""
        equal = writer.cast(writer.node("Equal", token, writer.integers(*self.stops)), ElementType.INT64)
        return writer.cast(writer.node("ReduceMax", equal, keepdims=1), ElementType.BOOL)

    def _spoken(self, writer: Writer, size: int, token: str, is_stop: str, is_last: str) -> detokenizing.Spoken:
        before = detokenizing.Progress(
            bytes=self.names.bytes,
            texts=progress_of(writer, self.names, TEXTS),
            stripped=progress_of(writer, self.names, STRIPPED),
        )
        ends = detokenizing.Ends(is_skipped=is_stop, is_last=is_last)
        return detokenizing.write(writer, self.decoder, size, token, ends, before)


def _after(state: TensorSpec) -> tuple[int | str, ...]:
    """The shape of the next value of a state."""
    return tuple(size if isinstance(size, int) else f"next {size}" for size in state.shape)


def _last(writer: Writer, spec: TensorSpec) -> tuple[str, int]:
    """The logits of the last token, float [n], and n."""
    size = spec.shape[-1] if 2 <= len(spec.shape) <= 3 else None
    if not isinstance(size, int) or (isinstance(spec.shape[0], int) and spec.shape[0] != 1):
        raise ConfigError(
            f"the output is {in_words(spec)}: not a score for each token of a vocabulary",
            hint="choose the output [1, tokens, vocabulary], often logits",
        )
    rows = writer.node("Reshape", floats(writer, spec), [-1, size])
    return writer.node("Squeeze", writer.node("Slice", rows, [-1], [2**62], [0]), [0]), size
