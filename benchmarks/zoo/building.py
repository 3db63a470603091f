"""One build in processes of its own, measured from outside: time, memory and result."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from benchmarks.measure import family, resident_bytes

TARGETS = ("android", "ios", "react_native", "web", "flutter")
SAMPLING_S = 0.05
GRACE_S = 10
COMPARISON_S = 600
"""limit of the independent comparison"""
KOTLIN = b"org.jetbrains.kotlin.cli.jvm.K2JVMCompiler"
REFUSED = (2, 3, 4, 5, 6)
"""Exit codes of errors that mobpack reports with a message."""
FOLDERS = re.compile(r"(?<![\w.:/-])/(?:[\w.@+-]+/)+")
SIZES = re.compile(r"([^\s,]+) ((?:\d+x)*\d+)(?=[\s,)]|$)")
"""An input and its sizes in the report's words about samples."""
PACKAGES = ("aar", "swift-package", "npm-package")

State = Literal["shipped", "refused", "failed", "over the limit"]


@dataclass(frozen=True, kw_only=True)
class Watched:
    """Measurements of a command, taken from outside."""

    exit_code: int | None
    """None for one that was ended at the limit; negative for a signal"""
    wall_s: float
    cpu_s: float
    kotlin_wall_s: float
    """as long as Kotlin's compiler was there"""
    kotlin_cpu_s: float
    peak_bytes: int
    """largest sum of the resident sizes of all its processes; shared pages count in each"""


@dataclass(frozen=True, kw_only=True)
class Result:
    """Result of building a model."""

    name: str
    sha256: str
    code: str
    """hash of mobpack's code"""
    state: State
    message: str
    """reason why it does not ship: mobpack's message, or the end of its output"""
    watched: Watched
    model_bytes: int
    sizes: Mapping[str, int] = field(default_factory=dict)
    """kind of package -> bytes"""
    worst_error: float | None = None
    """largest error of any output of any file, as a share of its largest value; None where nothing was compared"""
    samples: str = ""
    """the samples of the comparison"""
    taken: Mapping[str, str] = field(default_factory=dict)
    """`provider` -> `nodes that it takes/all nodes`, by its rules"""
    measured: Mapping[str, str] = field(default_factory=dict)
    """the same as providers that run on this machine say themselves"""
    disagreements: int = 0
    """providers that take another part of the model than their rules say"""
    warnings: int = 0
    independent: str = ""
    """verdict of `independent.py`: `agrees`, `differs` or `not compared`; empty for a model that does not ship"""
    independent_reason: str = ""
    independent_files: int = 0
    independent_worst: float = 0.0
    """largest difference there, as a share of the output's largest value"""
    independent_own: float = 0.0
    """such a difference of the original from itself with constants that differ in their last bits"""
    rules: str = ""
    """verdict of `rules.py` on XNNPACK: `agrees`, `differs`, `kept away` or `not compared`"""
    rules_reason: str = ""
    rules_taken: int = 0

    @property
    def own_s(self) -> float:
        """Without Kotlin's compiler: seconds, or seconds of CPU where those are fewer because other work ran beside."""
        seen = self.watched
        return min(seen.wall_s - seen.kotlin_wall_s, seen.cpu_s - seen.kotlin_cpu_s)


def result(
    name: str, sha256: str, code: str, model: Path, scratch: Path, *, limit_s: float, cache: Path | None = None
) -> Result:
    """Builds `model` for TARGETS with the store in `cache`, by default an empty one below `scratch`, and compares the
    packages with it."""
    environment = {"XDG_CACHE_HOME": str(cache or empty_cache(scratch))}
    targets = [part for target in TARGETS for part in ("--target", target)]
    command = [sys.executable, "-P", "-m", "packager.cli", "build", str(model), *targets, "--out", "dist", "--json"]
    watched = watch(command, scratch, environment, limit_s=limit_s)
    said = (scratch / "stdout.txt").read_text(encoding="utf-8", errors="replace")
    complained = (scratch / "stderr.txt").read_text(encoding="utf-8", errors="replace")
    state = state_of(watched, complained)
    found = Result(
        name=name,
        sha256=sha256,
        code=code,
        state=state,
        message="" if state == "shipped" else reason(said, complained),
        watched=watched,
        model_bytes=model.stat().st_size,
    )
    return compared(with_report(found, scratch / "dist"), model, scratch) if state == "shipped" else found


def compared(found: Result, model: Path, scratch: Path) -> Result:
    """`found` with the verdicts of the independent comparison and of XNNPACK, in processes of their own."""
    files = answer("benchmarks.zoo.independent", str(model), str(scratch / "dist"), str(node_program()))
    sizes = [f"{name}={size.replace('x', ',')}" for name, size in SIZES.findall(found.samples)]
    rules = answer("benchmarks.zoo.rules", str(model), *sizes)
    return replace(
        found,
        independent=files["state"],
        independent_reason=files["reason"],
        independent_files=files.get("files", 0),
        independent_worst=files.get("worst", 0.0),
        independent_own=files.get("own", 0.0),
        rules=rules["state"],
        rules_reason=rules["reason"],
        rules_taken=rules.get("taken", 0),
    )


def answer(program: str, *arguments: str) -> Mapping[str, Any]:
    """The JSON that a program of the zoo prints; `not compared` where it prints none."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", program, *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=COMPARISON_S,
            cwd=Path(__file__).parents[2],
        )
    except subprocess.TimeoutExpired:
        return {"state": "not compared", "reason": f"not done after {COMPARISON_S} s"}
    try:
        said: Mapping[str, Any] = json.loads(done.stdout)
    except ValueError:
        return {"state": "not compared", "reason": FOLDERS.sub("", done.stderr.strip()[-300:])}
    return said


def node_program() -> Path:
    """The Node that mobpack's extra `web` brings."""
    return Path(sys.executable).with_name("node")


