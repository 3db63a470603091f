"""sample_apps/vision: the command that its README names, and the network that it writes."""

import importlib.util
import pickle
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from tests.toolchain import command, vision
from tests.toolchain.forks import forked

__all__ = ["forked"]

ROOT = Path(__file__).parents[1]


@cache
def script() -> ModuleType:
    """classifier.py as a module."""
    spec = importlib.util.spec_from_file_location("vision_classifier", ROOT / vision.FOLDER / "classifier.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for it there
    spec.loader.exec_module(module)
    return module


@pytest.mark.programs
def test_the_commands_are_free_of_what_shellcheck_knows() -> None:
    commands = sorted((ROOT / "sample_apps").glob("*/make"))
    assert {path.parent.name for path in commands} == {"flutter", "ios", "notes", "vision", "web"}
    program: list[str | Path] = [Path(sys.executable).with_name("shellcheck"), "--exclude=SC1091", *commands]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.apptools
def test_the_command_builds_what_the_apps_take() -> None:
    dist = vision.dist()
    assert (dist / "maven" / "com" / "example" / "vision" / "1.0.0" / "vision-1.0.0.aar").is_file()
    assert (dist / "swift" / "vision" / "Package.swift").is_file()
    assert (dist / "npm" / "react-native-vision-1.0.0.tgz").is_file()


@pytest.mark.apptools
def test_the_picture_beside_it_is_an_espresso() -> None:
    picture = ROOT / vision.FOLDER / "coffee.jpg"
    folder = vision.root() / vision.FOLDER
    done = command.run("predict", "--top", "3", picture, folder=folder)
    assert done.stdout.splitlines() == [str(picture), "  0.951  espresso", "  0.012  cup", "  0.011  consomme"]


@pytest.mark.apptools
def test_there_is_a_name_for_every_class() -> None:
    lines = (vision.root() / vision.FOLDER / "build" / "models" / "labels.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1000
    assert (lines[0], lines[967], lines[999]) == ("tench", "espresso", "toilet tissue")


@pytest.mark.parametrize("call", [b"cos\nsystem\n", b"cbuiltins\neval\n", b"ctorch\nHalfStorage\n"])
def test_weights_that_would_run_something_are_refused(call: bytes, tmp_path: Path) -> None:
    path = tmp_path / "weights.pth"
    path.write_bytes(b"".join(pickle.dumps(each) for each in (1, 2, 3)) + call + b"(S'true'\ntR.")
    with pytest.raises(pickle.UnpicklingError, match="has no place among weights"):
        script().weights(path)
