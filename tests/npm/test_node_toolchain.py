"""Projects of npm packages for tests: locked by hash, and installed whole or not at all."""

import base64
import hashlib
import json
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from packager.core.errors import ToolError
from tests.cases.node_toolchain import PROJECTS, archive_of, lock_of, locked
from tests.nights import AT_NIGHT
from tests.toolchain import node, npm_packages, typescript
from tests.toolchain.npm_checks import compile_all

OF_NIGHTS = ("azurite", "expo_57")
"""projects of tests that run at night alone: each takes half a minute of a processor to install"""


@pytest.mark.parametrize("name", [name for name in PROJECTS if name not in OF_NIGHTS or AT_NIGHT])
def test_a_project_holds_what_its_lock_names(name: str) -> None:
    modules = node.project(name) / "node_modules"

    for package, version in locked(name, "package.json")["dependencies"].items():
        installed = json.loads((modules / package / "package.json").read_text(encoding="utf-8"))
        assert (installed["name"], installed["version"]) == (package, version)


@dataclass
class Registry:
    """A server with packages at the places that most registries have."""

    archives: dict[str, bytes]
    asked: list[str] = field(default_factory=list)

    def add(self, name: str, archive: bytes) -> dict[str, Any]:
        """The entry of a lock for version 1.0.0 of the package."""
        self.archives[f"/{name}/-/{name.rpartition('/')[2]}-1.0.0.tgz"] = archive
        hashed = base64.b64encode(hashlib.sha512(archive).digest()).decode()
        return {"version": "1.0.0", "integrity": f"sha512-{hashed}"}


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Registry, str]]:
    """A registry, and its address."""
    registry = Registry({})

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            registry.asked.append(self.path)
            body = registry.archives.get(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *arguments: object) -> None:
            """Nothing is written."""

    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield registry, f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


def test_projects_hold_files_of_their_packages_and_commands_and_share_those_that_both_name(
    served: tuple[Registry, str], tmp_path: Path
) -> None:
    registry, address = served
    tool = registry.add("@a/tool", archive_of({"package/run.js": "run", "package/lib/index.js": "tool"}))
    nested = registry.add("inner", archive_of({"other-folder/index.js": "inner"}))
    bundle = registry.add("bundle", archive_of({"package/node_modules/inner/index.js": "bundled"}))
    packages = {
        "node_modules/@a/tool": {**tool, "bin": {"tool": "run.js"}},
        "node_modules/@a/tool/node_modules/inner": nested,
        "node_modules/bundle": {**bundle, "bundleDependencies": ["inner"]},
        "node_modules/bundle/node_modules/inner": {"version": "1.0.0", "inBundle": True},
    }
    first, second = tmp_path / "first", tmp_path / "second"

    npm_packages.install(lock_of(first, packages), first, address, [])
    before = list(registry.asked)
    npm_packages.install(lock_of(second, packages), second, address, [first])

    for project in (first, second):
        modules = project / "node_modules"
        texts = {path.relative_to(modules).as_posix(): path.read_text() for path in files_below(modules)}
        assert texts == {
            "@a/tool/run.js": "run",
            "@a/tool/lib/index.js": "tool",
            "@a/tool/node_modules/inner/index.js": "inner",
            "bundle/node_modules/inner/index.js": "bundled",
        }
        assert os.access(node.tool(project, "tool"), os.X_OK)
        assert node.tool(project, "tool") == (modules / "@a" / "tool" / "run.js").resolve()
    inner = "node_modules/@a/tool/node_modules/inner/index.js"
    assert (first / inner).samefile(second / inner)
    assert (len(before), registry.asked[len(before) :]) == (3, ["/bundle/-/bundle-1.0.0.tgz"])


def files_below(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]


