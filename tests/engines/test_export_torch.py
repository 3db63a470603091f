"""Exports of PyTorch modules, and every mistake that `mobpack export` names: with the real PyTorch."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy
import onnx
import onnxruntime
import pytest

from packager.core.errors import ToolError
from packager.engines.environments import bionic, zig
from packager.files.processes import commands
from packager.workflows.conversion import graph
from packager.workflows.conversion.graph import ports
from tests.toolchain.torch import Case, Exported, build_stand_in, exported, stand_in_for_cuda

CASES = {
    "classifier": Case("classifier", dynamic=("batch", "input.2=height", "input.3=width")),
    "renamed": Case("classifier", input_names=("image",), output_names=("scores",), opset=21),
    "too few names": Case("many", input_names=("image",)),
    "too many outputs": Case("classifier", output_names=("a", "b")),
    "taken output": Case("classifier", output_names=("input",)),
    "no such input": Case("classifier", dynamic=("imput.0=batch",)),
    "no such axis": Case("classifier", dynamic=("input.4=batch",)),
    "sizes that differ": Case("classifier", dynamic=("input.0=size", "input.1=size")),
    "old opset": Case("shares", opset=12),
    "tied": Case("tied", dynamic=("left.0=rows", "right.0=others")),
    "tied once": Case("tied", dynamic=("batch",)),
    "dynamic loop": Case("loops", dynamic=("batch",)),
    "dynamic fixed": Case("fixed", dynamic=("batch",)),
    "several sizes": Case("stereo", dynamic=("batch", "sound.2=length")),
    "named and dynamic": Case("named", dynamic=("batch",)),
    "recurrent": Case("recurrent", dynamic=("sound.0=batch", "sound.1=length", "state.1=batch")),
    "dynamic kernel": Case("kernel", dynamic=("sound.2=length",)),
}
ALONE = """
training drops counts doubles numpy_doubles whole_doubles halves float_indices short_indices integers empty_weights
elsewhere number_branch untranslatable gives_dict gives_tuple gives_named_tuple gives_dataclass gives_number
gives_nothing gives_complex compiled writes shares many learns wrong_arguments module_alone no_inputs not_a_module
raises absent named from_file
""".split()
"""Factories that export without a change."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Exported]:
    """All cases, exported in one process."""
    return exported({**CASES, **{name: Case(name) for name in ALONE}}, tmp_path_factory.mktemp("exports"))


def model(case: Exported) -> onnx.ModelProto:
    assert not case.message, case.message
    return graph.read(case.folder / "graph.onnx")


def shapes(case: Exported) -> dict[str, tuple[int | str, ...]]:
    proto = model(case)
    return {port.name: port.dimensions for port in (*ports(proto.graph.input), *ports(proto.graph.output))}


def gives_what_pytorch_gives(case: Exported) -> bool:
    """Whether ONNX Runtime gives the recorded outputs, for all samples and all outputs by name."""
    session = onnxruntime.InferenceSession(case.folder / "graph.onnx")
    for recorded in sorted((case.folder / "recorded").iterdir()):
        outputs = numpy.load(recorded)
        found = session.run(list(outputs), dict(numpy.load(case.folder / "samples" / recorded.name)))
        if not all(numpy.allclose(x, y, 1e-3, 1e-5) for x, y in zip(outputs.values(), found, strict=True)):
            return False
    return True


def test_dynamic_dimensions_are_named_and_samples_have_other_sizes(made: Mapping[str, Exported]) -> None:
    case = made["classifier"]
    assert shapes(case) == {"input": ("batch", 3, "height", "width"), "output": ("batch", 4)}
    sizes = case.answer["sizes"]
    assert sizes[0] == {"batch": 1, "height": 12, "width": 12}
    assert len({each["batch"] for each in sizes}) >= 3, sizes
    assert gives_what_pytorch_gives(case)


def test_inputs_and_outputs_take_the_names_that_are_given(made: Mapping[str, Exported]) -> None:
    assert shapes(made["renamed"]) == {"image": (1, 3, 12, 12), "scores": (1, 4)}
    assert model(made["renamed"]).opset_import[0].version == 21
    assert gives_what_pytorch_gives(made["renamed"])


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("gives_dict", ["x_out", "inner_0", "inner_1_last"]),
        ("gives_tuple", ["output_0", "output_1", "output_2"]),
        ("gives_named_tuple", ["mean", "spread"]),
        ("gives_dataclass", ["best", "rest"]),
        ("many", ["output"]),
        ("named", ["output"]),
        ("compiled", ["output"]),
        ("learns", ["output"]),
    ],
)
def test_outputs_have_the_names_of_keys_and_fields(made: Mapping[str, Exported], name: str, names: list[str]) -> None:
    assert [each.name for each in model(made[name]).graph.output] == names
    assert gives_what_pytorch_gives(made[name])


