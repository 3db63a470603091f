"""Places of a model's files in a Swift package: an ONNX file beside its data, identical bytes once."""

import hashlib
from dataclasses import replace
from pathlib import Path

from packager.compile.compile import FP16, REPLAY
from packager.core.values import Choice, Compiled, Format, Plan, Precision, Signature, Style
from packager.engines.environments.runtime import Runtime
from packager.files.hashes import sha256_of
from packager.targets.ios.files import Files, lay_out
from tests.golden.cases import VARIANT, model

NOTHING = Signature(inputs=(), outputs=())


def file(
    folder: Path, name: str, content: str, *beside: Path, style: Style = Style.UNFUSED, processor: str = ""
) -> Compiled:
    """A file with `content` in a folder of its own in the store, and its weight files."""
    home = folder / hashlib.sha256(f"{name}{content}".encode()).hexdigest()[:8]
    home.mkdir(parents=True, exist_ok=True)
    (home / name).write_text(content)
    return Compiled(
        variant=VARIANT,
        path=home / name,
        sha256=sha256_of(home / name),
        size_bytes=len(content),
        operators={},
        style=style,
        format=Format(name.rpartition(".")[2]),
        data_files=beside,
        processor=processor,
    )


def named(folder: Path, name: str, content: str) -> Path:
    """A data file called `name`."""
    home = folder / hashlib.sha256(content.encode()).hexdigest()[:8]
    home.mkdir(parents=True, exist_ok=True)
    (home / name).write_text(content)
    return home / name


def plan(*choices: tuple[str, Compiled], name: str = "net") -> Plan:
    return Plan(
        model=model(name, NOTHING),
        target="ios",
        environment=Runtime.NAME,
        choices=tuple(Choice(provider=provider, compiled=compiled, reason="") for provider, compiled in choices),
    )


def laid_out(made: Plan) -> Files:
    return lay_out([made])[made.model.name]


def paths(files: Files) -> list[str]:
    return sorted(each.path for each in files.resources)


def test_coreml_keeps_the_weights_and_the_cpus_graph_lies_beside_them(tmp_path: Path) -> None:
    base = file(tmp_path, "model.ort", "weights")
    rest = named(tmp_path, "fixed.weights", "the rest")
    fused = file(tmp_path, "fixed.onnx", "graph", base.path, rest, style=Style.FIXED)
    files = laid_out(plan(("coreml", base), ("cpu", fused)))
    assert paths(files) == ["net/fixed.onnx", "net/fixed.weights", "net/model.ort"]
    coreml, cpu = files.views
    assert (coreml.providers, coreml.resource.path, coreml.weights) == (("coreML",), "net/model.ort", ())
    assert (cpu.providers, cpu.resource.path) == (("cpu",), "net/fixed.onnx")
    assert [each.path for each in cpu.weights] == ["net/model.ort", "net/fixed.weights"]
    assert cpu.weights[0] is coreml.resource, "its bytes ship once"


def test_two_graphs_share_a_folder_over_the_same_weights_alone(tmp_path: Path) -> None:
    base = file(tmp_path, "model.ort", "weights", style=Style.FIXED)
    one = file(tmp_path, "unfused.onnx", "one", base.path, named(tmp_path, "unfused.weights", "of one"))
    two = file(tmp_path, "fixed.onnx", "two", base.path, named(tmp_path, "fixed.weights", "of two"), style=Style.FIXED)
    files = laid_out(plan(("coreml", one), ("xnnpack", two), ("cpu", base)))
    assert {each.path.partition("/")[0] for each in files.resources} == {"net"}
    assert len(files.resources) == 5
    base, other = file(tmp_path, "model.ort", "weights"), file(tmp_path, "model.ort", "others")
    one = file(tmp_path, "unfused.onnx", "one", base.path)
    two = file(tmp_path, "unfused.onnx", "two", other.path)
    files = laid_out(plan(("coreml", one), ("xnnpack", two), ("cpu", base)))
    assert paths(files) == ["net-2/model.ort", "net-2/unfused.onnx", "net/model.ort", "net/unfused.onnx"]
    of_two = files.views[1]
    assert (of_two.resource.path, of_two.weights[0].path) == ("net-2/unfused.onnx", "net-2/model.ort")
    shards = [named(tmp_path, "model-1.weights", text) for text in ("one", "two")]
    plain = [file(tmp_path, "model.onnx", str(shard), shard, style=Style.PLAIN) for shard in shards]
    mine = plan(("coreml", plain[0]), ("cpu", plain[1]))
    taken = plan(("cpu", file(tmp_path, "model.ort", "other")), name="NET-2")
    by_model = lay_out([mine, taken])
    assert paths(by_model["net"]) == [
        "net-3/model-1.weights",
        "net-3/plain.onnx",
        "net/model-1.weights",
        "net/plain.onnx",
    ]
    assert paths(by_model["NET-2"]) == ["NET-2/model.ort"]


