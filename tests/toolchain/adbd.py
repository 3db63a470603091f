"""Android's own `adbd`, Debian's build of it, and Google's adb: devices over a made-up device tree.

`python -m tests.toolchain.adbd --lock` locks the versions that Debian's mirror has now. All of them live in a network
of their own, which has a loopback and nothing else; mobpack reaches the server of adb by a socket in the file system. A
device has mounts of its own: `/data/local/tmp` is a disk of a limited size, `/system/bin` has programs that answer as
Android's do, and `app_process` starts Java over Android's own libraries for its processor: x86_64, or arm64 on an
emulated one. Killing it pulls the cable.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from packager.core.errors import ToolError
from packager.files import host
from packager.files.hashes import known_sha256
from packager.files.store import Store, key_of
from packager.files.user_cache import cache_folder
from packager.measuring.devices.adb import dexing
from packager.measuring.devices.adb.link import Adb
from packager.measuring.devices.adb.program import adb
from tests.cases.waiting import HANGS_S, until
from tests.toolchain import device_java, jvm
from tests.toolchain.debian_root import Suite, make_alone, read_lock, unpack
from tests.toolchain.require import require

SUITE = Suite("sid")
LOCK = Path(__file__).with_name("adbd_debs.txt")
REFRESH = "python -m tests.toolchain.adbd --lock"
WANTED = ("adbd", "dash", "coreutils", "grep", "libstdc++6", "zlib1g")
NOT_NEEDED = re.compile(r"(debianutils|libc-gconv-modules-extra|openssl-provider-legacy|android-udev-rules)$")
NOT_UNPACKED = re.compile(r"usr/share/(doc|info|lintian|locale|man)/")
SYSTEM = Path(__file__).with_name("device_system")
ADBD = "/usr/lib/android-sdk/platform-tools/adbd"
PIXEL = {
    "ro.product.manufacturer": "Google",
    "ro.product.model": "Pixel 8",
    "ro.soc.model": "Tensor G3",
    "ro.build.version.sdk": "34",
    "ro.build.version.release": "14",
    "ro.product.cpu.abilist": "x86_64",
    "ro.build.fingerprint": "google/shiba/shiba:14/UQ1A/1:user/release-keys",
}


@cache
def root() -> Path:
    """Debian's programs in a folder of the cache; skips the test if they are not available."""
    require(sys.platform == "linux", "adbd runs on Linux")
    require(bool(shutil.which("unshare") and shutil.which("nsenter")), "unshare and nsenter of util-linux are missing")
    done = subprocess.run([*_apart("--net"), "true"], capture_output=True, text=True, check=False)
    require(done.returncode == 0, f"devices need root or user namespaces: {done.stderr.strip()}")
    folder = cache_folder() / "adbd" / key_of([LOCK.read_text(encoding="utf-8"), NOT_UNPACKED.pattern])[:16]

    def make(made: Path) -> None:
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            unpack(SUITE.download(read_lock(LOCK), Path(scratch), refresh=REFRESH), made, NOT_UNPACKED)

    try:
        make_alone(folder, make)
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
    return folder


def _apart(*options: str) -> list[str]:
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", *user, *options]


