"""Flutter packages and the tools of pub: what they need is found, they may be published, and their build hook runs."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from packager.engines.environments.runtime import shipped_version
from packager.files.zips import unpack
from packager.render.templates import write_sources
from tests.flutter.test_flutter_target import there
from tests.golden.cases import FLUTTER_CASES
from tests.toolchain import projects
from tests.toolchain.dart import dart, flutter_sdk
from tests.toolchain.swift import Finished

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


@dataclass(frozen=True)
class Asked:
    """A request to the build hook."""

    system: str
    named: Any
    """value of `onnxruntime` in the app's pubspec.yaml, if it is there"""
    bundled: str | None
    """the file of the answer, or a part of the words with which the hook fails"""


ASKED = (
    Asked("linux", "native/libonnxruntime.so", "native/libonnxruntime.so"),
    Asked("windows", "native/libonnxruntime.so", None),
    Asked("windows", {"linux": "a.so", "windows": "native/onnxruntime.dll"}, "native/onnxruntime.dll"),
    Asked("android", "native/libonnxruntime.so", None),
    Asked("ios", {"ios": "native/libonnxruntime.dylib"}, None),
    Asked("linux", None, None),
    Asked("linux", "native/missing.so", "no such file"),
    Asked("linux", {"linux": "native/onnxruntime.dll"}, "is no library for linux"),
    Asked("linux", 3, "is a path"),
)
LIBRARIES = ("libonnxruntime.so", "onnxruntime.dll", "libonnxruntime.dylib")
HOOKED = """
for each in "$@"; do
    cd "$each"
    dart "$PROGRAM" --config="$each/input.json" > said.txt 2>&1
    echo $? > code.txt
done
"""


@pytest.fixture(scope="module")
def hooked(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each of ASKED by its number, in which the build hook has run."""
    root = tmp_path_factory.mktemp("hooked")
    command = ["dart", "compile", "kernel", str(published / "hook" / "build.dart"), "-o", str(root / "build.dill")]
    done = dart().run(command, cwd=root, mounts={str(published): published})
    assert done.returncode == 0, done.output
    folders = [request(root / str(number), asked) for number, asked in enumerate(ASKED)]
    variables = {"PROGRAM": str(root / "build.dill")}
    done = dart().run(["dash", "-c", HOOKED, "hooks", *folders], cwd=root, environment=variables)
    assert (done.returncode, done.output) == (0, "")
    return root


def request(folder: Path, asked: Asked) -> Path:
    """The folder of an app with libraries, and a request as Dart's tools make it."""
    (folder / "native").mkdir(parents=True)
    for name in LIBRARIES:
        (folder / "native" / name).write_bytes(b"")
    defines = {"onnxruntime": asked.named} if asked.named is not None else {}
    config = {
        "build_asset_types": ["code_assets/code"],
        "extensions": {"code_assets": {"target_os": asked.system, "target_architecture": "x64"}},
        "linking_enabled": False,
    }
    given = {
        "assets": {},
        "config": config,
        "out_file": str(folder / "output.json"),
        "package_name": "contracts",
        "package_root": f"{folder.parent}/contracts/",
        "user_defines": {"workspace_pubspec": {"base_path": str(folder / "pubspec.yaml"), "defines": defines}},
    }
    (folder / "input.json").write_text(json.dumps(given), encoding="utf-8")
    return folder


@pytest.mark.parametrize("number", range(len(ASKED)))
def test_the_build_hook_answers_what_to_bundle(hooked: Path, number: int) -> None:
    folder, bundled = hooked / str(number), ASKED[number].bundled
    if (folder / "code.txt").read_text(encoding="utf-8") != "0\n":
        assert bundled is not None
        assert bundled in (folder / "said.txt").read_text(encoding="utf-8")
        return
    answered = json.loads((folder / "output.json").read_text(encoding="utf-8"))
    assert answered["status"] == "success"
    files = [each["encoding"]["file"] for each in answered["assets"]]
    assert files == ([] if bundled is None else [str(folder / bundled)])
    assert answered["dependencies"] == files


def compiled_apart(place: Path) -> list[str]:
    """`dart run` with a compiler that is a process of its own, which tells of itself in a file and ends with the run.

    The virtual machine would compile its own compiler first: 6 s of a processor in place of 2.
    """
    return ["dart", "run", "--resident", f"--resident-compiler-info-file={place}"]


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
    done = run([*compiled_apart(tmp_path / "one"), "bin/app.dart"], app, tmp_path)
    assert f"loaded {shipped_version()} on cpu" in done.output, done.output
    (app / "pubspec.yaml").write_text(PUBSPEC.partition("hooks:")[0], encoding="utf-8")
    run(["dart", "pub", "get", "--offline"], app, tmp_path)
    done = run([*compiled_apart(tmp_path / "other"), "bin/app.dart"], app, tmp_path)
    assert "ONNX Runtime cannot be opened" in done.output, done.output
