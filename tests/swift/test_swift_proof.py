"""In Swift: providers are proved on the device before they run a model.

The provider is a real plug-in of ONNX Runtime, which lies as it is told. C at the boundary of ONNX Runtime's functions
adds it to sessions, as the package of a plug-in would.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cases import liar, proofs
from tests.cases.proofs import CRASH, HANG, TOGETHER, Loads
from tests.toolchain.swift import swift
from tests.toolchain.swift_app import HOME, build_in
from tests.toolchain.swift_packages import unpack

Start = Callable[..., tuple[int, Loads]]


def promise(package: Path) -> None:
    source = package / "Sources" / "ProvedKit" / "Products.swift"
    proofs.promise(source, "providers: [.liar", f"nodes: [.liar: {liar.NODES}], ")


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Start:
    """Loads with behaviours in a process of its own, whose files lie in a folder: its exit code and its loads."""
    swift()
    folder = tmp_path_factory.mktemp("proved")
    package = unpack(proofs.built(folder, "ios") / "swift", folder / "package")
    sources = {"main.swift": HOME / "proving.swift", proofs.PLUGGED.name: proofs.PLUGGED}
    app = build_in(package, "ProvedKit", sources, promise)
    plugin = liar.library()

    def started(home: Path, *behaviours: str, **variables: str) -> tuple[int, Loads]:
        given = {"LIAR": str(plugin), "MODEL": str(folder / "products.onnx"), **variables}
        done = app.run(*behaviours, scratch=home, mounts=(plugin.parent, folder), environment=given)
        return done.returncode, proofs.loads(done.output)

    return started


def test_each_lie_is_found_and_the_next_start_knows_it(start: Start, tmp_path: Path) -> None:
    names = [each.name for each in TOGETHER]
    code, first = start(tmp_path / "home", *names)
    assert (code, [name for name, _ in first]) == (0, names)
    for behaviour, (_, facts) in zip(TOGETHER, first, strict=True):
        proofs.check(behaviour, facts)
    assert start(tmp_path / "home", *names) == (0, first), "times in words, too"


def test_a_provider_that_ended_the_process_is_not_tried_again(start: Start, tmp_path: Path) -> None:
    code, found = start(tmp_path / "home", CRASH.name)
    assert (code != 0, found) == (True, [])
    code, [(_, facts)] = start(tmp_path / "home", CRASH.name)
    assert code == 0
    proofs.check(CRASH, facts)


def test_a_provider_that_hangs_is_left_behind(start: Start, tmp_path: Path) -> None:
    for _ in ("it hangs", "it is known"):
        code, [(_, facts)] = start(tmp_path / "home", HANG.name)
        assert code == 0
        proofs.check(HANG, facts)


def test_a_proof_in_the_background_holds_from_a_later_load(start: Start, tmp_path: Path) -> None:
    code, [(_, first), *_, (_, last)] = start(tmp_path / "home", "honest", BACKGROUND="1")
    assert code == 0
    assert first["provider"] == "cpu"
    assert first["fallbacks"] == first["told"] == ["was not examined: the proof goes on in the background"]
    proofs.check(TOGETHER[0], last)


def test_loads_at_once_share_one_proof(start: Start, tmp_path: Path) -> None:
    code, [(_, found), (_, facts)] = start(tmp_path / "home", "honest", HOW="together")
    assert code == 0
    [verdict] = found["verdicts"]
    assert verdict.startswith("LIAR: proved ")
    proofs.check(TOGETHER[0], facts)


def test_a_proof_that_is_cancelled_leaves_no_verdict(start: Start, tmp_path: Path) -> None:
    code, [(_, found), (_, facts)] = start(tmp_path / "home", HANG.name, HOW="cancelled")
    assert code == 0
    assert (found["end"], json.loads(found["record"])["proofs"]) == ("CancellationError()", [])
    proofs.check(HANG, facts)


def test_a_model_without_samples_is_not_proved_and_says_so(start: Start, tmp_path: Path) -> None:
    code, [(_, found), _] = start(tmp_path / "home", "honest", HOW="own file")
    reason = "the package has no samples of the model to prove it with"
    assert (code, found) == (0, {"provider": "cpu", "proofs": [reason]})