@dataclass
class Phone:
    """A device of a rack."""

    port: int
    folder: Path
    rack: "Rack"
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def serial(self) -> str:
        return f"127.0.0.1:{self.port}"

    def write(self, name: str, text: str) -> None:
        """Changes what one of its programs says: `battery`, `thermal`, `power`, `properties`."""
        (self.folder / "answers" / name).write_text(text, encoding="utf-8", newline="\n")

    def hold(self) -> None:
        """Has Java wait, where it is to start, until `let_go`."""
        self.write("hold", "")
        self.write("app_process", "touch /answers/begun\nwhile [ -e /answers/hold ]; do sleep 0.05; done\n")

    @property
    def is_held(self) -> bool:
        """Whether Java was to start since `hold`."""
        return (self.folder / "answers" / "begun").exists()

    def let_go(self) -> None:
        for name in ("app_process", "begun", "hold"):
            (self.folder / "answers" / name).unlink(missing_ok=True)

    def start(self) -> None:
        """Starts the daemon, or starts it again; what was on its disk is gone."""
        command = [*self.rack.enter(), "unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-e"]
        with (self.folder / "adbd.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*command, str(SYSTEM / "boot.sh"), str(self.folder), str(root()), str(self.port), ADBD],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def pull_cable(self) -> None:
        """Kills the daemon with all that it started."""
        if self.process:
            self.process.kill()  # and unshare kills the first process of the namespace, with which all end
            self.process.wait()
        self.process = None

    def running(self, name: str) -> Iterator[int]:
        """Processes of the machine that run a program of this device."""
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if (entry / "comm").read_text().strip() == name and str(self.folder) in (
                    entry / "mountinfo"
                ).read_text():
                    yield int(entry.name)

    def connect(self) -> None:
        def is_connected() -> bool:
            said = self.rack.adb("connect", self.serial).stdout
            return "connected to" in said and self.rack.adb("-s", self.serial, "shell", "true").returncode == 0

        until(is_connected, lambda: (self.folder / "adbd.log").read_text(encoding="utf-8")[-2000:])


@dataclass
class Rack:
    """A network with the server of adb and its devices."""

    folder: Path
    server: "subprocess.Popen[bytes]"
    phones: list[Phone] = field(default_factory=list)

    @property
    def variables(self) -> dict[str, str]:
        """Variables with which mobpack uses this server, and no other."""
        return {
            "ADB_SERVER_SOCKET": f"localfilesystem:{self.folder}/adb.sock",
            "HOME": str(self.folder / "home"),
            "XDG_CACHE_HOME": str(cache_folder().parent),
        }

    def enter(self) -> list[str]:
        user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
        return ["nsenter", f"--target={self.inside}", "--net", *user]

    @property
    def inside(self) -> int:
        """A process in the network."""
        return self.server.pid

    def adb(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(adb()), *arguments],
            stdin=subprocess.DEVNULL,
            env={**os.environ, **self.variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=HANGS_S,
        )

    def phone(
        self,
        properties: Mapping[str, str] | None = None,
        *,
        disk_mb: int = 400,
        classes: Mapping[Path, Sequence[Path]] | None = None,
        lacks: Sequence[str] = (),
        keeps_disk: bool = False,
    ) -> Phone:
        """A new device that is connected. `classes` maps archives in Android's form to the jars they were made of,
        which its Java runs in their place; it lacks the programs `lacks`. Its disk is new at every start, unless it
        `keeps_disk`."""
        number = len(self.phones)
        folder = self.folder / f"phone-{number}"
        for name in ("answers", "classes", "system", "top"):
            (folder / name).mkdir(parents=True)
        shutil.copytree(SYSTEM / "bin", folder / "system" / "bin")
        for name in lacks:
            (folder / "system" / "bin" / name).unlink()
        made = Phone(port=5601 + number, folder=folder, rack=self)
        facts = {**PIXEL, **(properties or {})}
        made.write("properties", "".join(f"[{name}]: [{text}]\n" for name, text in facts.items() if text))
        made.write("battery", BATTERY)
        made.write("thermal", "IsStatusOverride: false\nThermalEventListeners:\nThermal Status: 0\n")
        made.write("power", "Power Manager State:\n  mWakefulness=Awake\n")
        (folder / "disk").write_text("" if keeps_disk else f"{disk_mb}m", encoding="ascii")
        (folder / "data").mkdir()
        java = device_java.java(facts["ro.product.cpu.abilist"].split(",")[0])
        (folder / "java").write_text(java.described(device_java.framework()), encoding="utf-8")
        (folder / "seen").write_text("".join(f"{each}\n" for each in java.seen), encoding="utf-8")
        for archive, jars in (classes or {}).items():
            copies = [shutil.copy(jar, folder / "classes" / f"{known_sha256(jar)}.jar") for jar in jars]
            seen = ":".join(f"/classes/{Path(each).name}" for each in copies)
            (folder / "classes" / known_sha256(archive)).write_text(seen, encoding="utf-8")
        made.start()
        self.phones.append(made)
        made.connect()
        return made


def classes_for(library: Path | None) -> dict[Path, tuple[Path, ...]]:
    """Archives that mobpack copies to devices for a library, or without one -> the jars that they were made of."""
    store = Store(cache_folder() / "store")
    runtime = jvm.android_runtime().classes
    known = (runtime, *dexing.libraries(store))
    own = [dexing.driver(runtime, dexing.java_package(runtime), store)]
    with store.scratch() as scratch:
        if library:
            with zipfile.ZipFile(library) as archive:
                archive.extract("classes.jar", scratch)
            kept = cache_folder() / "adbd" / f"{known_sha256(scratch / 'classes.jar')}.jar"
            if not kept.is_file():
                kept.parent.mkdir(parents=True, exist_ok=True)
                host.replace(scratch / "classes.jar", kept)
            own.insert(0, kept)
        return {dexing.dexed(known, store): known, dexing.dexed(own, store, classpath=known): tuple(own)}


BATTERY = """\
Current Battery Service state:
  AC powered: false
  USB powered: true
  Wireless powered: false
  Charge counter: 3210000
  status: 2
  level: 87
  temperature: 271
"""


@contextmanager
def rack() -> Iterator[Rack]:
    """A rack without devices; all that it started ends with it."""
    root()
    with tempfile.TemporaryDirectory(prefix="rack-") as name:
        folder = Path(name)
        (folder / "home").mkdir()
        script = 'ip link set lo up 2>/dev/null; exec "$0" -L "$1" nodaemon server'
        socket = f"localfilesystem:{folder}/adb.sock"
        with (folder / "server.log").open("wb") as log:
            server = subprocess.Popen(
                [*_apart("--net"), "sh", "-c", script, str(adb()), socket],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "HOME": str(folder / "home"), "ADB_MDNS": "0"},
                start_new_session=True,
            )
        made = Rack(folder=folder, server=server)
        try:
            until((folder / "adb.sock").exists)
            yield made
        finally:
            for phone in made.phones:
                phone.pull_cable()
            with suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def main() -> None:
    if sys.argv[1:] != ["--lock"]:
        sys.exit(f"usage: {REFRESH}")
    LOCK.write_text(SUITE.lock(WANTED, NOT_NEEDED), encoding="utf-8", newline="\n")


