"""The C++ of React Native packages: code that JavaScript cannot reach, and compilation for phones."""

import hashlib
import itertools
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from packager.engines.environments.bionic import builder
from packager.files.processes import downloads
from tests.cases.onnx_text import saved
from tests.nights import at_night
from tests.toolchain import cxx, jsc
from tests.toolchain.kept import kept
from tests.toolchain.react_native import codegen, packages

UNIT = jsc.HOST / "unit" / "unit.cpp"
PARTS = (
    "Checked",
    "CompiledFolders",
    "Cores",
    "Failure",
    "Files",
    "MappedFile",
    "OpenFile",
    "Protection",
    "ProtocolBuffers",
    "Sha256",
    "Weights",
)
NAMESPACE = "pageorientationcxx"
REFUSED = 3
PHONES = {
    # Neither Android's headers nor Apple's: those of musl, and what Apple has published of macOS.
    "android": ("-target", "aarch64-linux-musl", "-D__ANDROID__"),
    "ios": ("-target", "aarch64-macos"),
}
SYSTEM = re.compile(r"__APPLE__|__ANDROID__|__linux__|TARGET_OS_")
Unit = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> packages.Built:
    return packages.page_orientation(tmp_path_factory)


@pytest.fixture(scope="module")
def specs(built: packages.Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("specs")
    return codegen.for_ios(built.app(folder / "app"), folder / "codegen")


@pytest.fixture(scope="module")
def unit(built: packages.Built) -> Unit:
    """Run a command of unit.cpp: its exit code and output."""
    sources = [UNIT, *(built.package / "cpp" / f"{name}.cpp" for name in PARTS)]

    def make(folder: Path) -> None:
        options = [f"-DPACKAGE={NAMESPACE}", "-I", str(built.package / "cpp")]
        jsc.build_checked(sources, options, folder / "unit")

    headers = sorted((built.package / "cpp").glob("*.h"))
    compiler = downloads.pin(builder.COMPILER).sha256
    options = (cxx.TARGET, *jsc.CHECKED, *jsc.WARNINGS)
    program = kept("react-native-unit", make, compiler, *options, *sources, *headers) / "unit"

    def run(*words: str | Path) -> tuple[int, str]:
        done = subprocess.run([program, *words], capture_output=True, text=True, check=False, timeout=300)
        return done.returncode, (done.stdout + done.stderr).strip()

    return run


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        (b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        ),
        (b"a" * 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ],
)
def test_digests_are_those_of_the_standard(unit: Unit, tmp_path: Path, text: bytes, digest: str) -> None:
    path = tmp_path / "text"
    path.write_bytes(text)
    assert unit("sha256", path, "1000000") == (0, digest)


@pytest.mark.parametrize("size", [1, 55, 56, 57, 63, 64, 65, 119, 120, 121, 127, 128, 129, 1000])
def test_digests_do_not_depend_on_pieces(unit: Unit, tmp_path: Path, size: int) -> None:
    content = bytes(index * 7 % 256 for index in range(size))
    path = tmp_path / "content"
    path.write_bytes(content)
    for piece in (1, 13, 64, 65):
        assert unit("sha256", path, str(piece)) == (0, hashlib.sha256(content).hexdigest())


def test_big_cores_have_at_least_60_percent_of_the_fastest_clock(unit: Unit) -> None:
    kilohertz = {
        (): 0,
        (1_700_000, 1_700_000, 1_700_000, 2_400_000, 2_400_000, 2_900_000): 3,
        (*[3_532_800] * 6, *[4_320_000] * 2): 8,
        (2_000_000, 2_000_000, 2_000_000): 3,
    }
    assert {clocks: unit("cores", *map(str, clocks)) for clocks in kilohertz} == {
        clocks: (0, str(count)) for clocks, count in kilohertz.items()
    }


def test_what_is_written_can_be_read_on_a_locked_device(unit: Unit, tmp_path: Path) -> None:
    """Each file and folder once, when it is made: those that exist already are as they were."""
    (tmp_path / "there").write_bytes(b"1")
    code, said = unit("protect", tmp_path)
    assert code == 0, said
    kept = [re.sub(r"\.\w{6}$", "", line) for line in said.splitlines()]
    compiled = f"models/{'a' * 64}-1"
    assert kept == [str(tmp_path / name) for name in ("new", "new/file", "note", compiled, f"{compiled}/made")]


