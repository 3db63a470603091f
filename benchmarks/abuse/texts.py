"""Text of others where it is easily forgotten: the store's indexes, links, names, patterns, answers of devices."""

import itertools
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import onnx

from benchmarks.abuse.command import Place, run
from benchmarks.abuse.hostile import PROJECT, Case, instead, model, tried, written
from benchmarks.abuse.result import Result

PUBLISH = ("publish", "dist", "--to", "maven=https://repository.example")
DOTS = ".".join("a" * 50_000)
LONG = "n" * 70_000
DIGITS = "9" * 5000
TOKENS = '[model.m.inputs.x]\nkind = "text"\ntokenizer = "tokenizer.json"\n'
WORDS = {"type": "WordLevel", "vocab": {"a": 0, "[UNK]": 1}, "unk_token": "[UNK]"}
ADB = """#!/bin/sh
if [ "$1" = devices ]; then printf 'List of devices attached\\nGOOD\\tdevice\\nBAD\\tdevice\\n'; exit 0; fi
if [ "$2" = GOOD ]; then
    printf '[ro.product.model]: [Pixel 8]\\n[ro.build.version.sdk]: [34]\\n\\nmobpack-exit-code:0\\n'; exit 0
fi
cat "$0.bad"
"""
ANSWERS: Mapping[str, bytes] = {
    "nothing": b"",
    "no text": b"\xff\xfe\0\n",
    "no exit code": b"[ro.x]: [y]\n\nmobpack-exit-code:x\n",
    "5,000 digits as exit code": b"[ro.x]: [y]\n\nmobpack-exit-code:" + DIGITS.encode(),
    "5,000 digits as API level": f"[ro.build.version.sdk]: [{DIGITS}]\n\nmobpack-exit-code:0\n".encode(),
    "a raised digit as API level": "[ro.build.version.sdk]: [²]\n\nmobpack-exit-code:0\n".encode(),
    "1 MB": b"x" * (1 << 20),
}


def attack(place: Place) -> Iterator[Result]:
    yield stored(place)
    yield devices(place)
    for title, cases in {
        "links to themselves": links(),
        "names and patterns that are made to harm": names(),
        "projects and graphs that are made to take long": slow(),
    }.items():
        yield tried(title, cases, place)


def deep(path: Path) -> None:
    path.write_text('{"files":' * 5000, encoding="utf-8")