def empty_cache(scratch: Path) -> Path:
    """A cache without results in which nothing needs to be fetched."""
    from packager.files.user_cache import cache_folder

    own, cache = cache_folder(), scratch / "cache" / "mobpack"
    cache.mkdir(parents=True, exist_ok=True)
    for name in ("environments", "files", "apt"):
        (own / name).mkdir(exist_ok=True)
        if not (cache / name).is_symlink():
            (cache / name).symlink_to(own / name)
    return cache.parent


def watch(command: Sequence[str], folder: Path, environment: Mapping[str, str], *, limit_s: float) -> Watched:
    """Runs `command` in `folder`, where its output goes to `stdout.txt` and `stderr.txt`, and ends it at the limit."""
    with (folder / "stdout.txt").open("wb") as said, (folder / "stderr.txt").open("wb") as complained:
        started = time.monotonic()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=complained,
            cwd=folder,
            env={**os.environ, **environment, "COLUMNS": "2000"},
            start_new_session=True,
        )
        watcher = Watcher(process.pid)
        watcher.start()
        try:
            code, cpu_s = waited(process, started + limit_s)
        except BaseException:  # Ctrl-C does not reach a session of its own
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
        wall_s = time.monotonic() - started
        watcher.stop()
    return Watched(
        exit_code=code,
        wall_s=round(wall_s, 2),
        cpu_s=round(cpu_s, 2),
        kotlin_wall_s=round(watcher.kotlin_wall_s, 2),
        kotlin_cpu_s=round(sum(watcher.kotlin_cpu_s.values()), 2),
        peak_bytes=watcher.peak_bytes,
    )


def waited(process: "subprocess.Popen[bytes]", deadline: float) -> tuple[int | None, float]:
    """Exit code and CPU seconds of `process` and all that it waited for; no code when it was ended at `deadline`."""
    ended_at: float | None = None
    while True:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            code = process.returncode if ended_at is None else None
            return code, used.ru_utime + used.ru_stime
        now = time.monotonic()
        if now > deadline:
            kind = signal.SIGTERM if now < deadline + GRACE_S else signal.SIGKILL
            if ended_at is None or kind == signal.SIGKILL:
                ended_at = now
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, kind)
        time.sleep(SAMPLING_S)


class Watcher(threading.Thread):
    """Adds up the memory of a process and its descendants, and notes Kotlin's compiler among them."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid = pid
        self.peak_bytes = 0
        self.kotlin_wall_s = 0.0
        self.kotlin_cpu_s: dict[int, float] = {}
        self._done = threading.Event()

    def run(self) -> None:
        before = time.monotonic()
        while not self._done.wait(SAMPLING_S):
            now = time.monotonic()
            pids = list(family(self.pid))
            self.peak_bytes = max(self.peak_bytes, sum(resident_bytes(pid) for pid in pids))
            compilers = {pid: cpu_seconds(pid) for pid in pids if KOTLIN in command_line(pid)}
            self.kotlin_cpu_s |= compilers
            self.kotlin_wall_s += now - before if compilers else 0.0
            before = now

    def stop(self) -> None:
        self._done.set()
        self.join()


def command_line(pid: int) -> list[bytes]:
    """The command line of the process, one argument per item."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:  # it ended meanwhile
        return []


def cpu_seconds(pid: int) -> float:
    """User and system time so far (proc(5): the 14th and 15th field of stat, counted behind the name)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def state_of(watched: Watched, complained: str) -> State:
    if watched.exit_code is None:
        return "over the limit"
    if watched.exit_code == 0:
        return "shipped"
    is_told = watched.exit_code in REFUSED and "Traceback (most recent call last)" not in complained
    return "refused" if is_told else "failed"


def reason(said: str, complained: str) -> str:
    """The message of the document that --json prints, else the end of what was printed; without folders."""
    try:
        told = str(json.loads(said)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        told = "\n".join((complained or said).strip().splitlines()[-3:])
    return FOLDERS.sub("", told)


def with_report(found: Result, dist: Path) -> Result:
    """`found` with the figures of the release's report."""
    report = json.loads((dist / "report.json").read_text(encoding="utf-8"))
    manifest = json.loads((dist / "manifest.json").read_text(encoding="utf-8"))
    errors = [each["max-rel-error"] for parity in report["parity"] for each in parity["outputs"]]
    plain = asdict(found)
    plain |= {
        "watched": found.watched,
        "sizes": {each["kind"]: each["size-bytes"] for each in manifest["artifacts"] if each["kind"] in PACKAGES},
        "worst_error": max((each for each in errors if isinstance(each, int | float)), default=None),
        "samples": next((each["samples"] for each in report["parity"] if each["samples"]), ""),
        "taken": taken(report["partitions"]),
        "measured": taken(report["measured"]),
        "disagreements": len(report["contradictions"]),
        "warnings": len(report["warnings"]),
    }
    return Result(**plain)


def taken(partitions: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    found = {}
    for each in partitions:
        nothing = "refused" if each["refusal"] else "not asked"
        is_known = not (each["refusal"] or each["skipped"])
        found[each["provider"]] = f"{each['taken']}/{each['nodes']}" if is_known else nothing
    return found


def to_json(found: Result) -> str:
    return json.dumps(asdict(found), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def from_json(text: str) -> Result:
    document = json.loads(text)
    return Result(**{**document, "watched": Watched(**document["watched"])})
