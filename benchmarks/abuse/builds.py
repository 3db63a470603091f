"""Builds that are killed, find their store damaged, or run out of disk: the next build gives the same bytes."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from benchmarks.abuse.command import Answer, Place, new_cache, run, start
from benchmarks.abuse.fuzzing import MODELS
from benchmarks.abuse.result import Result

BUILD = ["build", "m.onnx", "--verify", "-t", "android", "--set", "target.android.providers=[]"]
CONVERT = ["convert", "m.onnx"]
GONE_WITHIN_S = 10
"""Time in which children must notice that their parent was killed."""
PATIENCE_S = 0.02


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A command, the files that it leaves, and their digest when nothing disturbs it."""

    command: list[str]
    output: str
    place: Place
    digest: str
    seconds: float

    def run(self, place: Place | None = None) -> Answer:
        place = place or self.place
        return run(self.command, place, self.place.folder.with_suffix(".txt"))


def digest_of(path: Path) -> str:
    """Digest of a file, or of all files of a folder with their names; empty if there is nothing."""
    if not path.exists():
        return ""
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            digest.update(file.relative_to(path.parent).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def subject(command: list[str], output: str, folder: Path) -> Subject:
    """Run the command once from nothing."""
    (folder / "work").mkdir(parents=True)
    shutil.copyfile(MODELS / "torch_lstm.onnx", folder / "work" / "m.onnx")
    place = Place(folder=folder / "work", cache=new_cache(folder / "cache"))
    made = Subject(command=command, output=output, place=place, digest="", seconds=0)
    began = time.monotonic()
    answer = made.run()
    if answer.code != 0:
        raise RuntimeError(f"{' '.join(command)} failed before anything was attacked: {answer.text}")
    return replace(made, digest=digest_of(place.folder / output), seconds=time.monotonic() - began)


def killed(one: Subject, count: int, seed: int) -> Result:
    """From an empty store: SIGKILL to the command alone at a random moment, then a second run to its end."""
    exceptions = []
    for number in range(count):
        shutil.rmtree(one.place.cache)
        new_cache(one.place.cache)
        moment = Random(f"{seed}-{number}").uniform(0, one.seconds)
        if fault := _killed(one, moment):
            exceptions.append(f"killed after {moment / one.seconds:.0%}: {fault}")
    return Result(attack=f"SIGKILL at random moments of `{one.command[0]}`", tries=count, exceptions=tuple(exceptions))


def _killed(one: Subject, moment: float) -> str:
    output = one.place.folder / one.output
    process = start(one.command, one.place, one.place.folder.with_suffix(".txt"))
    time.sleep(moment)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    if digest_of(output) not in ("", one.digest):
        return "the output was neither the old one nor the new one"
    end = time.monotonic() + GONE_WITHIN_S
    while alive := session_of(process):
        if time.monotonic() > end:
            return f"children were left: {', '.join(alive)}"
        time.sleep(PATIENCE_S)
    return _as_ever(one)


def _as_ever(one: Subject) -> str:
    answer = one.run()
    if answer.fault or answer.code != 0:
        return answer.fault or f"the next one ended with {answer.code}: {answer.text.strip().splitlines()[-2:]}"
    return "" if digest_of(one.place.folder / one.output) == one.digest else "the next one gave other bytes"


def session_of(leader: int) -> list[str]:
    """Names of a session's processes that still run (field 6 of /proc/PID/stat)."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text(encoding="utf-8", errors="replace").partition(" (")[2].rpartition(") ")
        except OSError:
            continue  # ended meanwhile
        state, _, _, session = rest.split()[:4]
        if int(session) == leader and state != "Z":
            found.append(name)
    return found


def damaged(one: Subject, count: int, seed: int) -> Result:
    """Flip a bit of a file of the store, cut or remove it, then run the command: it must give the same bytes."""
    exceptions = []
    for number in range(count):
        random = Random(f"{seed}-{number}")
        store = one.place.cache / "mobpack" / "store"
        path = random.choice(sorted(path for path in store.rglob("*") if path.is_file() and path.stat().st_size))
        how = random.choice(("flip", "cut", "remove"))
        damage(path, how, random)
        if fault := _as_ever(one):
            step = path.relative_to(store)
            exceptions.append(f"{how} {step.parts[0]}/.../{path.name}: {fault}")
    return Result(attack=f"stored files damaged, `{one.command[0]}`", tries=count, exceptions=tuple(exceptions))


def damage(path: Path, how: str, random: Random) -> None:
    content = bytearray(path.read_bytes())
    path.unlink()  # other entries may share its blocks
    if how == "remove":
        return
    if how == "cut":
        del content[random.randrange(len(content)) :]
    else:
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    path.write_bytes(content)


@contextmanager
def disk(folder: Path, size_bytes: int) -> Iterator[Path]:
    """Mount a disk of its own at `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def can_mount() -> bool:
    return sys.platform == "linux" and os.geteuid() == 0


def full_disks(one: Subject, count: int, seed: int) -> Iterator[Result]:
    """Put the release, the cache and the temporary folder on disks of 16 kB to 1 MB."""
    for what in ("output", "cache", "temporary folder"):
        exceptions, refused = [], 0
        for number in range(count):
            size_bytes = int(2 ** Random(f"{seed}-{what}-{number}").uniform(14, 20))
            with disk(one.place.folder.parent / "disk", size_bytes) as small:
                answer, left = _on(small, what, one)
            refused += answer.code != 0
            fault = answer.fault or ("" if answer.code in (0, 4) else f"ended with {answer.code}") or left
            if fault:
                exceptions.append(f"{size_bytes:,} bytes: {fault}")
        note = f"none; {refused} refused in words"
        yield Result(
            attack=f"{what} on a full disk, `{one.command[0]}`", tries=count, exceptions=tuple(exceptions), note=note
        )


def read_only(one: Subject) -> Iterator[Result]:
    for what in ("output", "cache", "temporary folder"):
        with disk(one.place.folder.parent / "disk", 1 << 20) as folder:
            subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
            answer, left = _on(folder, what, one)
        fault = answer.fault or ("" if answer.code in (0, 4) else f"ended with {answer.code}") or left
        yield Result(attack=f"{what} read-only, `{one.command[0]}`", tries=1, exceptions=(fault,) if fault else ())


def _on(folder: Path, what: str, one: Subject) -> tuple[Answer, str]:
    """Run the command with its output, cache or temporary files in `folder`: the files that it wrongly left there."""
    output = folder / "dist"
    if what == "output":
        command = [*one.command, "--out", str(output)]
        answer = run(command, one.place, one.place.folder.with_suffix(".txt"))
        left = [path.name for path in folder.iterdir() if path.name not in ("dist", ".dist.lock")]
        if answer.code != 0 and (output.exists() or left):
            return answer, f"left {', '.join(left) or 'half an output'}"
        return answer, ""
    place = replace(one.place, temporary=folder) if what == "temporary folder" else replace(one.place, cache=folder)
    return one.run(place), ""