def test_a_variant_of_some_devices_has_a_folder_unless_all_have_its_weights(tmp_path: Path) -> None:
    base, int8 = file(tmp_path, "model.ort", "weights"), file(tmp_path, "model.ort", "int8", style=Style.FIXED)
    fused = file(tmp_path, "fixed.onnx", "graph", base.path, style=Style.FIXED)
    special = file(tmp_path, "unfused.onnx", "int8 graph", int8.path)
    made = plan(("coreml", base), ("cpu", fused))
    made = with_variant(made, ("coreml", base), ("xnnpack", special), ("cpu", int8))
    taken = plan(("cpu", file(tmp_path, "model.ort", "other")), name="NET-INT8")
    files = lay_out([made, taken])["net"]
    assert paths(files) == ["net-int8-2/model.ort", "net-int8-2/unfused.onnx", "net/fixed.onnx", "net/model.ort"]
    assert [(view.providers, view.resource.path, view.devices) for view in files.views] == [
        (("coreML",), "net/model.ort", ()),
        (("cpu",), "net/fixed.onnx", ()),
        (("coreML",), "net/model.ort", ("iPhone17,1",)),
        (("xnnpack",), "net-int8-2/unfused.onnx", ("iPhone17,1",)),
        (("cpu",), "net-int8-2/model.ort", ("iPhone17,1",)),
    ]
    base = file(tmp_path, "model.ort", "weights")
    fused = file(tmp_path, "fixed.onnx", "graph", base.path, style=Style.FIXED)
    own = named(tmp_path, "int8.weights", "of int8")
    special = file(tmp_path, "fixed.onnx", "int8 graph", base.path, own, style=Style.FIXED)
    files = laid_out(with_variant(plan(("coreml", base), ("cpu", fused)), ("cpu", special)))
    assert paths(files) == ["net/fixed.onnx", "net/int8-fixed.onnx", "net/int8.weights", "net/model.ort"]
    assert [each.path for each in files.views[-1].weights] == ["net/model.ort", "net/int8.weights"]


def with_variant(made: Plan, *choices: tuple[str, Compiled]) -> Plan:
    """`made` with files of a variant that one device opens."""
    special = tuple(
        Choice(provider=provider, compiled=compiled, reason="", soc_models=("iPhone17,1",), variant="int8")
        for provider, compiled in choices
    )
    return replace(made, choices=(*made.choices, *special))


def test_files_say_their_formats_settings_and_sizes(tmp_path: Path) -> None:
    unfused, fixed = file(tmp_path, "model.ort", "one"), file(tmp_path, "model.ort", "two", style=Style.FIXED)
    files = laid_out(plan(("coreml", replace(unfused, settings=REPLAY)), ("xnnpack", fixed), ("cpu", fixed)))
    assert [view.resource.path for view in files.views] == ["net/unfused.ort", "net/model.ort"]
    assert files.views[1].providers == ("xnnpack", "cpu")
    assert [(each.key, each.value) for each in files.views[0].settings] == list(REPLAY.items())
    base = file(tmp_path, "model.ort", "weights")
    files = laid_out(plan(("coreml", base), ("cpu", replace(base, settings=REPLAY))))
    assert paths(files) == ["net/model.ort"]
    assert [view.providers for view in files.views] == [("coreML",), ("cpu",)]
    native = file(tmp_path, "model.ort", "halves", style=Style.FIXED, processor=FP16)
    others = file(tmp_path, "unfused-fp16.onnx", "graph", native.path, processor=FP16)
    made = plan(("coreml", others), ("cpu", native))
    assert [view.is_float16 for view in laid_out(made).views] == [False, False]
    files = laid_out(replace(made, precision=Precision.FLOAT16))
    assert [view.is_float16 for view in files.views] == [True, True]
    assert paths(files) == ["net/model.ort", "net/unfused-fp16.onnx"]
    base = file(tmp_path, "model.ort", "weights")
    fused = replace(file(tmp_path, "fixed.onnx", "graph", base.path), size_bytes=12345)
    files = laid_out(plan(("coreml", base), ("cpu", fused)))
    assert {each.path: each.size_bytes for each in files.resources} == {"net/model.ort": 7, "net/unfused.onnx": 5}
