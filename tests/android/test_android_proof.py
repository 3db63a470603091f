"""Providers that are proved on the device: each lie of the provider that lies is found, said and kept in the record."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

import onnx
import pytest

from packager import models as onnx_models
from packager.compile.compile import compile_plain
from packager.config.checks import ParityTable
from packager.core.console import Console
from packager.core.findings import Report
from packager.core.values import Choice, Compiled, Package, Plan, baseline
from packager.engines.environments.runtime import Runtime
from packager.files.hashes import sha256_of
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.providers import PROVIDERS
from packager.targets.android import Android
from packager.verification import parity
from packager.verification.golden import golden_vectors
from packager.verification.parity import ParitySettings
from tests.cases import liar
from tests.cases.liar import BEHAVIOURS, Behaviour, Liar
from tests.cases.onnx_text import saved
from tests.toolchain import jvm
from tests.toolchain.device import Device, Library, device, library

START = f"""package com.example.models

import ai.onnxruntime.OrtEnvironment
import ai.onnxruntime.OrtException
import ai.onnxruntime.OrtSession.SessionOptions

private val registered = mutableSetOf<String>()

/** Adds the provider, as an app adds a plug-in of ONNX Runtime. */
internal fun SessionOptions.addLiar(options: Map<String, String>) {{
    val name = if (options["behaviour"] == "no device") "{liar.WITHOUT_DEVICE}" else "{liar.NAME}"
    val environment = OrtEnvironment.getEnvironment()
    synchronized(registered) {{
        if (registered.add(name)) environment.registerExecutionProviderLibrary(name, System.getProperty("liar"))
    }}
    val devices = environment.epDevices.filter {{ it.epName == name }}
    if (devices.isEmpty()) throw OrtException("LIAR finds no device")
    addExecutionProvider(devices, options)
}}
"""
TOGETHER = [each for each in BEHAVIOURS if not each.is_alone]
ALONE = [each for each in BEHAVIOURS if each.is_alone]


@pytest.fixture(scope="module")
def built(
    kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory
) -> Library:
    folder, store = tmp_path_factory.mktemp("liar"), Store(cache_folder() / "store")
    model = onnx_models.hashed(onnx_models.load(saved(folder / "liar-net.onnx", liar.model()), "liar-net"))
    file = with_its_weights(compile_plain(baseline(model, "source"), store), folder / "whole.onnx")
    choices = (
        Choice(provider=Liar.NAME, compiled=file, reason="", nodes=liar.NODES),
        Choice(provider="cpu", compiled=file, reason=""),
    )
    plan = Plan(model=model, target="android", environment=Runtime.NAME, choices=choices)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PROVIDERS, Liar.NAME, Liar)
        golden = golden_vectors(
            [plan],
            ParityTable(),
            lambda subject: ParitySettings(tolerance=parity.default_tolerance(subject.variant)),
            store,
            Console(quiet=True),
        )
        target = Android(providers=(Liar.NAME,))
        view = target.view(
            Package(name="models", version="1.0.0", license=""), (plan,), Report(parities=()), golden=golden
        )
        sources = target.render(view)
        start = PurePosixPath("src/main/kotlin/com/example/models/Liar.kt")
        aar = target.assemble(view, replace(sources, texts={**sources.texts, start: START}), store)[0].path
    return library(aar, folder / "library", apps="proof/Prove", has_task=False)


def with_its_weights(compiled: Compiled, path: Path) -> Compiled:
    onnx.save(onnx.load(compiled.path), path)
    return replace(compiled, path=path, sha256=sha256_of(path), size_bytes=path.stat().st_size, data_files=())


@pytest.fixture
def phone(built: Library, tmp_path: Path) -> Device:
    return device(built, tmp_path)


def proved(
    phone: Device,
    *behaviours: Behaviour,
    exit_code: int = 0,
    is_background: bool = False,
    was_stopped: bool = False,
    how: str = "",
) -> Mapping[str, str]:
    """Findings of a new process of the app. Android may tell it that somebody has stopped the one before. `how` is a
    load that comes first."""
    names = ",".join(each.name for each in behaviours)
    return phone.run(
        "Prove",
        properties={"liar": liar.library()},
        exit_code=exit_code,
        behaviours=names,
        background=is_background,
        stopped=was_stopped,
        how=how,
    ).facts


def check(found: Mapping[str, str], behaviour: Behaviour) -> None:
    said = {key: found[f"{behaviour.name}.{key}"] for key in ("provider", "fallbacks", "proof", "reason", "passed")}
    assert re.fullmatch(behaviour.reason, said["reason"], re.DOTALL), said
    assert said == {
        "provider": "LIAR" if behaviour.is_proved else "CPU",
        "fallbacks": said["reason"],
        "proof": f"LIAR {str(behaviour.is_proved).lower()}",
        "reason": said["reason"],
        "passed": "true",
    }


def record_of(phone: Device, behaviour: Behaviour) -> list[dict[str, object]]:
    [file] = (phone.folder / "data" / behaviour.name).rglob("proofs/*.json")
    document = json.loads(file.read_text())
    assert document["format"] == 1
    found: list[dict[str, object]] = document["proofs"]
    return found


def test_every_lie_is_found_and_kept_for_the_next_start(phone: Device) -> None:
    first = proved(phone, *TOGETHER)
    for each in TOGETHER:
        check(first, each)
        [kept] = record_of(phone, each)
        assert (kept["provider"], kept["state"]) == ("LIAR", "proved" if each.is_proved else "refused")
    assert float(first["honest.seconds"]) < float(first["honest.cpu"])
    assert proved(phone, *TOGETHER) == first  # times, too: nothing was proved again


def test_a_proof_in_the_background_holds_from_the_next_load(phone: Device) -> None:
    found = proved(phone, *TOGETHER[:2], is_background=True)
    for each in TOGETHER[:2]:
        check(found, each)
        assert found[f"{each.name}.first"] == "CPU was not examined: the proof goes on in the background"


@pytest.mark.parametrize("behaviour", ALONE, ids=lambda each: each.name)
def test_a_provider_that_ended_or_held_the_process_is_not_tried_again(phone: Device, behaviour: Behaviour) -> None:
    ends = "crash" in behaviour.name
    first = proved(phone, behaviour, exit_code=-6 if ends else 0)
    if ends:
        assert proved(phone, behaviour, exit_code=-6, was_stopped=True) == {}, "a process that was stopped says nothing"
    second = proved(phone, behaviour)
    check(second, behaviour)
    assert first == ({} if ends else second)
    [kept] = record_of(phone, behaviour)
    assert (kept["state"], kept["reason"]) == ("refused", second[f"{behaviour.name}.reason"])


def test_loads_at_once_share_one_proof(phone: Device) -> None:
    honest = TOGETHER[0]
    found = proved(phone, honest, how="together")
    shared = f"LIAR ProviderProof(provider=LIAR, isProved=true, reason=, seconds={found['honest.seconds']}, "
    assert found["honest.together"] == f"{shared}cpuSeconds={found['honest.cpu']})"
    assert [each["state"] for each in record_of(phone, honest)] == ["proved"]


def test_a_proof_that_is_cancelled_leaves_no_verdict(phone: Device) -> None:
    hang = next(each for each in ALONE if each.name == "hang")
    found = proved(phone, hang, how="cancelled")
    assert found["hang.cancelled"] == 'interrupted {"format":1,"proofs":[]}'
    check(found, hang)


def test_a_model_without_samples_is_not_proved_and_says_so(phone: Device) -> None:
    reason = "the package has no samples of the model to prove it with"
    assert proved(phone, TOGETHER[0], how="own file")["own"] == f"CPU {reason}|{reason}"
