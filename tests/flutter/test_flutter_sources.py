"""In Dart: models from a server come whole or not at all, go on where they ended, and are checked at every load."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.cases.delivery_server import elsewhere, endless, padded
from tests.delivery_drivers.dart import driver, program
from tests.delivery_drivers.swift import Driver
from tests.toolchain import trusted, trusted_dart
from tests.toolchain.dart import dart
from tests.toolchain.react_native.download.running import certificate
from tests.toolchain.react_native.download.server import (
    Address,
    Fault,
    changed,
    cut,
    gated,
    held,
    other_bytes,
    redirect,
    serving,
    status,
    wait_until,
    whole,
)

PART = 700
"""bytes that come before a connection ends"""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A server with the files of a package, and a program that loads from it."""

    start: Callable[[Path], AbstractContextManager[Driver]]
    server: Address
    name: str
    """path on the server of the file that the program opens"""
    content: bytes

    def reset(self, *faults: Fault | None) -> None:
        files = self.server.files
        files.by_path = {self.name: self.content}
        files.faults.clear()
        files.faults.extend(faults)
        files.requests.clear()

    @property
    def line(self) -> str:
        return f"load {self.server.url}models/"


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    dart()
    folder = tmp_path_factory.mktemp("sources")
    view = trusted_dart.view(folder, replace(trusted.PACKAGE, trust=None))
    app = program(trusted_dart.archive(view, folder), folder / "program", "sources.dart")
    pair = certificate(folder)
    file = trusted_dart.file_of_cpu(view)
    with serving(pair) as server:
        yield Setting(
            start=lambda place: driver(app, server.url, place, pair.certificate),
            server=server,
            name=f"/models/{file.sha256}",
            content=view.files[file.name].read_bytes(),
        )


def kept(folder: Path, setting: Setting) -> Path:
    return folder / "device" / "models" / "files" / setting.name.rpartition("/")[2]


def loaded(setting: Setting, folder: Path, *faults: Fault | None, line: str = "") -> dict[str, Any]:
    """The answer of a program that has just started."""
    setting.reset(*faults)
    with setting.start(folder / "device") as app:
        return dict(app.ask(line or setting.line))


def asked(setting: Setting) -> list[str]:
    return setting.server.files.ranges


def test_a_file_comes_once(setting: Setting, tmp_path: Path) -> None:
    found = loaded(setting, tmp_path)
    size = len(setting.content)
    assert (found["error"], found["source"], found["progress"][-1]) == ("", "url", [size, size]), found
    assert [each for each, _ in found["progress"]] == sorted(each for each, _ in found["progress"])
    assert asked(setting) == [f"0-{size - 1}"]
    assert kept(tmp_path, setting).read_bytes() == setting.content
    assert (kept(tmp_path, setting).parents[1] / "checked" / kept(tmp_path, setting).name).exists()
    assert loaded(setting, tmp_path)["error"] == ""
    assert asked(setting) == [], "it is on the device"


FAULTS: dict[str, tuple[tuple[Fault | None, ...], list[str]]] = {
    "a connection that ends early": ((cut(PART),), ["0", str(PART)]),
    "a server without ranges": ((cut(PART), whole), ["0", str(PART)]),
    "a server that is busy twice": ((status(503), status(429)), ["0", "0", "0"]),
    "another place": ((redirect("moved"),), ["0", "0"]),
}
"""what passes, and the places from which the program asks"""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_download_goes_on_after(setting: Setting, tmp_path: Path, fault: str) -> None:
    faults, places = FAULTS[fault]
    setting.server.files.by_path["/models/moved"] = setting.content
    setting.reset(*faults)
    setting.server.files.by_path["/models/moved"] = setting.content
    with setting.start(tmp_path / "device") as app:
        found = app.ask(setting.line)
    assert found["error"] == "", found
    assert [each.partition("-")[0] for each in asked(setting)] == places
    assert kept(tmp_path, setting).read_bytes() == setting.content


