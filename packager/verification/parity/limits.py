"""Limits the sizes that a net computes of its random inputs, before it runs on them."""

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.errors import ModelError
from packager.core.values import Variant
from packager.engines.runners import RUNNERS, Runnable, Session
from packager.samples import Growth
from packager.verification.parity.outcomes import read_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

SizeLimit = Callable[[Path], str]
"""Sample -> what it makes too large, in words; empty if nothing is."""


def unlimited(sample: Path) -> str:
    """For a net whose sizes do not depend on values."""
    return ""


def size_limit(original: Variant, growth: Growth, folder: Path, open_sessions: ExitStack) -> SizeLimit:
    """A limit of the sizes that `growth` has found in the graph of `original`. Files go to a new folder in `folder`;
    the part of the graph that computes the sizes opens for the first sample."""
    from onnx import ModelProto

    own = Path(tempfile.mkdtemp(dir=folder))
    probe = growth.probe(ModelProto.FromString(original.graph))
    path = own / "sizes.onnx"
    path.write_bytes(probe.SerializeToString(deterministic=True))
    names = [value.name for value in probe.graph.output]
    model = Runnable(path=path, data_folder=original.data_folder, is_optimized=False)
    opened: list[Session | None] = []

    def session() -> Session | None:
        if not opened:
            (cpu,) = RUNNERS["cpu"]("")
            try:
                opened.append(open_sessions.enter_context(cpu.open(model, own)))
            except ModelError:
                opened.append(None)  # it is no part of a net: then only the time limit counts
        return opened[0]

    def check(sample: Path) -> str:
        found = session()
        if found is None:
            return ""
        outputs = Path(tempfile.mkdtemp(dir=own))
        if not names or found.run(sample, outputs).error:
            return ""  # the net itself says why
        return growth.excess(_values(sample, names, outputs))

    return check


def _values(sample: Path, names: list[str], outputs: Path) -> "dict[str, NDArray[Any]]":
    import numpy

    with numpy.load(sample) as inputs:
        given = {name: inputs[name] for name in inputs.files}
    return given | {name: read_array(outputs / f"{index}.npy") for index, name in enumerate(names)}
