"""Raises a model to the opset that quantizers write, and leaves it if it would then compute something else."""

from packager.core.errors import MobpackError, ModelError
from packager.core.values import Model
from packager.files.store import Store
from packager.models import raising, rebuilt
from packager.models.older import STANDARD
from packager.verification.raised import change

PER_AXIS_SINCE = 13
"""First opset with a scale for each channel; dynamic quantization has operators of opset 11."""


def raised(model: Model, store: Store) -> Model:
    """`model`, which must be hashed, in opset 13 if it is older, ONNX can convert it, and its outputs stay the same;
    else `model` itself: a quantizer rejects what is too old for it."""
    import onnx

    proto = onnx.ModelProto.FromString(model.graph)
    try:
        made = raising.raised(proto, PER_AXIS_SINCE)
        found = model if made is proto else rebuilt(model, made)
    except ModelError:
        return model
    if found is model:
        return model
    try:
        changed = change(model, found, store)
    except MobpackError:
        return found  # it runs on no random input, before or after: nothing can be compared
    return model if changed else found


def own(model: Model, graph: bytes) -> bytes:
    """The graph that variants made of `graph` are measured against: the user's own where `graph` is in another opset,
    so that a change by raising counts; else `graph`, which ONNX Runtime has prepared."""
    import onnx

    declared = max(model.opsets.get(domain, 0) for domain in STANDARD)
    return graph if raising.opset_of(onnx.ModelProto.FromString(graph)) == declared else model.graph
