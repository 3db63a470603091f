"""Inputs that fuzzing begins with: small ones, made here, and files in `found/` that once did harm."""

import base64
import json
import re
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[2]
FOUND = Path(__file__).parent / "found"
MEMORY = Path("/dev/shm")
"""A file system in memory, where there is one: each input is a file."""
PACKAGE, CHANNEL, MODEL = "vision", "stable", "classifier"


@contextmanager
def scratch() -> Iterator[Path]:
    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        yield Path(folder)


def of(target: str, made: Mapping[str, bytes]) -> dict[str, bytes]:
    """The seeds of a target by name: those `made` here, and those that were found."""
    kept = {path.name: path.read_bytes() for path in sorted((FOUND / target).glob("*"))}
    return {**made, **kept}


def models(folder: Path) -> Mapping[str, bytes]:
    import onnx.parser

    from benchmarks.abuse.fuzzing import CONTROL_FLOW
    from tests.cases import onnx_text

    texts = {
        "weights": onnx_text.onnx_model(
            "(float[b, 4] x) => (float[b, 4] y) { y = MatMul (x, w) }", weights={"w": onnx_text.weight(4, 4)}
        ),
        "control flow": onnx.parser.parse_model(CONTROL_FLOW),
        "shapes": onnx_text.onnx_model(
            "(float[b, 3, 8, 8] x) => (float[b, n] y) { s = Shape <start = 0, end = 1> (x) m = Constant <value_ints = "
            "[-1]> () t = Concat <axis = 0> (s, m) y = Reshape (x, t) }"
        ),
        "8 bits": onnx_text.onnx_model(
            "(float[1, 4] x) => (float[1, 4] y) { s = Constant <value_float = 0.5> () z = Constant <value_int = 3> () "
            "c = Cast <to = 3> (z) q = QuantizeLinear (x, s, c) y = DequantizeLinear (q, s, c) }"
        ),
    }
    return {name: each.SerializeToString(deterministic=True) for name, each in texts.items()}


def configs(folder: Path) -> Mapping[str, bytes]:
    """The examples of the documentation, after what every file needs."""
    head = '[package]\nname = "vision"\nversion = "1.0.0"\n[model.m]\npath = "m.onnx"\n'
    found = {"head": head.encode()}
    for page in sorted((ROOT / "docs").glob("*.md")):
        for number, text in enumerate(re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)):
            whole = text if "[package]" in text else head + text
            found[f"{page.stem}-{number}"] = whole.encode()[:2048]
    return found


def tokenizers(folder: Path) -> Mapping[str, bytes]:
    """A file of every kind, after a digit that says which."""
    from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
    from tokenizers import models as kinds

    words = {"[UNK]": 0, "a": 1, "b": 2, "##b": 3, "ab": 4, "[CLS]": 5, "\u0120a": 6}
    bert = Tokenizer(kinds.WordPiece(words, unk_token="[UNK]"))
    bert.normalizer = normalizers.Sequence([normalizers.BertNormalizer(), normalizers.Replace(Regex(" {2,}"), " ")])
    bert.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    bert.post_processor = processors.TemplateProcessing(
        single="[CLS] $A", pair="[CLS] $A $B:1", special_tokens=[("[CLS]", 5)]
    )
    bert.decoder = decoders.WordPiece()
    pairs = Tokenizer(kinds.BPE(words, [("a", "b")], unk_token="[UNK]", byte_fallback=True))
    pairs.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Strip(), normalizers.Lowercase()])
    pairs.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"\p{L}+|\p{N}{1,3}|[^\s\p{L}]+|\s+(?!\S)"), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=True),
            pre_tokenizers.Digits(individual_digits=True),
        ]
    )
    pairs.post_processor = processors.ByteLevel(trim_offsets=True)
    pairs.decoder = decoders.ByteLevel()
    pairs.add_special_tokens(["[CLS]"])
    pairs.enable_truncation(8)
    pairs.enable_padding(pad_id=1, length=8)
    pieces = Tokenizer(kinds.Unigram([("<unk>", 0.0), ("\u2581a", -1.5), ("b", -2.0)], unk_id=0, byte_fallback=False))
    pieces.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    pieces.pre_tokenizer = pre_tokenizers.Metaspace()
    pieces.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    jsons = {
        "wordpiece": bert,
        "bpe": pairs,
        "unigram": pieces,
        "words": Tokenizer(kinds.WordLevel(words, unk_token="[UNK]")),
    }
    ranks = b"\n".join(base64.b64encode(bytes([byte])) + b" %d" % byte for byte in range(256))
    return {
        **{name: b"0" + _compact(each.to_str()) for name, each in jsons.items()},
        "byt5": b'0{"tokenizer_class": "ByT5Tokenizer", "extra_ids": 2}',
        "canine": b'0{"tokenizer_class": "CanineTokenizer", "added_tokens_decoder": {"0": {"content": "a"}}}',
        "vocab": b"1[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n##b\n",
        "ranks": b"2" + ranks + b"\nYWI= 256\n",
        "sentencepiece": b"3" + _sentencepiece(),
    }


