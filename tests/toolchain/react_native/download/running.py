"""Code of tests that runs in one shared Node: starting Node takes longer than most of it."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import IO, Any

from packager.files.installed import templates_folder
from packager.render.templates import render
from tests.toolchain import node, typescript
from tests.toolchain.react_native.download.server import Certificate

SETTING = Path(__file__).with_name("setting.mjs")
CERTIFICATE = Path(__file__).with_name("certificate.mjs")
LIBRARY = templates_folder() / "typescript" / "lib"
SECONDS = 180


@dataclass(frozen=True)
class Seen:
    """The result of the code, and the numbers of bytes reported to it."""

    value: Any
    progress: list[int]


@dataclass(frozen=True)
class Process:
    """A Node that waits for code."""

    popen: "subprocess.Popen[str]"
    commands: IO[str]
    answers: IO[str]

    def run(self, code: str, **names: object) -> Seen:
        """Runs the body of an asynchronous function; `names` are there in it."""
        watch = Timer(SECONDS, self.popen.kill)
        watch.start()
        try:
            self.commands.write(json.dumps({"code": code, **names}) + "\n")
            self.commands.flush()
            answer = self.answers.readline()
        finally:
            watch.cancel()
        assert answer, f"Node ended, or was ended after {SECONDS} s"
        found = json.loads(answer)
        assert "value" in found, found
        return Seen(**found)


def certificate(folder: Path) -> Certificate:
    """A new certificate, which only those trust who are told to."""
    made = Certificate(folder / "certificate.pem", folder / "key.pem")
    done = node.run([CERTIFICATE, made.key, made.certificate], cwd=folder)
    assert done.returncode == 0, done.output
    return made


@contextmanager
def running(folder: Path, trusted: Path | None = None) -> Iterator[Process]:
    """A Node that trusts a certificate beside the system's. Fails if it has written a warning in the end."""
    project = node.project("react_native")
    variables = {"NODE_EXTRA_CA_CERTS": str(trusted)} if trusted else {}
    runtime = shutil.copytree(LIBRARY, folder / "lib") / "runtime"
    providers = render("typescript/lib/runtime/providers.js.j2", typescript.Printed())
    (runtime / "providers.js").write_text(providers, encoding="utf-8", newline="\n")
    with (folder / "errors.txt").open("w") as errors:
        process = subprocess.Popen(
            [str(node.node().program), str(SETTING), str(project), str(runtime)],
            env={**os.environ, "NODE_OPTIONS": "", **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    assert process.stdin
    assert process.stdout
    with process.stdin as commands, process.stdout as answers:
        try:
            yield Process(process, commands, answers)
        except BaseException:
            process.kill()
            raise
        finally:
            commands.close()
            process.wait(SECONDS)
    assert (folder / "errors.txt").read_text() == ""