def test_inputs_have_the_names_of_the_parameters_of_forward(made: Mapping[str, Exported]) -> None:
    assert [each.name for each in model(made["many"]).graph.input] == ["first", "others_0", "others_1"]
    assert [each.name for each in model(made["named"]).graph.input] == ["x", "offset"]
    assert [each.name for each in model(made["compiled"]).graph.input] == ["input"], "what they wrap"


MISTAKES = {
    "too few names": ("ConfigError", "--input-names gives 1 names, the module takes 3: first, others_0, others_1"),
    "too many outputs": ("ConfigError", "--output-names gives 2 names, the module returns 1: output"),
    "taken output": ("ConfigError", "--output-names: 'input' is an input"),
    "no such input": ("ConfigError", "no input 'imput'"),
    "no such axis": ("ConfigError", "input 'input' has 4 axes, none with number 4"),
    "sizes that differ": ("ConfigError", "'size' is 1 and 3 in the example inputs"),
    "named and dynamic": ("ConfigError", "forward takes **others, for which PyTorch cannot export dynamic sizes"),
    "drops": (
        "ModelError",
        "it draws random numbers in eval mode\n  nets.py, line N, in forward: return functional.dropout",
    ),
    "counts": ("ModelError", "it changes its buffer 'calls'"),
    "doubles": ("ModelError", "input 'input' is float64, but the weights are float32"),
    "numpy_doubles": ("ConfigError", "example input 0 is a ndarray, not a tensor"),
    "halves": ("ModelError", "the module's weights are float16"),
    "float_indices": ("ModelError", "input 'input' is float32, but the module uses it as indices"),
    "short_indices": ("ModelError", "input 'words' is int32, but the module uses it as indices"),
    "integers": ("ModelError", "input 'input' is int64, but the weights are float32"),
    "empty_weights": ("ModelError", "'weight' is on device meta and has no values"),
    "elsewhere": ("ModelError", "one of its tensors is on another device"),
    "number_branch": (
        "ModelError",
        "branches on the values of a tensor, which a graph cannot express\n  nets.py, line N, in",
    ),
    "untranslatable": (
        "ModelError",
        "no ONNX operator for aten._linalg_svd\n  nets.py, line N, in forward: return torch.linalg.svd(x)[0]",
    ),
    "dynamic fixed": ("ModelError", "the module fails on batch = 5"),
    "gives_number": ("ModelError", "output 'size' of the module is a int, not a tensor"),
    "gives_complex": ("ModelError", "output 'spectrum' is complex64, which mobile APIs do not support"),
    "gives_nothing": ("ModelError", "the module returns no tensor"),
    "wrong_arguments": ("ConfigError", "the example inputs do not fit forward(input: torch.Tensor)"),
    "module_alone": ("ConfigError", "returns a module without example inputs"),
    "no_inputs": ("ConfigError", "returns no example inputs"),
    "not_a_module": ("ConfigError", "instead of a torch.nn.Module"),
    "raises": (
        "ConfigError",
        "factory nets:raises fails: FileNotFoundError: weights.pt is not there\n  nets.py, line N",
    ),
    "absent": ("ConfigError", "no function 'absent' in 'nets'"),
    "from_file": ("ConfigError", "No such file or directory: 'weights.npy'"),
}
"""Case -> class and part of its error message."""


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named(made: Mapping[str, Exported], name: str) -> None:
    kind, part = MISTAKES[name]
    assert part in re.sub(r"line \d+", "line N", made[name].message)
    assert made[name].answer["failed"] == kind
    assert made[name].answer["hint"], "says what to do"
    assert "site-packages" not in made[name].message, "the user's own lines alone"


def test_the_lines_that_led_to_a_failure_are_the_users_own_the_innermost_last(made: Mapping[str, Exported]) -> None:
    lines = made["raises"].message.splitlines()
    assert [line.rpartition(": ")[0].rpartition(" in ")[2] for line in lines[1:]] == ["raises", "missing_weights"]


def test_the_hint_for_a_missing_file_names_the_folder_in_which_the_code_runs(made: Mapping[str, Exported]) -> None:
    case = made["from_file"]
    assert f"the code runs in {case.folder.parent / 'code'}" in case.answer["hint"]


def test_training_mode_is_ended_and_the_layers_that_it_changes_are_named(made: Mapping[str, Exported]) -> None:
    [warning] = made["training"].warnings
    assert "exported in eval mode, as apps run it (1 BatchNorm1d, 1 Dropout behave differently" in warning
    assert "Dropout" not in {node.op_type for node in model(made["training"]).graph.node}
    assert gives_what_pytorch_gives(made["training"])


def test_a_module_in_eval_mode_is_exported_without_a_warning(made: Mapping[str, Exported]) -> None:
    assert made["renamed"].warnings == ()


def test_doubles_that_the_module_takes_are_exported_with_a_warning(made: Mapping[str, Exported]) -> None:
    assert "input input is float64" in made["whole_doubles"].warnings[0]
    assert gives_what_pytorch_gives(made["whole_doubles"])