def to_itself(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(path.name)


def pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def other_types(path: Path) -> None:
    path.write_text('{"files": [1e999], "links": 7, "cache": []}', encoding="utf-8")


def stored(place: Place) -> Result:
    """Every index of a store is damaged; a check makes the results again."""
    folder = place.folder / "stored"
    folder.mkdir()
    (folder / "mobpack.toml").write_text(PROJECT, encoding="utf-8")
    (folder / "m.onnx").write_bytes(model())
    here = Place(folder=folder, cache=place.cache)
    exceptions = []
    tries = 0
    kinds: tuple[Callable[[Path], None], ...] = (deep, to_itself, pipe, other_types)
    for name in ("index.json", "origin.json"):
        for damage in kinds:
            tries += 1
            run(["check"], here, folder.with_suffix(".txt"))
            entries = sorted(each.parent for each in (place.cache / "mobpack" / "store").glob("*/*/index.json"))
            for entry in entries:
                damage(entry / name)
            answer = run(["check"], here, folder.with_suffix(".txt"))
            fault = answer.fault or (f"ended with {answer.code}" if answer.code else "")
            if fault or not entries:
                exceptions.append(f"{name}, {damage.__name__}: {fault or 'nothing was stored'}")
    return Result(attack="indexes in the store", tries=tries, exceptions=tuple(exceptions))


def devices(place: Place) -> Result:
    """A device answers nonsense: it is named, and the other one is listed."""
    folder = place.folder / "sdk"
    program = folder / "platform-tools" / "adb"
    program.parent.mkdir(parents=True)
    program.write_text(ADB, encoding="utf-8")
    program.chmod(0o755)
    before = os.environ.get("ANDROID_HOME")
    os.environ["ANDROID_HOME"] = str(folder)
    exceptions = []
    try:
        for name, content in ANSWERS.items():
            program.with_name("adb.bad").write_bytes(content)
            here = Place(folder=folder, cache=place.cache)
            answer = run(["device", "list"], here, folder / "said.txt")
            if answer.fault or answer.code:
                exceptions.append(f"{name}: {answer.fault or f'ended with {answer.code}: {answer.text[-200:]}'}")
    finally:
        os.environ.pop("ANDROID_HOME")
        if before is not None:
            os.environ["ANDROID_HOME"] = before
    return Result(
        attack="devices that answer nonsense beside another", tries=len(ANSWERS), exceptions=tuple(exceptions)
    )


def links() -> Iterator[Case]:
    """A folder or a file that is a link to itself, in commands that read it or write it."""
    commands = {
        "dist": (("build",), ("release", "--first"), ("verify", "dist"), ("diff", "dist", "dist"), PUBLISH),
        "m.onnx": (("check",), ("inspect", "m.onnx")),
        "mobpack.toml": (("check",),),
        "mobpack-evidence": (("check",),),
    }
    for name, each in commands.items():
        for command in each:
            yield Case(
                name=f"{name}, `{command[0]}`",
                make=instead(name, to_itself),
                command=command,
                is_harmless=name == "mobpack-evidence",
            )


def renamed(old: str) -> bytes:
    proto = onnx.ModelProto.FromString(model())
    for value in (*proto.graph.input, *proto.graph.output):
        value.name = LONG if value.name == old else value.name
    for node in proto.graph.node:
        node.input[:] = [LONG if name == old else name for name in node.input]
        node.output[:] = [LONG if name == old else name for name in node.output]
    return bytes(proto.SerializeToString())


def names() -> Iterator[Case]:
    for old in ("x", "y"):
        yield Case(name=f"{old} with 70,000 characters", make=written("m.onnx", renamed(old)))
    for opening, closing in (("(b", ")"), ("(?:", ")"), ("(?=", ")"), ("[", "]")):
        for depth in (1000, 5000):
            expression = opening * depth + "a" + closing * depth
            split = {"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False}
            document = json.dumps({"model": WORDS, "pre_tokenizer": split})
            name = f"{opening!r} {depth:,} times in a tokenizer"
            yield Case(name=name, make=written("tokenizer.json", document), project=PROJECT + TOKENS)


def chain(count: int) -> bytes:
    """A graph of nodes, each of which takes what the one before makes."""
    proto = onnx.ModelProto.FromString(model())
    names = ["x", *(f"v{number}" for number in range(count - 1)), "y"]
    del proto.graph.node[:]
    for taken, made in itertools.pairwise(names):
        proto.graph.node.add(op_type="Relu", input=[taken], output=[made])
    return bytes(proto.SerializeToString())


def slow() -> Iterator[Case]:
    graph = written("m.onnx", chain(100_000))
    yield Case(name="a chain of 100,000 nodes", make=graph, command=("inspect", "m.onnx"), is_harmless=True)
    chain_of_shapes = " ".join(f"s{each + 1} = Concat <axis = 0> (s{each}, s{each})" for each in range(40))
    doubled = f"g (float[1, 4] x) => (float[N] y) {{ s0 = Shape (x) {chain_of_shapes} y = Reshape (x, s40) }}"
    command = ("inspect", "m.onnx")
    yield Case(
        name="a shape of 2^41 numbers", make=written("m.onnx", model(doubled)), command=command, is_harmless=True
    )
    for name, text in {
        "50,000 dots in a key": f"{DOTS} = 1",
        "50,000 dots in a table": f"[{DOTS}]",
        "50,000 dots in braces": "x = {" + DOTS + " = 1}",
        "50,000 quoted parts": '"x".' * 50_000 + "x = 1",
        "500,000 escapes": "x = " + '"\\' * 500_000,
        "3 MB of tables": "\n".join(f"[a{number}.b.c.d.e.f.g]" for number in range(150_000)),
    }.items():
        yield Case(name=name, make=written("mobpack.toml", PROJECT + text))