def _compact(text: str) -> bytes:
    return json.dumps(json.loads(text), separators=(",", ":")).encode()


def _sentencepiece() -> bytes:
    from packager.contract.tokenization.reading import sentencepiece_proto

    made: Any = sentencepiece_proto.model()()
    for number, text in enumerate(("<unk>", "<s>", "</s>", "a", "b", "ab")):
        made.pieces.add(piece=text.encode(), score=-float(number), type=(2, 3, 3, 1, 1, 1)[number])
    made.trainer_spec.model_type = 2
    made.normalizer_spec.add_dummy_prefix = True
    return bytes(made.SerializeToString(deterministic=True))


def deltas(folder: Path) -> Mapping[str, bytes]:
    """Whole ones, and instructions after the size of their result."""
    from tests.cases.delta_vectors import SOURCE, good, packed, refused

    found = {}
    for name, body, result in good():
        found[f"{name}, whole"] = packed(body, SOURCE, result)
        found[name] = struct.pack("<H", len(result)) + body
    return {**found, **dict(refused())}


def archives(folder: Path) -> Mapping[str, bytes]:
    """Packages after a digit that says how they are read."""
    from packager.files.zips import Content, ZipLink, write_zip
    from packager.signing.model_signing import UNSIGNED_NAME
    from packager.targets.typescript.tarball import write_tarball

    entries: dict[PurePosixPath, Content] = {
        PurePosixPath("a/package.json"): b"{}",
        PurePosixPath("assets/mobpack/m.ort"): bytes(64),
        PurePosixPath("LICENSE"): b"text",
        PurePosixPath("a", UNSIGNED_NAME): b"{}",
    }
    linked = {**entries, PurePosixPath("link"): ZipLink("a")}
    plain = write_zip(folder / "plain.zip", linked).read_bytes()
    deflated = BytesIO()
    with zipfile.ZipFile(deflated, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", b"{}" * 50)
    files = {name: content for name, content in entries.items() if isinstance(content, bytes)}
    tarball = write_tarball(folder / "a.tgz", files).read_bytes()
    import gzip

    return {
        "stored": b"0" + plain,
        "deflated": b"0" + deflated.getvalue(),
        "tarball": b"1" + gzip.compress(gzip.decompress(tarball), mtime=0),
        "tar": b"2" + gzip.decompress(tarball),
    }


def library(more: Mapping[str, bytes]) -> bytes:
    """A library for Android with a class of a model."""
    return _zipped({"classes.jar": _zipped({"com/a/Classifier.class": b"c"}), "assets/mobpack/m.ort": b"m", **more})


def android_runtime() -> bytes:
    jar = _zipped({"ai/onnxruntime/OrtSession.class": b"c"})
    return _zipped({"classes.jar": jar, "jni/x86_64/libonnxruntime.so": b"l"})


def _zipped(entries: Mapping[str, bytes]) -> bytes:
    made = BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return made.getvalue()


def device_packages(folder: Path) -> Mapping[str, bytes]:
    """Libraries, and files of samples, after a digit that says which."""
    import numpy

    from packager.core.values import ElementType
    from packager.vectors import generated, safetensors

    made = generated.ValuesRecipe(element=ElementType.FLOAT, shape=(2,), seed=1, low=-1, high=1, row=0)
    recipes = json.dumps({"0.input.z": generated.to_json(made)})
    tensors = {
        "0.input.x": numpy.array([0.5, 0.25], "float32"),
        "0.output.y": numpy.array([1], "int64"),
        "0.recipe.z": numpy.array([1, -1, 1, 0], "int64"),
    }
    safetensors.write(folder / "golden", tensors, {"model": "m", "generated": recipes})
    golden = (folder / "golden").read_bytes()
    return {
        "library": b"0" + library({"assets/mobpack/m.golden.safetensors": golden, "jni/x86_64/liba.so": b"l"}),
        "samples": b"1" + golden,
    }


def scales(folder: Path) -> Mapping[str, bytes]:
    import numpy

    from packager.quantization import scales as files
    from packager.vectors import safetensors

    about = {"format": files.FORMAT, "quantizer": "static-qdq", "settings": '{"activations": "uint8"}'}
    tensors = {
        "scale/weight:w": numpy.array([0.5, 0.25], "float32"),
        "zero_point/weight:w": numpy.array([0, 1], "int8"),
        "scale/activation:x": numpy.array(0.1, "float32"),
    }
    safetensors.write(folder / "a", tensors, about)
    safetensors.write(folder / "b", {**tensors, "names": numpy.array(["a", "bc"], object)}, about)
    return {name: (folder / name).read_bytes() for name in ("a", "b")}


def documents(folder: Path) -> Mapping[str, bytes]:
    """The signed part of metadata, and a list of releases, after a digit that says which."""
    made = _repository()
    root = json.loads(made.roots[0])["signed"]
    listed = _releases()
    targets = made.named("targets", 1, targets=_targets(listed))
    return {
        "root": b"0" + _text(root),
        "releases": b"1" + listed,
        "next root": b"2" + _text({**root, "version": 2}),
        "targets": b"3" + _text(targets),
        "delegated": b"3" + _text({**targets, "delegations": {"keys": root["keys"], "roles": []}}),
    }


def signed(content: bytes) -> bytes:
    """Metadata whose signed part is `content`, signed by the key of the channel; `content` itself if it is no JSON that
    can be signed."""
    from tests.cases.trust_vectors import IN_USE
    from tests.cases.tuf_repository import signed_by

    try:
        return signed_by(json.loads(content), [IN_USE])
    except Exception:  # what a signer refuses, a reader gets as it is
        return content


def signed_channel(folder: Path, content: bytes, *, is_root: bool) -> Any:
    """A channel whose newest root, or targets, say `content`."""
    from packager.distribution.channel.repository import Repository
    from packager.distribution.channel.storage import ChannelFolder
    from tests.cases.tuf_repository import target, target_path

    made, listed = _repository(), _releases()
    targets = signed(_text(made.named("targets", 1, targets=_targets(listed))) if is_root else content)
    snapshot = signed(_text(made.named("snapshot", 1, meta={"targets.json": {"version": 1, **target(targets)}})))
    timestamp = signed(_text(made.named("timestamp", 1, meta={"snapshot.json": {"version": 1, **target(snapshot)}})))
    files = {
        f"{CHANNEL}/1.root.json": made.roots[0],
        f"{CHANNEL}/1.targets.json": targets,
        f"{CHANNEL}/1.snapshot.json": snapshot,
        f"{CHANNEL}/timestamp.json": timestamp,
        target_path(f"{MODEL}/releases.json", listed).strip("/"): listed,
        **({f"{CHANNEL}/2.root.json": signed(content)} if is_root else {}),
    }
    for name, each in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(each)
    return Repository(storage=ChannelFolder(root=folder), trusted=made.roots[0])


def _repository() -> Any:
    from tests.cases.tuf_repository import Repository

    return Repository(package=PACKAGE, channel=CHANNEL)


def _targets(listed: bytes) -> dict[str, Any]:
    from tests.cases.tuf_repository import target

    return {f"{MODEL}/releases.json": target(listed)}


def _releases() -> bytes:
    from packager.signing.statements import payload

    file = {"name": "a.ort", "sha256": "a" * 64, "size-bytes": 7, "deltas": []}
    delta = {"source": "b" * 64, "sha256": "c" * 64, "size-bytes": 3}
    opened = {
        "target": "android",
        "inside": "",
        "provider": "cpu",
        "chips": [],
        "format": "ort",
        "runtime": "1.29.0",
        "runtime-range": "",
        "settings": [{"key": "session.disable_prepacking", "value": "1"}],
        "file": {**file, "deltas": [delta]},
        "data": [file],
        "golden": [file],
        "allowed": [{"output": "y", "rtol": 0.5, "atol": 0.25, "scale": 4.0, "mismatches": 0}],
    }
    release = {
        "version": "1.0.0",
        "number": 1,
        "contract": "a" * 64,
        "min-app": "",
        "rollout": {"percent": 10, "salt": "salt"},
        "conditions": {"wifi": True, "charging": False, "free-bytes": 0},
        "notes": "",
        "files": [opened],
    }
    whole = {"schema-version": 1, "package": PACKAGE, "channel": CHANNEL, "model": MODEL, "releases": [release]}
    return bytes(payload(whole))


def _text(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
