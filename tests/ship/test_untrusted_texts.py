"""Text of others - files, devices, tools, the network - gives the errors of mobpack, whatever it is."""

from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.engines.environments import web
from packager.measuring.devices import conditions
from packager.measuring.devices.adb import Adb
from packager.measuring.devices.adb.program import HOMES
from packager.measuring.devices.choosing import SILENT, Absent, describe_all
from packager.measuring.devices.conversation import Conversation
from packager.measuring.devices.link import Device, DeviceProgram

ADB = """#!/bin/sh
if [ "$1" = devices ]; then printf 'List of devices attached\\nGOOD\\tdevice\\nBAD\\tdevice\\n'; exit 0; fi
if [ "$2" = GOOD ]; then
    printf '[ro.product.model]: [Pixel 8]\\n[ro.build.version.sdk]: [34]\\n\\nmobpack-exit-code:0\\n'; exit 0
fi
cat "$0.bad"
"""


@pytest.fixture
def link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Adb:
    """A good device, and one that answers with the file `adb.bad`."""
    program = tmp_path / "platform-tools" / "adb"
    program.parent.mkdir()
    program.write_text(ADB, encoding="utf-8")
    program.chmod(0o755)
    for name in HOMES:
        monkeypatch.setenv(name, str(tmp_path))
    return Adb()


def answering(link: Adb, content: bytes) -> None:
    link.program.with_name("adb.bad").write_bytes(content)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\xff\xfe\x00\n",
        b"nothing\n\nmobpack-exit-code:0\n",
        b"[ro.x]: [y]\n\nmobpack-exit-code:x\n",
        b"[ro.x]: [y]\n\nmobpack-exit-code:" + b"9" * 5000,
        b"[ro.x]: [y]\n\nmobpack-exit-code:\xc2\xb2\n",
    ],
    ids=["nothing", "no text", "no properties", "no code", "digits", "a raised digit"],
)
def test_a_device_that_answers_nonsense_is_absent_beside_the_others(link: Adb, answer: bytes) -> None:
    answering(link, answer)
    bad, good = describe_all(link, link.listed())
    assert isinstance(good, Device)
    assert (good.model, good.api) == ("Pixel 8", 34)
    assert isinstance(bad, Absent)
    assert bad.state in (SILENT, "gone")
    assert bad.advice


@pytest.mark.parametrize("level", ["²", "٣٤", "9" * 5000, "-1", "S"])
def test_an_api_level_that_is_no_number_is_unknown(link: Adb, level: str) -> None:
    answering(link, f"[ro.build.version.sdk]: [{level}]\n\nmobpack-exit-code:0\n".encode())
    assert link.describe("BAD").api == 0


def test_conditions_that_cannot_be_read_are_missing(link: Adb) -> None:
    digits = "9" * 5000
    lines = (
        f"@battery\n  temperature: {digits}\n  level: {digits}\n  Charge counter: {digits}",
        f"@thermal\nThermal Status: {digits}",
        "@load\n1.2.3.4 x",
        f"@clocks\n0 {digits} 1 performance\n0 x 1 performance 2\n1 1800000 2000000 performance 1900000\n@end\n",
    )
    answering(link, ("\n".join(lines) + "\nmobpack-exit-code:0\n").encode())
    found = conditions.read(link, "BAD")
    assert (found.thermal_status, found.battery_level, found.battery_temperature_c) == (None, None, None)
    assert (found.charge_uah, found.load) == (None, None)
    assert [(each.cpu, each.mhz, each.max_mhz, each.limit_mhz) for each in found.clocks] == [(1, 1800, 2000, 1900)]


@pytest.mark.parametrize(
    "line",
    [b"{no JSON}\n", b'{"a":' * 50_000 + b"\n", b'{"a": ' + b"9" * 5000 + b"}\n", b"{\xff}\n", b"{"],
    ids=["no JSON", "deep", "digits", "no text", "cut"],
)
def test_a_program_on_a_device_that_answers_nonsense_is_an_error_of_that_device(
    link: Adb, line: bytes, tmp_path: Path
) -> None:
    answering(link, line)
    start = DeviceProgram(main_class="A", classes=(), libraries="", folder="/", abi="x86_64")
    with pytest.raises(ToolError, match="BAD answered with something other than mobpack's program does, starting"):
        Conversation(link, "BAD", start, tmp_path)


@pytest.mark.parametrize("said", ["", "no Node", "v" + "9" * 5000, "vx.1", "v²"])
def test_a_program_called_node_that_is_none_is_named(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "node"
    program.write_text(f"#!/bin/sh\nprintf '{said}'\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(web, "node", lambda: str(program))
    assert web.Web().unsupported() == f"{program} is not Node.js: its version is {said[:40]!r}"
