"""Contracts as text: what apps pass and what they get."""

from collections.abc import Iterator

from packager.core.contract import (
    AudioInput,
    BoxesOutput,
    ClassesOutput,
    Contract,
    EmbeddingOutput,
    GeneratedOutput,
    ImageInput,
    InstancesOutput,
    KeypointsOutput,
    MaskOutput,
    PairsOutput,
    PictureOutput,
    SoundOutput,
    SpansOutput,
    StateInput,
    TensorInput,
    TensorOutput,
    TextInput,
    TextOutput,
    TypedInput,
    TypedOutput,
    ValuesOutput,
)
from packager.core.values import TensorSpec


def takes(contract: Contract) -> Iterator[str]:
    for each in contract.inputs:
        yield f"{each.identifier}: {_input(each)}"


def gives(contract: Contract) -> Iterator[str]:
    for each in contract.outputs:
        yield f"{each.identifier}: {_output(each)}"


def _input(typed: TypedInput) -> str:
    match typed:
        case ImageInput():
            return "a picture of any size, pixel format and orientation"
        case AudioInput(streamed=streamed):
            pieces = f", whole or in pieces: a result for each {streamed.hop} samples" if streamed else ""
            return f"a recording of any length and rate{pieces}"
        case TextInput():
            return "texts of any length, any number of them" if typed.is_batch else "a text of any length"
        case StateInput():
            return f"what output '{typed.output.name}' was in the run before"
        case TensorInput():
            return _tensor(typed.spec)


def _output(typed: TypedOutput) -> str:
    match typed:
        case ClassesOutput():
            named = "with" if typed.labels else "without"
            return f"the best {typed.top_k} of {typed.scores.shape[-1]:,} classes, {named} labels"
        case BoxesOutput():
            return "boxes in pixels of the upright picture, " + (", ".join(typed.labels[:5]) or "no labels")
        case InstancesOutput():
            return "boxes and masks in pixels of the upright picture, " + (", ".join(typed.labels[:5]) or "no labels")
        case KeypointsOutput():
            return f"{len(typed.labels)} points in pixels of the upright picture"
        case MaskOutput():
            return "a class for each place of the picture"
        case PictureOutput():
            return "a picture in red, green, blue and alpha"
        case EmbeddingOutput():
            return f"a vector of {typed.vector.shape[-1]} numbers and length 1"
        case TextOutput():
            return f"a text of {len(typed.alphabet):,} possible symbols"
        case SpansOutput():
            return "parts of the text, " + ", ".join(typed.labels[:5]) + (" and others" if typed.labels[5:] else "")
        case PairsOutput():
            return "a score that says how well a document fits a query"
        case GeneratedOutput():
            return "a text, part by part, " + ("the likeliest" if typed.seed is None else "a random one for each seed")
        case ValuesOutput():
            numbers = [f"{name} {unit}".rstrip() for name, unit in zip(typed.labels, typed.units, strict=True)]
            return "numbers: " + ", ".join(numbers[:5]) + (" and others" if numbers[5:] else "")
        case SoundOutput():
            return f"a sound of {typed.rate:,} Hz, " + ("mono" if typed.channels == 1 else f"{typed.channels} channels")
        case TensorOutput():
            return _tensor(typed.spec)


def _tensor(spec: TensorSpec) -> str:
    return f"{spec.element} [{', '.join('?' if size is None else str(size) for size in spec.shape)}]"