def test_a_registry_that_has_packages_in_other_places_is_asked_for_them_by_npm(
    served: tuple[Registry, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry, address = served
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(node, "registry", lambda: address)
    asked: list[tuple[str, ...]] = []

    def npm(*arguments: str, cwd: Path) -> node.Finished:
        asked.append(arguments)
        return node.Finished(0, "", "")

    monkeypatch.setattr(node, "npm", npm)
    assert node.install(node.PROJECTS / "ruby").is_dir()
    assert asked == [("ci",)]
    places = ("/@bjorn3/browser_wasi_shim/-/", "/@ruby/3.4-wasm-wasi/-/", "/@ruby/wasm-wasi/-/", "/tslib/-/")
    assert registry.asked  # side by side: the first that is not there ends it, before or after others are asked for
    assert [path for path in registry.asked if not path.startswith(places)] == []


@pytest.mark.parametrize("is_npm", [False, True])
def test_a_package_with_other_bytes_than_the_locked_ones_is_refused(
    is_npm: bool, served: tuple[Registry, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    if is_npm:  # which is asked where the registry has the package elsewhere
        monkeypatch.setattr(node, "registry", lambda: served[1])
    entry = {"version": "0.2.1", "integrity": f"sha512-{'A' * 86}=="}
    lock_of(tmp_path / "small", {"node_modules/xhr2": entry})

    with pytest.raises(ToolError, match=r"not the locked (one|package)") as caught:
        node.install(tmp_path / "small")

    assert "do not use them" in caught.value.hint
    assert [path.name for path in (tmp_path / "cache" / "mobpack" / "node").iterdir() if path.is_dir()] == []


def test_a_program_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    (tmp_path / "child.js").write_text(
        "setInterval(() => require('fs').appendFileSync('beats', '.'), 20)", encoding="utf-8"
    )
    (tmp_path / "parent.js").write_text(
        "require('child_process').spawn(process.execPath, ['child.js']); setTimeout(() => {}, 60000);",
        encoding="utf-8",
    )

    for timeout_s in (1, 10, 60):
        done = node.run(["parent.js"], cwd=tmp_path, timeout_s=timeout_s)
        assert done.returncode < 0
        assert f"ended after {timeout_s} s" in done.stderr
        if (tmp_path / "beats").exists():  # on a busy machine it takes a while to start
            break

    time.sleep(0.2)
    beats = (tmp_path / "beats").read_text(encoding="utf-8")
    time.sleep(0.2)
    assert beats
    assert (tmp_path / "beats").read_text(encoding="utf-8") == beats


def test_linked_packages_are_found_and_others_can_be_added(tmp_path: Path) -> None:
    modules = node.link(node.project("react_native"), tmp_path)
    (modules / "@types" / "mine").mkdir()
    (modules / "mine").mkdir()
    (modules / "mine" / "index.js").write_text("module.exports = require('react').version", encoding="utf-8")

    done = node.run(["-p", "require('mine')"], cwd=tmp_path)

    assert done.stdout.strip() == locked("react_native", "package.json")["dependencies"]["react"]
    assert not (node.project("react_native") / "node_modules" / "mine").exists()
    assert not (node.project("react_native") / "node_modules" / "@types" / "mine").exists()


def test_temporary_files_of_a_program_are_removed(tmp_path: Path) -> None:
    leave = "const f = fs.mkdtempSync(path.join(os.tmpdir(), 'left')); fs.writeFileSync(path.join(f, 'a'), ''); f"
    done = node.run(["-p", leave], cwd=tmp_path)
    left = Path(done.stdout.strip())

    assert left.name.startswith("left"), done.output
    assert not left.exists()


def test_complaints_of_a_compiler_are_kept_for_the_same_content_alone(tmp_path: Path) -> None:
    def compiled(name: str, text: str) -> node.Finished:
        place = typescript.Workplace(tmp_path / name)
        place.src.mkdir(parents=True)
        (place.src / "index.ts").write_text(text, encoding="utf-8")
        place.configure({})
        [done] = compile_all([place.config])
        assert (place.lib / "index.js").read_text(encoding="utf-8").startswith("export const one")
        return done

    right, wrong = "export const one: number = 1;\n", "export const one: string = 1;\n"
    assert compiled("first", right) == compiled("same", right) == node.Finished(0, "", "")
    for name in ("other", "again"):
        done = compiled(name, wrong)
        assert done.returncode == 2
        assert done.stdout.startswith("src/index.ts(1,14): error TS2322: ")
