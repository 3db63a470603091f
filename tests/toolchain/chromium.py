"""A headless Chromium, controlled through a pipe (Chrome DevTools Protocol)."""

import json
import os
import platform
import signal
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Timer
from typing import IO, Any

from packager.core.errors import ToolError
from packager.files.atomic import install_once
from packager.files.processes import commands, downloads
from packager.files.user_cache import cache_folder
from tests.nights import AT_NIGHT
from tests.toolchain.require import require

SECONDS = 1800.0
"""Seconds after which the browser is ended: it can hang."""
UNPACK = """
const zlib = require("zlib"), fs = require("fs");
for (const [from, to] of JSON.parse(process.argv[1]))
  fs.writeFileSync(to, zlib.brotliDecompressSync(fs.readFileSync(from)));
"""
LAUNCH = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3]]
os.dup2(ends[0], 3), os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
FONTS = "<fontconfig><dir>{folder}/fonts</dir>{more}<cachedir>{folder}/cache</cachedir></fontconfig>\n"
OPTIONS = """
    --headless --no-sandbox --no-zygote --disable-dev-shm-usage --hide-scrollbars --no-first-run
    --remote-debugging-pipe
""".split()
NO_GPU = ("--disable-gpu",)
QUICK = ("--js-flags=--liftoff-only",)
"""Compiles WebAssembly once, quickly: optimizing takes longer than it saves in a few runs. The results are the same."""
SOFTWARE_GPU = """
    --enable-unsafe-webgpu --enable-features=Vulkan --use-webgpu-adapter=swiftshader --enable-unsafe-swiftshader
""".split()
PARTS = ("chromium", "al2023.tar", "fonts.tar", "swiftshader.tar")
"""the program, libraries that a bare system lacks, fonts, and a graphics processor in software"""
CAMERA = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")


@cache
def chromium() -> Path:
    """The unpacked browser; ends the test where it is not available."""
    require((sys.platform, platform.machine()) == ("linux", "x86_64"), "the pinned Chromium is for Linux on x86_64")
    folder = cache_folder() / "chromium" / f"{downloads.pin('chromium').sha256[:16]}-{len(PARTS)}"
    try:
        install_once(folder, _unpack)
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
    return folder


def _unpack(folder: Path) -> None:
    """All parts: with the same fonts, text has the same width everywhere."""
    with tarfile.open(downloads.fetch("chromium")) as archive:
        allow_data_alone(archive)
        for name in PARTS:
            archive.extract(f"package/bin/{name}.br", folder)
    files = [(str(folder / f"package/bin/{name}.br"), str(folder / name)) for name in PARTS]
    node = Path(downloads.npm()).with_name("node")
    commands.run([node, "-e", UNPACK, json.dumps(files)], what="unpacking Chromium")
    for name in PARTS[1:]:
        with tarfile.open(folder / name) as archive:
            allow_data_alone(archive)
            archive.extractall(folder)
    (folder / "chromium").chmod(0o755)


def allow_data_alone(archive: tarfile.TarFile) -> None:
    """Python 3.12 and 3.13 need this argument, 3.11.3 and older do not know it (PEP 706)."""
    archive.extraction_filter = getattr(tarfile, "data_filter", None)


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A page after it has run."""

    values: dict[str, Any]
    complaints: tuple[str, ...]
    """errors and warnings of the console"""
    requests: tuple[str, ...]


class Browser:
    def __init__(self, commands: IO[bytes], answers: IO[bytes], end: Callable[[], None] = lambda: None) -> None:
        self.commands, self.answers, self.end = commands, answers, end
        self.number = 0
        self.rest = b""
        self.events: list[dict[str, Any]] = []
        self.session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        self.number += 1
        session = {"sessionId": self.session} if self.session else {}
        message = {"id": self.number, "method": method, "params": parameters, **session}
        self.commands.write(json.dumps(message).encode() + b"\0")
        while (answer := self._read()).get("id") != self.number:
            self.events.append(answer)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            piece = os.read(self.answers.fileno(), 1 << 16)
            assert piece, "Chromium ended, or was ended because it took too long"
            self.rest += piece
        message, _, self.rest = self.rest.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def open(self, page: Path, *, width: int, scheme: str, values: dict[str, str], fragment: str = "") -> Seen:
        """Opens `page` in a window of that width and evaluates `values`, name to expression."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url="about:blank")
        self.events.clear()
        self.visit(f"{page.as_uri()}{fragment}")
        found = {name: self._value(expression) for name, expression in values.items()}
        return Seen(values=found, complaints=tuple(self._complaints()), requests=tuple(self.requests()))

    def visit(self, url: str) -> None:
        """Opens an address, and waits until the page is there with all that it loads."""
        loader = self.call("Page.navigate", url=url)["loaderId"]
        while not any(is_loaded(event, loader) for event in self.events):
            self.events.append(self._read())

    def _value(self, expression: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def _complaints(self) -> Iterator[str]:
        for event in self.events:
            if event.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
                yield json.dumps(event["params"])

    def requests(self) -> Iterator[str]:
        """Addresses that the page has asked for."""
        for event in self.events:
            if event.get("method") == "Network.requestWillBeSent":
                yield event["params"]["request"]["url"]


def is_loaded(event: dict[str, Any], loader: str) -> bool:
    """Whether the page of that `loader` is there, and not the one before it."""
    found = event.get("params", {})
    return event.get("method") == "Page.lifecycleEvent" and (found["loaderId"], found["name"]) == (loader, "load")


@contextmanager
def browser(
    home: Path,
    *,
    fonts: Sequence[Path] = (),
    camera: Path | None = None,
    has_gpu: bool = False,
    more: Sequence[str] = (),
    seconds: float = SECONDS,
) -> Iterator[Browser]:
    """A browser that keeps what it writes below `home`, and is gone at the end.

    It has a font without signs and without letters of equal width; `fonts` are folders with others. `camera` is a file
    of Motion JPEG that its camera shows, without asking anybody. With `has_gpu` it has WebGPU, in software. `more` are
    options of its own. It is ended after `seconds`: it can hang.
    """
    folder = chromium()
    others = "".join(f"<dir>{each}</dir>" for each in fonts)
    (home / "fonts.conf").write_text(FONTS.format(folder=folder, more=others), encoding="utf-8")
    variables = {"LD_LIBRARY_PATH": str(folder / "lib"), "HOME": str(home), "FONTCONFIG_FILE": str(home / "fonts.conf")}
    read_commands, write_commands = os.pipe()
    read_answers, write_answers = os.pipe()
    ends = (read_commands, write_answers)
    seen = [*CAMERA, f"--use-file-for-fake-video-capture={camera}"] if camera else []
    gpu = SOFTWARE_GPU if has_gpu else NO_GPU
    variables |= {"VK_ICD_FILENAMES": str(folder / "vk_swiftshader_icd.json")} if has_gpu else {}
    program = [
        str(folder / "chromium"),
        *OPTIONS,
        *gpu,
        *(() if AT_NIGHT else QUICK),
        *seen,
        *more,
        f"--user-data-dir={home / 'profile'}",
        "about:blank",
    ]
    with (home / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, *map(str, ends), *program],
            env={**os.environ, **variables},
            pass_fds=ends,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    for end in ends:
        os.close(end)
    watch = Timer(seconds, _end, [process])
    watch.start()
    try:
        with os.fdopen(write_commands, "wb", 0) as commands, os.fdopen(read_answers, "rb", 0) as answers:
            yield Browser(commands, answers, lambda: _end(process))
    finally:
        watch.cancel()
        _end(process)
        process.wait()


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End it with all its processes."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
