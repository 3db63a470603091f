"""In Dart: providers are proved on the device before they run a model.

The provider is a real plug-in of ONNX Runtime, which lies as it is told. A library at the boundary of ONNX Runtime's
functions adds it to sessions, as the package of a plug-in would. The package takes Linux for one of Apple's systems.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cases import liar, proofs
from tests.cases.proofs import CRASH, HANG, TOGETHER, Loads
from tests.toolchain import c_library
from tests.toolchain.dart import compile_kernel, configured_package, dart

PROGRAM = Path(__file__).parents[1] / "toolchain" / "dart_programs" / "proving.dart"
Start = Callable[..., tuple[int, Loads]]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Start:
    """Loads with behaviours in a process of its own, whose files lie in a folder: its exit code and its loads."""
    dart()
    folder = tmp_path_factory.mktemp("proved")
    package = configured_package(proofs.built(folder, "ios", "flutter") / "flutter" / "proved", "proved")
    system = package / "lib" / "src" / "runtime" / "system.dart"
    system.write_text(system.read_text(encoding="utf-8").replace("Platform.isMacOS ?", "Platform.isLinux ?"))
    model = package / "lib" / "src" / "models" / "products.dart"
    proofs.promise(model, "providers: [Provider.liar", f"nodes: {{Provider.liar: {liar.NODES}}}, ")
    shutil.copy(PROGRAM, package)
    kernel = compile_kernel(package, PROGRAM.name)
    plugged = c_library.build(proofs.PLUGGED, folder / "libplugged.so", "-isystem", str(liar.HEADERS))
    plugin, runtime = liar.library(), dart().onnxruntime()

    def started(home: Path, *behaviours: str, **variables: str) -> tuple[int, Loads]:
        home.mkdir(exist_ok=True)
        given = {"LIAR": str(plugin), "ONNXRUNTIME": str(runtime), "HOME": str(home), **variables}
        mounts = {str(each): each for each in (home, folder, plugin.parent, runtime.parent)}
        done = dart().run(["dart", kernel, plugged, *behaviours], cwd=package, mounts=mounts, environment=given)
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
