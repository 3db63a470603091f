"""Opens the file of a model with the first provider that starts and computes the right numbers."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnxruntime  # type: ignore[import-untyped,unused-ignore]

from . import golden
from .descriptor import Descriptor
from .errors import ModelError, ModelErrorCode
from .options import LeftOut, ModelInfo, Options

CPU = "CPUExecutionProvider"
EXACT: Mapping[str, Mapping[str, str]] = {"CUDAExecutionProvider": {"use_tf32": "0"}}
"""settings without which a provider rounds more than the package's samples allow"""
TIMED = 5
"""runs of a provider, and of the CPU, of which the fastest counts"""
MODELS = Path(__file__).parents[1] / "models"


def opened(descriptor: Descriptor, options: Options) -> tuple[Any, ModelInfo]:
    """A session, and what it runs on. Raises ModelError where the file is not that of the package, or no provider opens
    it."""
    options.check()
    refuse_old(descriptor, options)
    verify(descriptor)
    left_out = []
    for provider in (*(each for each in options.providers if each != CPU), CPU):
        try:
            session = session_of(descriptor, options, provider)
            if provider != CPU and options.prove:
                prove(descriptor, session, options)
        except ModelError as error:
            if provider == CPU:
                raise
            left_out.append(LeftOut(provider, str(error.args[0])))
            continue
        info = ModelInfo(
            name=descriptor.name,
            version=descriptor.version,
            file=descriptor.file,
            sha256=descriptor.sha256[descriptor.file],
            provider=provider,
            left_out=tuple(left_out),
            onnxruntime_version=onnxruntime.__version__,
        )
        return session, info
    raise AssertionError("the CPU is always last")


def refuse_old(descriptor: Descriptor, options: Options) -> None:
    """Raises ModelError for an ONNX Runtime that the package was not built for."""
    found, oldest = onnxruntime.__version__, descriptor.runtime_version
    if not options.allow_other_runtime and release_of(found) < release_of(oldest):
        raise ModelError(
            ModelErrorCode.RUNTIME_VERSION,
            f"ONNX Runtime is {found}, and {descriptor.package} needs {oldest} or later: pip install -U onnxruntime",
        )


def release_of(version: str) -> tuple[int, ...]:
    """`1.31.1` -> (1, 31, 1)."""
    return tuple(int(part) for part in version.split("+")[0].split(".")[:3] if part.isdigit())


def verify(descriptor: Descriptor) -> None:
    """Raises ModelError unless each file has the bytes that the package was built with."""
    for name, wanted in descriptor.sha256.items():
        path = MODELS / descriptor.name / name
        try:
            with path.open("rb") as file:
                found = hashlib.sha256()
                while block := file.read(1 << 20):
                    found.update(block)
        except FileNotFoundError as error:
            raise ModelError(
                ModelErrorCode.MISSING, f"{path} is missing: install {descriptor.package} again"
            ) from error
        except OSError as error:
            raise ModelError(ModelErrorCode.UNREADABLE, f"{path}: {error.strerror or error}") from error
        if found.hexdigest() != wanted:
            raise ModelError(
                ModelErrorCode.CORRUPTED, f"{path} is not the file of the package: install {descriptor.package} again"
            )


def session_of(descriptor: Descriptor, options: Options, provider: str) -> Any:
    """A session on `provider`. Raises ModelError where it does not start."""
    devices = [each for each in onnxruntime.get_ep_devices() if each.ep_name == provider]
    if not devices and provider not in onnxruntime.get_available_providers():
        raise ModelError(ModelErrorCode.RUNTIME, "the installed ONNX Runtime does not have it")
    chosen = onnxruntime.SessionOptions()
    chosen.log_severity_level = 4
    chosen.intra_op_num_threads = options.threads
    chosen.enable_cpu_mem_arena = options.arena
    settings = {**descriptor.settings, "session.intra_op.allow_spinning": "1" if options.spinning else "0"}
    for key, value in settings.items():
        chosen.add_session_config_entry(key, value)
    given = {**EXACT.get(provider, {}), **options.provider_options.get(provider, {})}
    order: list[Any] | None = [(provider, given)] if provider == CPU else [(provider, given), CPU]
    if devices and provider != CPU:  # of a library that the program has registered
        chosen.add_provider_for_devices(devices[:1], given)
        order = None
    path = MODELS / descriptor.name / descriptor.file
    onnxruntime.disable_telemetry_events()
    try:
        session = onnxruntime.InferenceSession(str(path), chosen, providers=order, enable_fallback=0)
    except Exception as error:  # ONNX Runtime's errors have no class in common
        raise ModelError(ModelErrorCode.RUNTIME, f"{path.name} does not open: {error}") from error
    if session.get_providers()[0] != provider:  # ONNX Runtime goes on without a provider whose libraries are missing
        raise ModelError(ModelErrorCode.RUNTIME, "ONNX Runtime could not start it: its libraries may be missing")
    return session


def prove(descriptor: Descriptor, session: Any, options: Options) -> None:
    """Raises ModelError for a session that computes other numbers than the package's samples have, or takes longer than
    the CPU."""
    if not descriptor.golden:
        raise ModelError(
            ModelErrorCode.RUNTIME, "the package has no samples that prove it: Options(prove=False) uses it unproved"
        )
    for each in golden.tested(descriptor, MODELS / descriptor.name, lambda fed: ran(session, fed)):
        if not each.passed:
            raise ModelError(ModelErrorCode.RUNTIME, f"computed other numbers: {each}")

    inputs, _ = next(golden.samples(MODELS / descriptor.name / descriptor.golden))
    own, cpu = (fastest(each, inputs) for each in (session, session_of(descriptor, options, CPU)))
    if own > cpu:
        words = f"slower than the CPU: {1000 * own:.1f} ms instead of {1000 * cpu:.1f} ms"
        raise ModelError(ModelErrorCode.RUNTIME, words)


def fastest(session: Any, fed: Mapping[str, Any]) -> float:
    """Seconds of the fastest of a few runs, after one that warms up."""
    times = []
    for _ in range(TIMED + 1):
        begin = time.perf_counter()
        ran(session, fed)
        times.append(time.perf_counter() - begin)
    return min(times[1:])


def ran(session: Any, fed: Mapping[str, Any]) -> dict[str, Any]:
    """Outputs by name. Raises ModelError for a run that fails."""
    names = [each.name for each in session.get_outputs()]
    try:
        return dict(zip(names, session.run(names, dict(fed)), strict=True))
    except Exception as error:  # ONNX Runtime's errors have no class in common
        raise ModelError(ModelErrorCode.RUNTIME, str(error)) from error
