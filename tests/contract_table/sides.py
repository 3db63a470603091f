"""The sides: `mobpack predict`, Kotlin on ONNX Runtime for Android, Swift, JavaScript with React Native's C++, pages,
Dart, Python's wheel, Kotlin on ONNX Runtime for desktops, and Node."""

import json
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from PIL import Image

from packager.files.zips import unpack
from packager.samples import wav
from tests.contract_table import cases
from tests.toolchain import command, cpp_packages, dart, desktop_java, jsc, jvm, node, swift_packages, wheels
from tests.toolchain.device import Library, device
from tests.toolchain.react_native import codegen, native, packages

PROGRAMS = Path(__file__).with_name("programs")
VOICE, STREAMED, TONE, CLEANED = "voice", "streamed", "tone", "cleaned"
MISUSES = ("began", "channels", "finite", "full", "flushed", "closed", "least", "takes")
"""words of the errors of a stream"""
DROPPED = 16_000
"""frames that the stream whose queue is full drops"""
NOISY = "noisy"
"""file with the blocks that are cleaned"""
MAKERS, EACH = ("cutter", "enlarger"), 37
"""models that make pictures, and which bytes of them are compared: of red, green, blue and alpha in turn"""
SIDES = ("left", "top", "right", "bottom")
PRINTED = re.compile(r"^ANSWER (.*?)=(.*)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Answer:
    words: str
    """labels of the best three, how many boxes, a text"""
    numbers: tuple[float, ...]
    """scores of all classes, corners and scores of boxes, scores of a text or of one window after the other"""


Answers = Mapping[str, Answer]
"""By the name of the case."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A built project, and the files with its cases."""

    folder: Path
    cases: Path
    """`cases` with a line for each picture, and a file with the memory of each; `texts` and `streams` with lines;
    `voice`"""

    @property
    def dist(self) -> Path:
        return self.folder / "dist"


def prepared(folder: Path, targets: Collection[str]) -> Asked:
    """All models built for `targets` in `folder`."""
    project = cases.project(folder)
    exchange = folder / "cases"
    exchange.mkdir()
    pictures = cases.pictures()
    (exchange / "cases").write_text("".join(f"{each.line}\n" for each in pictures), encoding="utf-8")
    for each in pictures:
        (exchange / each.name).write_bytes(each.memory)
        each.save(exchange)
    texts = "".join(f"{each.line}\n" for each in cases.texts())
    (exchange / "texts").write_text(texts, encoding="utf-8", newline="\n")
    streams = "".join(f"{each.line}\n" for each in cases.pushes())
    (exchange / "streams").write_text(streams, encoding="utf-8", newline="\n")
    voice = cases.voice(folder / "sound")
    (exchange / VOICE).write_bytes(voice.tobytes())
    (exchange / NOISY).write_bytes(cases.noisy(voice).tobytes())
    _mobpack("build", *chain.from_iterable(("--target", each) for each in targets), folder=project)
    return Asked(folder=folder, cases=exchange)


def _mobpack(*arguments: str | Path, folder: Path) -> str:
    done = command.run(*arguments, folder=folder)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def python(asked: Asked) -> Answers:
    """`mobpack predict` on files; for models whose state it does not carry, ONNX Runtime on the file."""
    found = {
        VOICE: Answer(words="", numbers=tuple(_heard(asked))),
        STREAMED: _streamed(asked),
        CLEANED: Answer(words=f"{cases.RATE} 1", numbers=tuple(_cleaned(asked))),
    }
    sound = asked.cases / f"{TONE}.npz"
    samples = np.fromfile(asked.cases / VOICE, np.float32).reshape(-1, 1)
    np.savez(sound, allow_pickle=False, **{"audio.samples": samples, "audio.rate": np.array(cases.RATE)})
    printed = _mobpack("predict", "--json", "--model", TONE, sound, folder=asked.folder)
    [each] = json.loads(printed)["predictions"]
    found[TONE] = _values(each["answers"]["heard"])
    for model in (*PLAIN, *MAKERS):
        names = [each.name for each in cases.pictures() if each.model == model]
        files = [path for name in names for path in asked.cases.glob(f"{name}.*")]
        printed = _mobpack("predict", "--json", "--top", "1000", "--model", model, *files, folder=asked.folder)
        for each in json.loads(printed)["predictions"]:
            [answer] = each["answers"].values()
            stem = Path(each["file"]).stem
            found[stem] = _pixels(asked.folder / answer["file"]) if model in MAKERS else PLAIN[model](answer)
    for model in ("meaning", "tokens"):
        texts = [each for each in cases.texts() if each.model == model]
        printed = _mobpack("predict", "--json", "--model", model, *(each.text for each in texts), folder=asked.folder)
        for case, each in zip(texts, json.loads(printed)["predictions"], strict=True):
            [answer] = each["answers"].values()
            found[case.name] = Answer(words="", numbers=tuple(np.ravel(answer).tolist()))
    return found


def _classes(answer: Sequence[Mapping[str, Any]]) -> Answer:
    scores = [each["score"] for each in sorted(answer, key=lambda each: each["index"])]
    return Answer(words="|".join(each["label"] for each in answer[:3]), numbers=tuple(scores))


def _boxes(answer: Sequence[Mapping[str, Any]]) -> Answer:
    rows = ((*(each["box"][side] for side in SIDES), each["score"]) for each in answer)
    return Answer(words=str(len(answer)), numbers=tuple(chain.from_iterable(rows)))


def _points(answer: Sequence[Mapping[str, Any]]) -> Answer:
    rows = ((each["x"], each["y"], each["score"]) for each in answer)
    return Answer(words=", ".join(each["label"] for each in answer), numbers=tuple(chain.from_iterable(rows)))


def _instances(answer: Mapping[str, Any]) -> Answer:
    found = answer["instances"]
    rows = (
        (
            *(each["box"][side] for side in SIDES),
            each["score"],
            *(each["mask"][side] for side in ("left", "top", "width", "height")),
            each["mask"]["pixels"] / each["mask"]["width"],
        )
        for each in found
    )
    return Answer(words=f"{len(found)} objects", numbers=tuple(chain.from_iterable(rows)))


def _pixels(file: Path) -> Answer:
    pixels = np.asarray(Image.open(file))
    height, width, _ = pixels.shape
    return Answer(words=f"{width} x {height} pixels", numbers=tuple(map(float, pixels.reshape(-1)[::EACH])))


def _values(answer: Mapping[str, Any]) -> Answer:
    names = sorted(answer["series"])
    return Answer(
        words=" ".join(f"{name} {answer['units'][name]}" for name in names),
        numbers=tuple(chain.from_iterable(answer["series"][name] for name in names)),
    )


PLAIN: Mapping[str, Callable[[Any], Answer]] = {
    "classifier": _classes,
    "finder": _boxes,
    "poser": _points,
    "spotter": _instances,
    "scribe": lambda answer: Answer(words=answer["text"], numbers=(answer["score"],)),
}


def _heard(asked: Asked) -> Iterator[float]:
    [shipped] = (asked.dist / "swift" / swift_packages.NAME).glob("Sources/*/Resources/Models/listener/*.ort")
    session = onnxruntime.InferenceSession(shipped)
    carried = np.zeros((2, 1, 128), np.float32)
    for window in np.fromfile(asked.cases / VOICE, np.float32).reshape(cases.WINDOWS, cases.WINDOW, 1):
        given = {"input.samples": window, "input.rate": np.array(cases.RATE), "state": carried}
        given["input.place"] = np.zeros(3, np.int64)
        [score], carried = session.run(["output.scores", "stateN"], given)
        yield float(score)


def _streamed(asked: Asked) -> Answer:
    """Results of `mobpack predict` for whole files, and for the rest where a queue was full."""
    voice = np.fromfile(asked.cases / VOICE, np.float32)
    sounds = [(voice[: sum(each.cuts) * each.channels], each.rate, each.channels) for each in cases.pushes()]
    sounds.append((voice[DROPPED:24_000], 16_000, 1))
    files = [asked.cases / f"{number}.wav" for number in range(len(sounds))]
    for file, (samples, rate, channels) in zip(files, sounds, strict=True):
        file.write_bytes(wav.content_of(samples.tolist(), rate, channels))
    found = json.loads(_mobpack("predict", "--json", "--model", "listener", *files, folder=asked.folder))["predictions"]
    words = [f"{each['start']}-{each['end']}+0" for each in found]
    last = [each for each in found if each["file"] == str(files[-1])]
    words[-len(last) :] = [
        f"{each['start'] + DROPPED}-{each['end'] + DROPPED}+{DROPPED if each is last[0] else 0}" for each in last
    ]
    scores = [each["answers"]["output"][0]["score"] for each in found]
    return Answer(words=" ".join((*words, *MISUSES)), numbers=tuple(scores))


def _cleaned(asked: Asked) -> Iterator[float]:
    [shipped] = (asked.dist / "swift" / swift_packages.NAME).glob("Sources/*/Resources/Models/cleaner/*.ort")
    session = onnxruntime.InferenceSession(shipped)
    names = [each.name for each in session.get_outputs()]
    states = {each.name: np.zeros(each.shape, np.float32) for each in session.get_inputs() if "." not in each.name}
    for block in np.fromfile(asked.cases / NOISY, np.float32).reshape(-1, cases.BLOCK, 1):
        given = {"input_frame.samples": block, "input_frame.rate": np.array(cases.RATE), **states}
        found = dict(zip(names, session.run(names, given), strict=True))
        states = {name: found[f"{name}_outside"] for name in states}
        yield from found["enhanced_audio_frame.samples"].reshape(-1).tolist()


def kotlin(asked: Asked, folder: Path) -> Answers:
    """On ONNX Runtime's library for Android, unmodified, in a Java runtime."""
    [aar] = (asked.dist / "android").glob("*.aar")
    with zipfile.ZipFile(aar) as archive:
        classes = Path(archive.extract("classes.jar", folder))
    path = [classes, jvm.fakes(), jvm.android_runtime().classes]
    apps = jvm.compile_kotlin([jvm.APPS / "Task.kt", PROGRAMS / "ContractTable.kt"], classpath=path)
    phone = device(Library(aar=aar, classes=classes, apps=apps), folder)
    shutil.copytree(asked.cases, phone.folder / "files")
    sizes: dict[str, Any] = {"samples": cases.WINDOW * cases.WINDOWS, "window": cases.WINDOW, "rate": cases.RATE}
    return _read(phone.run("ContractTable", **sizes).facts)


def swift_package(asked: Asked, folder: Path) -> Answers:
    """The Swift package with ONNX Runtime for Linux."""
    package = folder / "package"
    shutil.copytree(asked.dist / "swift" / swift_packages.NAME, package, copy_function=os.link)
    for runtime in swift_packages.runtimes(asked.dist / "swift"):
        shutil.copytree(runtime, folder / runtime.name, copy_function=os.link)
    shutil.copy(PROGRAMS / "ContractTableTests.swift", package / "Tests" / f"{swift_packages.MODULE}Tests")
    compiled = swift_packages.compiled(package, folder / "scratch")
    environment = {"CASES": str(asked.cases), "SOUND": f"{cases.RATE}x{cases.WINDOW}"}
    tests = f"{swift_packages.MODULE}Tests.ContractTableTests"
    done = compiled.run(tests, folder / "run", environment=environment)
    assert set(done.by_case.values()) == {"passed"}, done.output[-4000:]
    return _read(dict(PRINTED.findall(done.output)))


def react_native(asked: Asked, folder: Path) -> Answers:
    """The module's JavaScript and C++ in JavaScriptCore, with ONNX Runtime for Linux."""
    built = packages.Built(asked.folder)
    [archive] = (asked.dist / "npm").glob("example-*.tgz")
    packages.unpack(archive, asked.folder / "unpacked")
    app = built.app(folder / "project")
    program = jsc.program(built.package, codegen.for_ios(app, folder / "codegen"), native.MODULE)
    script = folder / "script.js"
    _bundle(app, script)
    host = native.Code(program, script, built.package / "models").app(folder / "installed")
    found = host.run("table", cases=str(asked.cases), window=cases.WINDOW, rate=cases.RATE)
    return _answers(found)


def _bundle(app: Path, script: Path) -> None:
    """The program with the package's JavaScript in one file."""
    done = node.run(
        [
            node.tool(node.project("react_native"), "esbuild"),
            PROGRAMS / "contract_table.js",
            "--bundle",
            "--platform=neutral",
            "--main-fields=main",
            '--define:process.env.NODE_ENV="production"',
            "--format=iife",
            "--target=es2022",
            "--log-level=warning",
            f"--alias:react-native={native.SCRIPTS / 'react-native.js'}",
            f"--alias:@host={native.SCRIPTS}",
            f"--outfile={script}",
        ],
        cwd=app,
        environment={"NODE_PATH": str(app / "node_modules")},
    )
    assert (done.returncode, done.output) == (0, ""), done.output


def web_package(asked: Asked, folder: Path) -> Answers:
    """The package for pages under Node, whose WebAssembly browsers run, too."""
    return _under_node(asked, "web", "index.js", folder)


def node_package(asked: Asked, folder: Path) -> Answers:
    """The package for Node, beside the onnxruntime-node that it depends on."""
    node.link(node.project("react_native"), folder)
    return _under_node(asked, "node", "api.js", folder)


def _under_node(asked: Asked, target: str, entry: str, folder: Path) -> Answers:
    [archive] = (asked.dist / "npm").glob(f"*-{target}-*.tgz")
    packages.unpack(archive, folder)
    shutil.copy(PROGRAMS / "asking.js", folder / "asking.mjs")
    plan = {"cases": str(asked.cases), "programs": str(folder), "window": cases.WINDOW, "rate": cases.RATE}
    program: list[str | Path] = [node.node().program, "--no-warnings", PROGRAMS / "contract_table.mjs"]
    program += [folder / "package" / "lib" / entry, json.dumps(plan)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return _answers(json.loads(done.stdout))


def _answers(found: Mapping[str, Mapping[str, Any]]) -> Answers:
    return {name: Answer(words=each["words"], numbers=tuple(each["numbers"])) for name, each in found.items()}


def dart_package(asked: Asked, folder: Path) -> Answers:
    """The package for Flutter, in a program of Dart with ONNX Runtime for Linux."""
    [archive] = (asked.dist / "flutter").glob("*.zip")
    unpack(archive, folder / "package")
    package = dart.configured_package(folder / "package", "models")
    shutil.copy(PROGRAMS / "contract_table.dart", package)
    toolchain = dart.dart()
    library = toolchain.onnxruntime()
    done = toolchain.run(
        ["dart", "contract_table.dart", library, asked.cases, str(cases.RATE), str(cases.WINDOW)],
        cwd=package,
        mounts={str(library.parent): library.parent, str(asked.cases): asked.cases},
    )
    assert done.returncode == 0, done.output[-4000:]
    return _read(dict(PRINTED.findall(done.output)))


def wheel(asked: Asked, folder: Path) -> Answers:
    """The wheel, beside the ONNX Runtime that it depends on."""
    [built] = (asked.dist / "python").glob("*.whl")
    program = PROGRAMS / "contract_table.py"
    done = wheels.run(built, folder / "site", program, asked.cases, str(cases.RATE), str(cases.WINDOW))
    assert done.returncode == 0, done.stderr[-4000:]
    return _read(dict(PRINTED.findall(done.stdout)))


def jar(asked: Asked, folder: Path) -> Answers:
    """The jar on ONNX Runtime's Java package for Linux: the program of `kotlin`, without Android."""
    [built] = (asked.dist / "jvm").glob("*-jvm-1.0.0.jar")
    apps = desktop_java.compiled(built, PROGRAMS / "ContractTable.kt")
    sizes = {"samples": cases.WINDOW * cases.WINDOWS, "window": cases.WINDOW, "rate": cases.RATE}
    given = {"data": folder, "files": asked.cases, **sizes}
    return _read(desktop_java.run("apps.ContractTableKt", given, built, apps).facts)


def cmake_package(asked: Asked, folder: Path) -> Answers:
    """The C++ package, compiled by GCC, on ONNX Runtime's C API."""
    [built] = (asked.dist / "cpp").glob("*.tgz")
    package, root = cpp_packages.unpacked(built, folder / "unpacked"), cpp_packages.root(folder / "onnxruntime")
    program = cpp_packages.compiled(package, root, PROGRAMS / "contract_table.cpp", cpp_packages.gcc(), "-O1")
    done = cpp_packages.ran(program, package, root, asked.cases, str(cases.RATE), str(cases.WINDOW))
    assert done.returncode == 0, done.stderr[-4000:]
    return _read(dict(PRINTED.findall(done.stdout)))


def _read(facts: Mapping[str, str]) -> Answers:
    """`NAME words` and `NAME numbers`, as programs print them."""
    names = {name.removesuffix(" words") for name in facts if name.endswith(" words")}
    return {
        name: Answer(words=facts[f"{name} words"], numbers=tuple(map(float, facts[f"{name} numbers"].split())))
        for name in names
    }


OTHERS: Mapping[str, Callable[[Asked, Path], Answers]] = {
    "android": kotlin,
    "ios": swift_package,
    "react_native": react_native,
    "web": web_package,
    "flutter": dart_package,
    "python": wheel,
    "node": node_package,
    "jvm": jar,
    "cpp": cmake_package,
}
"""by target, in the order of the page's columns"""