def test_a_changed_input_is_a_warning_and_the_recorded_sample_is_the_one_before(made: Mapping[str, Exported]) -> None:
    assert "modifies input 'x' in place" in made["writes"].warnings[0]
    assert numpy.load(made["writes"].folder / "samples" / "sample-0.npz")["x"].tolist() == [1, 1, 1]
    assert gives_what_pytorch_gives(made["writes"])


def test_a_size_that_the_module_refuses_is_left_out_with_a_warning(made: Mapping[str, Exported]) -> None:
    case = made["dynamic kernel"]
    assert [each["length"] for each in case.answer["sizes"]] == [8, 9, 17]
    assert "not compared with length = 1, which PyTorch rejects" in case.warnings[0]
    assert shapes(case)["sound"] == (1, 2, "length")


def test_of_several_small_sizes_those_that_the_module_takes_are_compared(made: Mapping[str, Exported]) -> None:
    case = made["several sizes"]
    assert {"batch": 1, "length": 8} in case.answer["sizes"]
    assert [each.partition(": ")[0] for each in case.warnings] == [
        "not compared with batch = 2, length = 1, which PyTorch rejects"
    ]
    assert gives_what_pytorch_gives(case)


def test_a_loop_over_a_dynamic_size_leaves_a_constant(made: Mapping[str, Exported]) -> None:
    assert shapes(made["dynamic loop"])["x"] == (4, 3)


def test_sizes_of_one_name_stay_equal_and_those_that_must_be_get_one_name(made: Mapping[str, Exported]) -> None:
    assert shapes(made["tied once"])["left"] == shapes(made["tied once"])["right"] == ("batch", 3)


def test_sizes_that_have_to_be_equal_are_found_by_trying_others(made: Mapping[str, Exported]) -> None:
    assert "the module fails on rows = 5, others = 6" in made["tied"].message


def test_an_opset_that_pytorch_cannot_convert_to_is_left_alone(made: Mapping[str, Exported]) -> None:
    assert model(made["old opset"]).opset_import[0].version != 12


def test_an_output_that_pytorch_declares_constant_gets_the_name_of_what_it_is_as_large_as(
    made: Mapping[str, Exported],
) -> None:
    case = made["recurrent"]
    assert gives_what_pytorch_gives(case)
    proto = model(case)
    assert ports(proto.graph.output)[0].dimensions == ("batch", 10, 4), "what PyTorch declares"
    graph.mend_shapes(proto, case.answer["sizes"], case.answer["shapes"])
    found = {port.name: port.dimensions for port in ports(proto.graph.output)}
    assert found == {"steps": ("batch", "length", 4), "state_out": (1, "batch", 4)}


def test_weights_that_layers_share_are_reported(made: Mapping[str, Exported]) -> None:
    case = made["shares"]
    assert case.answer["shared"] == ["words.weight"]
    assert case.answer["weight_bytes"] == 160
    assert graph.weight_bytes(model(case)) == 320, "PyTorch writes a transposed copy"


def test_the_graph_says_nothing_of_the_machine_it_was_made_on(made: Mapping[str, Exported]) -> None:
    case = made["many"]
    assert b"nets.py" in (case.folder / "graph.onnx").read_bytes(), "what PyTorch leaves"
    assert b"nets.py" not in model(case).SerializeToString()


CUDA_USER = """
int cudaGetDeviceCount(int *), ncclGetVersion(int *), count, version;
const char *cudaGetErrorString(int);
int gpus(void) { return cudaGetDeviceCount(&count); }
int nccl(void) { return ncclGetVersion(&version); }
const char *error(void) { return cudaGetErrorString(1); }
"""
"""Takes its functions as PyTorch does: those of CUDA in a version, those of NCCL in none."""
ASK = "import ctypes, sys; it = ctypes.CDLL(sys.argv[1]); it.error.restype = ctypes.c_char_p"


@pytest.mark.usefixtures("stand_in_compiler")
def test_a_library_that_needs_cuda_finds_stand_ins_without_a_gpu(tmp_path: Path) -> None:
    folder, cuda, source = tmp_path / "lib", tmp_path / "libcudart.so.99", tmp_path / "user.c"
    folder.mkdir()
    build_stand_in(cuda, {"cudaGetDeviceCount", "cudaGetErrorString"})
    source.write_text(CUDA_USER, encoding="utf-8")
    options = ["-target", bionic.ZIG_TARGET, "-shared", "-fPIC", "-nostdlib", "-Wl,-rpath,$ORIGIN"]
    options += [str(source), str(cuda), "-o", str(folder / "libuser.so")]
    commands.run([zig.compiler(), "cc", *options], what="compiling what needs CUDA")
    cuda.unlink()  # the linker has noted its folder
    program = f"{ASK}; print(it.gpus(), it.nccl(), it.error().decode())"
    ask = [sys.executable, "-c", program, str(folder / "libuser.so")]
    with pytest.raises(ToolError, match=r"libcudart\.so\.99: cannot open shared object file"):
        commands.run(ask, what="loading it")
    stand_in_for_cuda(folder)
    assert commands.run(ask, what="loading it") == "100 100 a stand-in for CUDA\n"