def outside(name: str, **entries: object) -> TensorProto:
    """A tensor of four floats whose values lie in a file."""
    tensor = TensorProto(name=name, dims=[4], data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def model_of(*tensors: TensorProto) -> onnx.ModelProto:
    """Tensors as initializers, and once more as constants in a graph inside a node of a graph inside a node."""
    graph = helper.make_graph([], "innermost", [], [], list(tensors))
    for name in ("inner", "outer"):
        constant = helper.make_node("Constant", [], ["c"], value=tensors[0])
        body = helper.make_node("If", ["x"], ["y"], then_branch=graph, else_branch=graph)
        graph = helper.make_graph([constant, body], name, [], [], list(tensors))
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])
    model.metadata_props.add(key="k", value="v" * 300)
    return model


def test_every_reference_points_to_the_place_on_the_device(unit: Unit, tmp_path: Path) -> None:
    inside = helper.make_tensor("inside", TensorProto.FLOAT, [1], [1.0])
    given = model_of(outside("a", location="w.bin", offset=32, length=16, checksum="x"), outside("b", location="w.bin"))
    given.graph.initializer.append(inside)
    model, target = saved(tmp_path / "model.onnx", given), tmp_path / "located.onnx"
    assert unit("weights", model, target, "w.bin", "/data/app/base.apk", "4096", "48") == (0, "")
    expected = model_of(
        outside("a", checksum="x", length=16, location="data/app/base.apk", offset=4128),
        outside("b", location="data/app/base.apk", offset=4096),
    )
    expected.graph.initializer.append(inside)
    assert onnx.load(target, load_external_data=False) == expected


def test_a_model_without_references_stays_as_it_is(unit: Unit, tmp_path: Path) -> None:
    model = saved(tmp_path / "model.onnx", model_of(helper.make_tensor("t", TensorProto.FLOAT, [2], [1.0, 2.0])))
    target = tmp_path / "located.onnx"
    assert unit("weights", model, target, "w.bin", "/w", "0", "48") == (0, "")
    assert onnx.load(target) == onnx.load(model)


@pytest.mark.parametrize(
    ("entries", "error"),
    [
        ({"location": "passwd"}, "[missing] the model names a file of weights 'passwd'"),
        ({"location": "../w.bin"}, "[missing]"),
        ({"offset": 1}, "[missing]"),
        ({"location": "w.bin", "offset": 49}, "[corrupted] /w is shorter"),
        ({"location": "w.bin", "offset": 33, "length": 16}, "[corrupted]"),
        ({"location": "w.bin", "offset": 1, "length": (1 << 64) - 1}, "[corrupted]"),
        ({"location": "w.bin", "offset": (1 << 64) - 1, "length": 2}, "[corrupted]"),
        ({"location": "w.bin", "offset": 1 << 64}, "[unreadable]"),
        ({"location": "w.bin", "offset": "-1"}, "[unreadable] the model has weights with the offset '-1'"),
        ({"location": "w.bin", "offset": "8 "}, "[unreadable]"),
        ({"location": "w.bin", "offset": ""}, "[unreadable]"),
        ({"location": "w.bin", "length": "1e3"}, "[unreadable] the model has weights with the length '1e3'"),
    ],
)
def test_references_that_lead_elsewhere_are_refused(
    unit: Unit, tmp_path: Path, entries: dict[str, object], error: str
) -> None:
    model = saved(tmp_path / "model.onnx", model_of(outside("a", **entries)))
    code, words = unit("weights", model, tmp_path / "located.onnx", "w.bin", "/w", "0", "48")
    assert code == REFUSED, words
    assert words.startswith(error)


def length_delimited(field: int, content: bytes) -> bytes:
    size, length = len(content), b""
    while size > 127:
        length += bytes([size & 127 | 128])
        size >>= 7
    return bytes([field << 3 | 2]) + length + bytes([size]) + content


