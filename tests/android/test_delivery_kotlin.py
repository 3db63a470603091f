"""Kotlin: whatever servers, publishers and disks do, the app opens a verified model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases.delivery_killing import SWEEPS, Victim, kill_everywhere
from tests.cases.delivery_language import Language, fills_up, trickles, trickling, visits
from tests.cases.delivery_scenarios import VISITS
from tests.cases.delivery_stage import Visit
from tests.cases.tuf_attacks import ATTACKS
from tests.delivery_drivers.kotlin import of_releases
from tests.toolchain import jvm
from tests.toolchain.react_native.download.server import Fault


@pytest.fixture(scope="module")
def language(
    kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Language]:
    with of_releases(tmp_path_factory.mktemp("kotlin")) as found:
        yield found


@visits((*VISITS, *ATTACKS))
def test_a_verified_model_is_opened_after(language: Language, visit: Visit, tmp_path: Path) -> None:
    language.play(visit, tmp_path)


@pytest.mark.parametrize(("version", "count"), SWEEPS)
def test_a_verified_model_is_opened_after_a_kill(language: Language, version: str, count: int, tmp_path: Path) -> None:
    print(f"{kill_everywhere(Victim.of(language, tmp_path), version, count)} changes")


def test_a_full_disk_is_named_and_the_update_goes_on_when_there_is_room(language: Language, tmp_path: Path) -> None:
    fills_up(language, tmp_path)


@trickling()
def test_a_server_that_sends_a_byte_now_and_then_holds_no_update(
    language: Language, fault: Fault, is_document: bool, tmp_path: Path
) -> None:
    trickles(language, tmp_path, fault, is_document=is_document)
