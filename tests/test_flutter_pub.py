"""Flutter packages and the tools of pub: what they need is found, they may be published, and their build hook runs."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from packager.environments.runtime import shipped_version
from packager.release.layouts import unpack
from packager.render import write_sources
from tests.golden.cases import FLUTTER_CASES
from tests.test_flutter_target import there
from tests.toolchain import projects
from tests.toolchain.dart import dart, flutter_sdk
from tests.toolchain.swift import Finished

pytestmark = [pytest.mark.by_content(of=[projects.FLUTTER]), pytest.mark.flutter]

URL = "https://example.com/contracts"
PUBSPEC = """\
name: app
environment:
  sdk: ^3.10.0
dependencies:
  models:
    path: ../models
hooks:
  user_defines:
    models:
      onnxruntime: {onnxruntime}
"""
PROGRAM = """\
import 'package:models/models.dart';

Future<void> main() async {
  final model = await EveryType.load();
  print('loaded ${model.info.onnxRuntimeVersion} on ${model.provider.name}');
  await model.dispose();
}
"""


class NoPackages(BaseHTTPRequestHandler):
    """A server of pub that has no package."""

    def do_GET(self) -> None:
        self.send_response(404)
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        """Nothing is written."""


@contextmanager
def server() -> Iterator[str]:
    """Address of a server of pub."""
    with ThreadingHTTPServer(("127.0.0.1", 0), NoPackages) as running:
        Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def run(command: list[str], folder: Path, root: Path, **environment: str) -> Finished:
    """A command in a folder below `root`, which has a Flutter SDK."""
    flutter = root / "flutter"
    if not flutter.exists():
        flutter_sdk(flutter)
    variables = {"FLUTTER_ROOT": str(flutter), **environment}
    return dart().run(command, cwd=folder, mounts={str(root): root}, environment=variables)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package as somebody publishes it."""
    root = tmp_path_factory.mktemp("published")
    case = there(FLUTTER_CASES["contracts"], root / "files")
    named = replace(case, android=replace(case.android, package=replace(case.package, url=URL)))  # type: ignore[type-var]
    write_sources(named.sources(), root / "contracts")
    return root / "contracts"


def test_pub_finds_nothing_to_warn_of(published: Path) -> None:
    with server() as address:
        done = run(["dart", "pub", "publish", "--dry-run"], published, published.parent, PUB_HOSTED_URL=address)
    assert "Validating package..." in done.output
    assert done.output.rstrip().endswith("Package has 0 warnings."), done.output
    locked = (published / "pubspec.lock").read_text(encoding="utf-8")
    assert locked.count("source:") == locked.count("source: sdk") == 1, locked


def test_pub_warns_of_a_package_that_lacks_what_it_needs(published: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(published, tmp_path / "contracts")
    (broken / "LICENSE").unlink()
    (broken / "lib" / "src" / "more.dart").write_text("import 'package:http/http.dart';\n", encoding="utf-8")
    with server() as address:
        done = run(["dart", "pub", "publish", "--dry-run"], broken, tmp_path, PUB_HOSTED_URL=address)
    assert done.returncode != 0
    assert "You must have a LICENSE file" in done.output
    assert "does not have http in the `dependencies`" in done.output


@pytest.mark.parametrize(
    ("system", "named", "bundled"),
    [
        ("linux", "native/libonnxruntime.so", "native/libonnxruntime.so"),
        ("windows", "native/libonnxruntime.so", None),
        ("windows", {"linux": "a.so", "windows": "native/onnxruntime.dll"}, "native/onnxruntime.dll"),
        ("android", "native/libonnxruntime.so", None),
        ("ios", {"ios": "native/libonnxruntime.dylib"}, None),
        ("linux", None, None),
        ("linux", "native/missing.so", "no such file"),
        ("linux", {"linux": "native/onnxruntime.dll"}, "is no library for linux"),
        ("linux", 3, "is a path"),
    ],
)
def test_the_build_hook_answers_what_to_bundle(
    hook_program: Path, tmp_path: Path, system: str, named: Any, bundled: str | None
) -> None:
    (tmp_path / "native").mkdir()
    for name in ("libonnxruntime.so", "onnxruntime.dll", "libonnxruntime.dylib"):
        (tmp_path / "native" / name).write_bytes(b"")
    defines = {"onnxruntime": named} if named is not None else {}
    answered = hook(hook_program, tmp_path, system, defines)
    if isinstance(answered, str):
        assert bundled is not None
        assert bundled in answered
        return
    assert answered["status"] == "success"
    files = [each["encoding"]["file"] for each in answered["assets"]]
    assert files == ([] if bundled is None else [str(tmp_path / bundled)])
    assert answered["dependencies"] == files


@pytest.fixture(scope="module")
def hook_program(published: Path) -> Path:
    """The build hook of the package, compiled once."""
    made = published.parent / "build.dill"
    command = ["dart", "compile", "kernel", str(published / "hook" / "build.dart"), "-o", str(made)]
    done = dart().run(command, cwd=published.parent)
    assert done.returncode == 0, done.output
    return made


def hook(program: Path, folder: Path, system: str, defines: dict[str, Any]) -> dict[str, Any] | str:
    """The answer of the build hook to a request as Dart's tools make it, or what it says when it fails."""
    config = {
        "build_asset_types": ["code_assets/code"],
        "extensions": {"code_assets": {"target_os": system, "target_architecture": "x64"}},
        "linking_enabled": False,
    }
    given = {
        "assets": {},
        "config": config,
        "out_file": str(folder / "output.json"),
        "package_name": "contracts",
        "package_root": f"{program.parent}/contracts/",
        "user_defines": {"workspace_pubspec": {"base_path": str(folder / "pubspec.yaml"), "defines": defines}},
    }
    (folder / "input.json").write_text(json.dumps(given), encoding="utf-8")
    shutil.copy(program, folder)
    done = dart().run(["dart", program.name, f"--config={folder / 'input.json'}"], cwd=folder)
    if done.returncode != 0:
        return done.output
    found: dict[str, Any] = json.loads((folder / "output.json").read_text(encoding="utf-8"))
    return found


def test_a_program_of_dart_alone_gets_the_library_that_its_pubspec_names(tmp_path: Path) -> None:
    unpack(projects.FLUTTER.archive(), tmp_path / "models")
    app = tmp_path / "app"
    (app / "bin").mkdir(parents=True)
    (app / "native").mkdir()
    library = dart().onnxruntime()
    shutil.copy(library, app / "native" / library.name)
    (app / "pubspec.yaml").write_text(PUBSPEC.format(onnxruntime=f"native/{library.name}"), encoding="utf-8")
    (app / "bin" / "app.dart").write_text(PROGRAM, encoding="utf-8")
    found = run(["dart", "pub", "get", "--offline"], app, tmp_path)
    assert found.returncode == 0, found.output
    done = run(["dart", "run", "bin/app.dart"], app, tmp_path)
    assert f"loaded {shipped_version()} on cpu" in done.output, done.output
    (app / "pubspec.yaml").write_text(PUBSPEC.partition("hooks:")[0], encoding="utf-8")
    run(["dart", "pub", "get", "--offline"], app, tmp_path)
    done = run(["dart", "run", "bin/app.dart"], app, tmp_path)
    assert "ONNX Runtime cannot be opened" in done.output, done.output
