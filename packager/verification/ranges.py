"""Proves the range of ONNX Runtime releases that a package allows: every file opens in each of them.

The releases are those of PyPI, for this machine's processor: the CPU's kernels and the file formats are those of the
release for phones. What only that one can show stays open: Java's interface and other providers.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from packager.core.console import Console
from packager.core.errors import ModelError
from packager.core.findings import KernelProof
from packager.core.values import Compiled, Plan, distinct_files
from packager.files.store import Step, Store
from packager.targets.target import Target
from packager.verification.partition import kernels

RANGE = Step(
    name="range",
    caller=__name__,
    computed_by=("packager.verification.partition.kernels", "packager.core.findings", "packager.core.values"),
)
PROOF = "proof.json"


def prove_ranges(
    plans: Sequence[Plan], targets: Mapping[str, Target], store: Store, console: Console
) -> Iterator[KernelProof]:
    """A proof for every file and every release that its target allows, the newest release first: a release that fails
    names the one before it as the oldest. Raises ModelError for a file that a release does not load."""
    for name, target in targets.items():
        allowed = target.allowed_runtimes()
        files = distinct_files([each for each in plans if each.target == name])
        working = ""
        for release in reversed(allowed.releases if allowed else ()):
            with console.step(f"load the files for {name} in ONNX Runtime {release}"):
                yield from [proved(compiled, release, working, store) for compiled in files]
            working = release


def proved(compiled: Compiled, release: str, working: str, store: Store) -> KernelProof:
    from pydantic import TypeAdapter

    adapter = TypeAdapter(KernelProof)

    def make(folder: Path) -> None:
        with store.scratch() as scratch:
            (folder / PROOF).write_bytes(adapter.dump_json(kernels.prove_in(compiled, release, scratch)))

    variant = compiled.variant
    try:
        folder = store.results(RANGE, [variant.model.name, variant.name, compiled.sha256, release], make)
    except ModelError as error:
        raise ModelError(
            f"model '{variant.model.name}' ({variant.name}, {compiled.style}) does not load in ONNX Runtime {release}, "
            f"which runtime-range allows: {error.message}",
            hint=f'runtime-range = "{working.rpartition(".")[0]}"' if working else "leave runtime-range out",
        ) from error
    return adapter.validate_json((folder / PROOF).read_bytes())