def is_idle(phone: Phone) -> bool:
    return not any(phone.running("java"))


@contextmanager
def interruption(*phones: Phone) -> Iterator[None]:
    """Interrupts what runs in the block in this process, as Ctrl-C does, once it runs Java on all `phones`, which begin
    together; the block has to end within two minutes then, and to leave no program and no file of a run on them."""
    for phone in phones:
        until(partial(is_idle, phone))
        phone.hold()
    interrupted_at: list[float] = []
    ended = threading.Event()

    def interrupt() -> None:
        until(lambda: all(phone.is_held for phone in phones) or ended.is_set())
        for phone in phones:
            phone.let_go()
        until(lambda: not any(map(is_idle, phones)) or ended.is_set())
        if ended.is_set():
            return
        interrupted_at.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    try:
        yield
    finally:
        ended.set()
        interrupting.join()
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert interrupted_at, "it ended before all devices ran Java"
    assert time.monotonic() - interrupted_at[0] < 120
    for phone in phones:
        assert is_idle(phone), "mobpack has ended, its program on the device has not"
        left = phone.rack.adb("-s", phone.serial, "shell", f"ls {Adb.HOME}/runs {Adb.HOME}/incoming").stdout.split()
        assert [each for each in left if not each.endswith(":")] == []


if __name__ == "__main__":
    main()