def nested(depth: int) -> bytes:
    """Graphs in attributes of nodes of graphs, one in the other."""
    content = b""
    for _ in range(depth):
        content = length_delimited(1, length_delimited(5, length_delimited(6, content)))
    return length_delimited(7, content)


@pytest.mark.parametrize(
    "content",
    [
        b"\x80",  # a number that does not end
        b"\xff" * 9 + b"\x7f",  # one of more than 64 bits
        b"\xff" * 11 + b"\x01",
        b"\x3a\x05\x00",  # a graph longer than the file
        b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",  # one of 2 to the power of 64 bytes
        b"\x09\x00",  # eight bytes, of which one is there
        b"\x0d\x00\x00",  # four
        b"\x0b",  # a group: no file of ONNX has one
        b"\x0f",  # a type that does not exist
        nested(5000),
    ],
)
def test_files_that_are_no_models_are_refused(unit: Unit, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.onnx").write_bytes(content)
    code, words = unit("weights", tmp_path / "model.onnx", tmp_path / "located.onnx", "w.bin", "/w", "0", "48")
    assert code == REFUSED, words
    assert words.startswith("[unreadable]")


def test_graphs_may_lie_in_each_other_as_deep_as_models_have_them(unit: Unit, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(nested(30))
    words = unit("weights", tmp_path / "model.onnx", tmp_path / "located.onnx", "w.bin", "/w", "0", "48")
    assert words == (0, "")
    assert (tmp_path / "located.onnx").read_bytes() == nested(30)


def test_damaged_models_end_nothing(unit: Unit, tmp_path: Path) -> None:
    model = saved(tmp_path / "model.onnx", model_of(outside("a", location="w.bin", offset=32, length=16)))
    code, words = unit("damage", model, "w.bin", "3000")
    assert code == 0, words
    cut, changed = map(int, words.split())
    assert cut > model.stat().st_size * 0.9  # cut between two fields, a message is whole
    assert 500 < changed < 3000


@pytest.mark.parametrize(
    ("phone", "is_all", "is_alone"),
    [
        ("ios", True, False),
        ("android", False, True),
        *at_night(("ios", True, True), ("android", True, True)),
    ],
)
def test_sources_compile_for_phones(
    built: packages.Built, specs: Path, phone: str, is_all: bool, is_alone: bool
) -> None:
    """`is_all`: not only those that ask for the system. `is_alone`: each with the headers that it includes alone."""
    sources = sorted((built.package / "cpp").glob("*.cpp"))
    asking = [path for path in sources if SYSTEM.search(path.read_text(encoding="utf-8"))]
    assert len(sources) > 15
    assert 3 < len(asking) < len(sources)
    wanted = sources if is_all else asking
    objects = jsc.objects_for(PHONES[phone], built.package, specs, wanted, is_alone=is_alone)
    assert [path.stem for path in objects] == [path.stem for path in wanted]


def test_headers_do_not_ask_for_the_system(built: packages.Built) -> None:
    """Sources that include them would have to be compiled for each at every change."""
    headers = [path for path in (built.package / "cpp").glob("*.h") if SYSTEM.search(path.read_text(encoding="utf-8"))]
    assert headers == []


CHECKS = """\
#include <cstdlib>
#include <iostream>
#include <vector>

__int128 read(const char* text) {
  const bool isNegative = *text == '-';
  unsigned __int128 size = 0;
  for (text += isNegative; *text != 0; ++text) {
    size = 16 * size + static_cast<unsigned>(*text - (*text > '9' ? 'a' - 10 : '0'));
  }
  return static_cast<__int128>(isNegative ? -size : size);
}

int main(int count, char** words) {
  if (count == 2) return 2147483647 + std::atoi(words[1]);
  if (count == 4) return std::vector<int>(3).at(0) + std::vector<int>(3)[static_cast<std::size_t>(count)];
  const auto quotient = read(words[1]) / read(words[2]);
  std::cout << static_cast<std::int64_t>(quotient >> 64) << " " << static_cast<std::uint64_t>(quotient) << "\\n";
}
"""


@pytest.fixture(scope="module")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[int, str]]:
    """Runs CHECKS: the exit code and the output."""
    folder = tmp_path_factory.mktemp("checks")
    (folder / "checks.cpp").write_text(CHECKS, encoding="utf-8", newline="\n")
    jsc.build_checked([folder / "checks.cpp"], [], folder / "checks")

    def run(*words: str) -> tuple[int, str]:
        done = subprocess.run([folder / "checks", *words], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    return run


def test_an_overflow_and_a_wrong_index_end_a_program_that_is_checked(checks: Unit) -> None:
    assert checks("0")[0] == 255
    code, words = checks("1")
    assert (code, words.count("checks.cpp:15:")) == (-signal.SIGABRT, 1), words
    assert "undefined behaviour: add_overflow" in words
    code, words = checks("1", "2", "3")
    assert (code, "vector[] index out of bounds" in words) == (-signal.SIGABRT, True), words


def test_numbers_of_128_bits_are_divided(checks: Unit) -> None:
    """By what stands in the place of the compiler's own library."""
    largest = (1 << 127) - 1
    numbers = (1, 7, -7, 10**9, -(10**9), (1 << 64) - 1, 1 << 64, -(1 << 64) - 1, 3**80, largest, -largest - 1)
    for dividend, divisor in itertools.product((0, *numbers), numbers):
        if (dividend, divisor) == (-largest - 1, -1):
            continue
        quotient = abs(dividend) // abs(divisor) * (1 if (dividend < 0) == (divisor < 0) else -1)
        code, words = checks(f"{dividend:x}", f"{divisor:x}")
        assert (code, words.split()) == (0, [str(quotient >> 64), str(quotient & (1 << 64) - 1)]), (dividend, divisor)


def test_warnings_are_errors(built: packages.Built, tmp_path: Path) -> None:
    source = tmp_path / "Wrong.cpp"
    source.write_text("int narrow(long number) { return number; }\n", encoding="utf-8")
    with pytest.raises(Exception, match=re.escape("implicit conversion")):
        jsc.compile_all([source], tmp_path, jsc.WARNINGS)


def test_an_object_is_taken_from_another_package_where_all_that_it_reads_is_the_same(tmp_path: Path) -> None:
    def compiled(package: str, number: int, unread: int) -> bytes:
        folder = tmp_path / package
        (folder / "include").mkdir(parents=True)
        texts = {
            "Number.cpp": '#include "Reading.h"\nint number() { return NUMBER; }\nauto place() { return __FILE__; }\n',
            "Reading.h": "#include <Read.h>\n",
            "include/Read.h": f"int number();\n#define NUMBER {number}\n",
            "Unread.h": f"#define NUMBER {unread}\n",
        }
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
        own = (folder, folder / "include")
        options = ["-I", str(own[0]), "-I", str(own[1])]
        [made] = jsc.compile_once([folder / "Number.cpp"], folder, options, own, str(tmp_path))
        return made.read_bytes()

    first, same, other = compiled("first", 1, 1), compiled("same", 1, 2), compiled("other", 2, 1)
    assert same == first
    assert b"/first" in first
    assert b"/other" in other


def test_an_object_is_taken_from_a_package_that_differs_in_the_name_of_its_namespace_alone(tmp_path: Path) -> None:
    def compiled(namespace: str, number: int) -> bytes:
        folder = tmp_path / f"{namespace}{number}"
        folder.mkdir()
        (folder / "Number.h").write_text(f"namespace mobpack::{namespace} {{ int number(); }}\n", encoding="utf-8")
        text = f'#include "Number.h"\nint mobpack::{namespace}::number() {{ return {number}; }}\n'
        (folder / "Number.cpp").write_text(text, encoding="utf-8", newline="\n")
        options, keys = ["-I", str(folder)], (str(tmp_path),)
        [made] = jsc.compile_once([folder / "Number.cpp"], folder, options, [folder], *keys, namespace=namespace)
        return made.read_bytes()

    first, same, other = compiled("firstcxx", 1), compiled("secondcxx", 1), compiled("secondcxx", 2)
    assert same == first
    assert other != first
    assert b"_ZN7mobpack7package6numberEv" in first