REFUSED: dict[str, tuple[tuple[Fault, ...], str, int]] = {
    "a file that is not there": ((status(404),), "network", 1),
    "bytes of another place": ((cut(PART), other_bytes), "network", 2),
    "more bytes than the file has": ((padded(1000),), "corrupted", 1),
    "bytes without end": ((endless,), "corrupted", 1),
    "a redirect to http": ((elsewhere("http://127.0.0.1:9/"),), "network", 1),
    "redirects without end": ((redirect("again"),) * 9, "network", 6),
}
"""what does not pass, its code, and after how many requests it is given up"""


@pytest.mark.parametrize("fault", REFUSED)
def test_a_load_fails_with(setting: Setting, tmp_path: Path, fault: str) -> None:
    faults, code, requests = REFUSED[fault]
    found = loaded(setting, tmp_path, *faults)
    assert (found["error"], len(asked(setting))) == (code, requests), found
    assert found["message"]
    assert not kept(tmp_path, setting).exists()
    assert loaded(setting, tmp_path)["error"] == "", "nothing is left that harms the next load"


def test_other_bytes_are_refused(setting: Setting, tmp_path: Path) -> None:
    found = loaded(setting, tmp_path, changed(bytes(len(setting.content))))
    assert found["error"] == "corrupted", found
    assert list(kept(tmp_path, setting).parent.glob("*.part")) == []


def test_a_damaged_file_comes_anew(setting: Setting, tmp_path: Path) -> None:
    assert loaded(setting, tmp_path)["error"] == ""
    place = kept(tmp_path, setting)
    place.write_bytes(setting.content[:-1] + b"?")
    assert loaded(setting, tmp_path)["error"] == ""
    assert len(asked(setting)) == 1
    assert place.read_bytes() == setting.content


def test_what_has_come_of_something_else_does_no_harm(setting: Setting, tmp_path: Path) -> None:
    place = kept(tmp_path, setting)
    place.parent.mkdir(parents=True)
    place.with_name(f"{place.name}.part").write_bytes(b"something else" * 10)
    assert loaded(setting, tmp_path)["error"] == ""
    assert [each.partition("-")[0] for each in asked(setting)] == ["140", "0"]


def test_a_cancelled_load_goes_on_the_next_time(setting: Setting, tmp_path: Path) -> None:
    found = loaded(setting, tmp_path, held(2000), line=f"{setting.line} 2000")
    assert found["error"] == "cancelled", found
    assert loaded(setting, tmp_path)["error"] == ""
    assert int(asked(setting)[0].partition("-")[0]) >= 2000


def test_a_killed_load_goes_on_the_next_time(setting: Setting, tmp_path: Path) -> None:
    setting.reset(held(2000))
    part = kept(tmp_path, setting).with_name(f"{kept(tmp_path, setting).name}.part")
    with setting.start(tmp_path / "device") as app:
        assert app.process.stdin
        app.process.stdin.write(f"{setting.line}\n")
        app.process.stdin.flush()
        assert wait_until(lambda: part.exists() and part.stat().st_size >= 2000)
        app.kill()
    assert loaded(setting, tmp_path)["error"] == ""
    assert int(asked(setting)[0].partition("-")[0]) >= 2000


def test_calls_do_not_wait_for_a_download_of_a_model_that_is_opened_again(setting: Setting, tmp_path: Path) -> None:
    setting.reset()
    gate = Event()
    with setting.start(tmp_path / "device") as app:
        assert app.ask(setting.line.replace("load", "open")) == {"told": 0}, "the load is over"
        for ends, code in (("cancel", "cancelled"), ("dispose", "disposed")):
            setting.reset(gated(gate), gated(gate))
            assert app.process.stdin
            app.process.stdin.write("run\n")
            app.process.stdin.flush()
            assert ends == "dispose" or wait_until(lambda: asked(setting) != [])
            assert app.ask(ends) == {"run": code}
        gate.set()


@pytest.mark.parametrize("address", ["http://127.0.0.1/models/", "https://127.0.0.1/models", "models/"])
def test_an_address_is_that_of_a_folder_with_https(setting: Setting, tmp_path: Path, address: str) -> None:
    found = loaded(setting, tmp_path, line=f"load {address}")
    assert found["error"] == "badOptions", found
