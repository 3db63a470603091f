"""Recognizes caches: what attention keeps of earlier tokens, by the names that exporters give."""

from collections.abc import Mapping

from packager.core.errors import ConfigError, nearest
from packager.core.signature import Signature, TensorSpec

RENAMED = (
    ("past_key_values", "present"),
    ("past_key_values", "present_key_values"),
    ("past_key_values", "new_key_values"),
    ("past_key", "present_key"),
    ("past", "present"),
)
"""parts of names of inputs, and of the outputs with their next values"""


def caches_of(signature: Signature, given: Mapping[str, str]) -> Mapping[str, str]:
    """Input -> output, for each cache: those in `given`, or those with the usual names. Raises ConfigError."""
    inputs = {spec.name: spec for spec in signature.inputs}
    outputs = {spec.name: spec for spec in signature.outputs}
    for kind, known, names in (("input", inputs, list(given)), ("output", outputs, list(given.values()))):
        for name in names:
            if name not in known:
                raise ConfigError(f"caches: the model has no {kind} '{name}'", hint=nearest(name, list(known)))
    found = dict(given) or {name: after for name in inputs if (after := _next(name, outputs))}
    for name, after in found.items():
        _refuse_unfit(inputs[name], outputs[after])
    return found


def _next(name: str, outputs: Mapping[str, TensorSpec]) -> str:
    """The output with the next value of a cache; empty for another input."""
    candidates = (name.replace(old, new, 1) for old, new in RENAMED if old in name)
    return next((each for each in candidates if each in outputs), "")


def _refuse_unfit(cache: TensorSpec, after: TensorSpec) -> None:
    if cache.element is not after.element or len(after.shape) not in (0, len(cache.shape)):
        raise ConfigError(
            f"output '{after.name}' is {after.element} {list(after.shape)}, but the cache '{cache.name}' is "
            f"{cache.element} {list(cache.shape)}",
            hint='name the output with its next value: caches = { "INPUT" = "OUTPUT" }',
        )


def length_axis(cache: TensorSpec) -> int:
    """The axis that grows by the tokens of each run. Raises ConfigError for a cache of another form."""
    axes = [axis for axis, size in enumerate(cache.shape) if not isinstance(size, int) and not cache.is_batch(axis)]
    if len(axes) != 1:
        raise ConfigError(
            f"the cache '{cache.name}' is {list(cache.shape)}: not one axis besides the batch is open",
            hint="fix the other sizes in [model.NAME.shapes]",
        )
    return axes[0]


def sizes(cache: TensorSpec) -> tuple[int | None, ...]:
    """Its shape, with a batch of 1."""
    grows = length_axis(cache)
    return tuple(
        None if axis == grows else size if isinstance(size, int) else 1 for axis, size in enumerate(cache.shape)
    )
