"""Output contracts: classes, embeddings and masks, and the names of classes."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy
import numpy.typing
import pytest
from onnx import helper

from packager import config
from packager.contract import Core, OutputKind, OutputTable, Placement, Writer
from packager.contract.classes import Classes
from packager.contract.embedding import Embedding
from packager.contract.labels import LIMIT, LIMIT_BYTES
from packager.contract.mask import Mask
from packager.contract.values import Values
from packager.core.contract import ADDED, LOWEST, ClassesOutput, EmbeddingOutput, MaskOutput, TypedOutput, ValuesOutput
from packager.core.errors import ConfigError, SettingError
from packager.core.signature import Dimension, ElementType
from packager.graph.writer import onnx_type
from tests.cases.contract_graphs import Ran, graph_of, spec_of

Numbers = numpy.typing.NDArray[Any]
Floats = numpy.typing.NDArray[numpy.float32]

RANDOM = numpy.random.default_rng(5)


class Behind:
    """A contract on an output `y`; if it needs one, a picture of 7 x 5 pixels for a core of 8 x 8."""

    def __init__(
        self, kind: OutputKind, *shape: Dimension, element: ElementType = ElementType.FLOAT, picture: bool = False
    ) -> None:
        self.writer = Writer(scope="y")
        self.element = element
        spec = spec_of("y", element, *shape)
        placements = {"x": placement(self.writer, 5, 7, (8, 8), (8, 8), (0, 0))} if picture else {}
        self.attached = kind.attach(self.writer, spec, Core(outputs={"y": spec}, placements=placements))
        self.ran = Ran(graph_of(self.writer, inputs=[("y", element, shape)]))

    @property
    def typed(self) -> TypedOutput:
        return self.attached.typed

    def __call__(self, values: Numbers) -> dict[str, Numbers]:
        return self.ran({"y": values.astype(helper.tensor_dtype_to_np_dtype(onnx_type(self.element)))})


def placement(
    writer: Writer, height: int, width: int, core: tuple[int, int], made: tuple[int, int], offset: tuple[int, int]
) -> Placement:
    """The place of a picture, x before y, in a core of height and width."""
    return Placement(
        made_width=writer.integers(made[0]),
        made_height=writer.integers(made[1]),
        offset_x=writer.integers(offset[0]),
        offset_y=writer.integers(offset[1]),
        width=writer.integers(width),
        height=writer.integers(height),
        core_width=core[1],
        core_height=core[0],
    )


def softmax(values: Numbers) -> Numbers:
    powers = numpy.exp(values.astype(numpy.float64) - values.max())
    return numpy.asarray(powers / powers.sum())


def sigmoid(values: Numbers) -> Numbers:
    return numpy.asarray(1 / (1 + numpy.exp(-values.astype(numpy.float64))))


def labels_file(folder: Path, *labels: str) -> Path:
    path = folder / "labels.txt"
    path.write_text("\n".join(labels) + "\n", encoding="utf-8")
    return path


def logits(*shape: int) -> Floats:
    return (RANDOM.standard_normal(shape) * 4).astype(numpy.float32)


# Classes


def test_classes_are_one_row_of_probabilities_whatever_the_model_gives() -> None:
    for shape in [(1, 10), (10,), (1, 10, 1, 1), (1, 1, 1, 10), ("batch", 10), (None, 10, 1, 1)]:
        behind = Behind(Classes(activation="softmax"), *shape)
        values = logits(*(size if isinstance(size, int) else 1 for size in shape))
        scores = behind(values)["y.scores"]
        assert scores.shape == (10,)
        numpy.testing.assert_allclose(scores, softmax(values.ravel()), atol=1e-6)
        assert isinstance(behind.typed, ClassesOutput)
        assert behind.typed.scores.shape == (10,)
        assert behind.attached.taken == ("y",)
    values = logits(1, 6)
    scores = Behind(Classes(activation="sigmoid"), 1, 6)(values)["y.scores"]
    numpy.testing.assert_allclose(scores, sigmoid(values[0]), atol=1e-6)
    assert numpy.array_equal(Behind(Classes(activation="none"), 1, 6)(values)["y.scores"], values[0])
    values = logits(1, 6).astype(numpy.float16)
    scores = Behind(Classes(activation="softmax"), 1, 6, element=ElementType.FLOAT16)(values)["y.scores"]
    assert scores.dtype == numpy.float32
    numpy.testing.assert_allclose(scores, softmax(values.ravel()), atol=1e-6)
    counted = numpy.array([[0, 255, 7]])
    scores = Behind(Classes(activation="none"), 1, 3, element=ElementType.UINT8)(counted)["y.scores"]
    assert scores.tolist() == [0.0, 255.0, 7.0]
    scores = Behind(Classes(activation="none"), 1, 3)(numpy.array([[1.0, numpy.nan, numpy.inf]]))["y.scores"]
    numpy.testing.assert_array_equal(scores, [1.0, numpy.nan, numpy.inf])


def test_an_app_gets_the_classes_that_there_are_above_a_threshold() -> None:
    typed = Behind(Classes(activation="softmax"), 1, 3).typed
    assert isinstance(typed, ClassesOutput)
    assert typed.top_k == 3
    # Logits may be negative: a threshold of zero would leave some out.
    for kind, threshold in (
        (Classes(activation="none"), LOWEST),
        (Classes(activation="softmax"), 0.0),
        (Classes(activation="none", threshold=-2.5), -2.5),
    ):
        typed = Behind(kind, 1, 3).typed
        assert isinstance(typed, ClassesOutput)
        assert typed.threshold == threshold
    assert float(numpy.finfo(numpy.float32).min) == LOWEST


def test_classes_are_one_row_with_as_many_labels(tmp_path: Path) -> None:
    for shape in ((1, 10, 2), (2, 10), (1, "n"), (1, 10, None), (), (1, 0)):
        with pytest.raises(ConfigError, match="not one row of classes"):
            Behind(Classes(activation="none"), *shape)
    with pytest.raises(ConfigError, match=r"string \[1, 4\]: not a numeric type"):
        Behind(Classes(activation="none"), 1, 4, element=ElementType.STRING)
    with pytest.raises(ConfigError, match="always 1"):
        Behind(Classes(activation="softmax"), 1, 1)
    assert Behind(Classes(activation="sigmoid"), 1, 1)(numpy.zeros((1, 1)))["y.scores"].tolist() == [0.5]
    path = labels_file(tmp_path, "a", "b")
    with pytest.raises(ConfigError, match=r"labels\.txt has 2 labels, but the model has 3 classes: one is missing"):
        Behind(Classes(activation="none", labels=path), 1, 3)
    with pytest.raises(ConfigError, match="has 2 labels, but the model has 5 classes: they have to be as many"):
        Behind(Classes(activation="none", labels=path), 1, 5)
    path = labels_file(tmp_path, "a heading", "a", "b", "c")
    with pytest.raises(ConfigError, match="has 4 labels, but the model has 3 classes: they have to be as many"):
        Behind(Classes(activation="none", labels=path), 1, 3)


def test_tables_become_kinds_with_what_makes_probabilities(tmp_path: Path) -> None:
    found = outputs_of({"kind": "classes", "activation": "softmax", "labels": "l.txt", "top-k": 3}, tmp_path)
    assert found == Classes(activation="softmax", labels=tmp_path / "l.txt", top_k=3)
    assert outputs_of({"kind": "embedding"}, tmp_path) == Embedding()
    assert outputs_of({"kind": "mask", "size": "model"}, tmp_path) == Mask(size="model")
    # A wrong guess would go unnoticed: the order of classes stays the same.
    with pytest.raises(ConfigError, match="'activation' is missing"):
        outputs_of({"kind": "classes"}, tmp_path)
    # Quantizers and float16 leave those alone.
    for kind in (Classes(activation="softmax"), Embedding()):
        assert all(node.name.startswith(ADDED) for node in Behind(kind, 1, 3).writer.written.nodes)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"top_k": 0}, "top-k 0"),
        ({"threshold": float("nan")}, "threshold nan"),
        ({"threshold": 1.5}, "threshold 1.5 is not a probability"),
    ],
)
def test_keys_that_make_no_sense_are_refused(keys: Mapping[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Classes(activation="softmax", **keys)


# Labels


def test_labels_come_in_the_order_of_a_file_that_has_to_be_there(tmp_path: Path) -> None:
    (tmp_path / "l.txt").write_bytes("\ufeffcat \r\n\r\n größe\n日本\n\n\n".encode())
    typed = Behind(Classes(activation="none", labels=Path("l.txt")).within(tmp_path), 1, 4).typed
    assert isinstance(typed, ClassesOutput)
    assert typed.labels == ("cat", "", "größe", "日本")
    # Other characters that Python also takes for line ends are refused.
    for text in ("b\u2028b", "b\x0bb"):
        path = labels_file(tmp_path, "a", text, "c")
        with pytest.raises(ConfigError, match=rf"labels\.txt:2: U\+{ord(text[1]):04X}"):
            Behind(Classes(activation="none", labels=path), 1, 3)
    with pytest.raises(ConfigError, match="no such file"):
        Behind(Classes(activation="none", labels=tmp_path / "none.txt"), 1, 3)
    with pytest.raises(ConfigError, match=str(tmp_path)):
        Behind(Classes(activation="none", labels=tmp_path), 1, 3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"\n\n\n", "empty"),
        (b"a\nb\0c\n", ":2: not a line of text"),
        (b"a\rb\rc\n", ":1: not a line of text"),
        (b"a\nb\n\xff\xfe\n", ":3: not UTF-8"),
        ("cat\ndog\n".encode("utf-16-le"), ":1: not a line of text"),
        (b"x" * (LIMIT_BYTES + 1), "larger than 8 MiB"),
        (b"x\n" * (LIMIT + 1), "100,001 lines"),
    ],
)
def test_a_file_that_is_no_list_of_labels_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "labels.txt"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=message) as raised:
        Behind(Classes(activation="none", labels=path), 1, 3)
    assert str(path) in raised.value.message
    assert raised.value.hint


# Embeddings


@pytest.mark.parametrize("shape", [(1, 16), (16,), (1, 16, 1, 1)])
def test_an_embedding_has_length_1(shape: tuple[int, ...]) -> None:
    behind = Behind(Embedding(), *shape)
    values = logits(*shape)
    vector = behind(values)["y.vector"]
    assert vector.shape == (16,)
    numpy.testing.assert_allclose(vector, values.ravel() / numpy.linalg.norm(values.astype(numpy.float64)), atol=1e-6)
    assert isinstance(behind.typed, EmbeddingOutput)
    assert behind.attached.taken == ("y",)


def test_embeddings_are_one_vector_of_length_1() -> None:
    # torch.nn.functional.normalize divides by at least 1e-12, and would leave the tiny one small.
    behind = Behind(Embedding(), 1, 4)
    assert behind(numpy.zeros((1, 4)))["y.vector"].tolist() == [0, 0, 0, 0]
    vector = behind(numpy.array([[3e-14, 0, 4e-14, 0]]))["y.vector"]
    numpy.testing.assert_allclose(vector, [0.6, 0, 0.8, 0], rtol=1e-5)
    assert numpy.isnan(behind(numpy.array([[1, numpy.nan, 0, 0]]))["y.vector"]).all()
    # The squares of such numbers exceed float16.
    vector = Behind(Embedding(), 1, 2, element=ElementType.FLOAT16)(numpy.array([[30000, 40000]]))["y.vector"]
    numpy.testing.assert_allclose(vector, [0.6, 0.8], rtol=1e-3)
    with pytest.raises(ConfigError, match=r"float \[1, 7, 16\]: not one row of numbers"):
        Behind(Embedding(), 1, 7, 16)


# Masks


def test_a_mask_has_the_best_class_of_each_place() -> None:
    values = logits(1, 5, 6, 8)
    behind = Behind(Mask(size="model", activation="softmax"), 1, 5, 6, 8)
    made = behind(values)
    shares = numpy.stack([[softmax(values[0, :, y, x]) for x in range(8)] for y in range(6)])
    assert made["y.classes"].dtype == numpy.uint8
    assert numpy.array_equal(made["y.classes"], values[0].argmax(0))
    numpy.testing.assert_allclose(made["y.scores"], shares.max(2), atol=1e-6)
    assert isinstance(behind.typed, MaskOutput)
    assert behind.attached.taken == ("y",)
    made = Behind(Mask(size="model"), 1, 1, 8, 6, picture=True)(logits(1, 1, 8, 6))
    assert made["y.scores"].shape == made["y.classes"].shape == (8, 6)
    values = logits(1, 5, 8, 9)
    first = Behind(Mask(size="model"), 1, 5, 8, 9)(values)
    last = Behind(Mask(size="model"), 1, 8, 9, 5)(values.transpose(0, 2, 3, 1))
    named = Behind(Mask(size="model", layout="nhwc"), 1, 8, 9, 5)(values.transpose(0, 2, 3, 1))
    for name in ("y.classes", "y.scores"):
        assert numpy.array_equal(first[name], last[name])
        assert numpy.array_equal(first[name], named[name])
    made = Behind(Mask(size="model"), 1, 3, 4, 4)(numpy.zeros((1, 3, 4, 4)))
    assert not made["y.classes"].any()


@pytest.mark.parametrize("shape", [(1, 1, 6, 4), (1, 6, 4, 1), (1, 6, 4)])
def test_of_one_class_a_place_has_it_or_not(shape: tuple[int, ...]) -> None:
    values = logits(*shape)
    made = Behind(Mask(size="model", activation="sigmoid", threshold=0.7), *shape)(values)
    numpy.testing.assert_allclose(made["y.scores"], sigmoid(values).reshape(6, 4), atol=1e-6)
    assert numpy.array_equal(made["y.classes"], made["y.scores"] >= numpy.float32(0.7))
    assert 0 < made["y.classes"].mean() < 1


def positions(pixels: int, made: int, offset: int, places: int, core: int) -> Numbers:
    """Of the pixels' centres among the places of a mask."""
    half = Fraction(1, 2)
    seen = [(number + half) * Fraction(made, pixels) + offset for number in range(pixels)]
    return numpy.array([float(each * places / core) for each in seen])


def interpolated(plane: Numbers, wanted: Numbers, axis: int) -> Numbers:
    """`plane` between the centres of its places; zero beyond its ends."""
    count = plane.shape[axis]
    before = numpy.floor(wanted - 0.5)
    share = wanted - 0.5 - before
    parts = [plane.take(numpy.clip(before + step, 0, count - 1).astype(int), axis) for step in (0, 1)]
    along = (slice(None), None) if axis == 0 else (None, slice(None))
    is_seen = ((wanted >= 0) & (wanted < count))[along]
    return numpy.asarray((parts[0] * (1 - share[along]) + parts[1] * share[along]) * is_seen)


CASES = [
    # height, width, core, size in it, offset: stretched, letterbox, crop
    (5, 7, (16, 16), (16, 16), (0, 0)),
    (30, 41, (16, 16), (16, 12), (0, 2)),
    (30, 41, (16, 16), (22, 16), (-3, 0)),
    (1, 1, (16, 16), (16, 16), (0, 0)),
    (90, 64, (16, 16), (16, 16), (0, 0)),
]


Case = tuple[int, int, tuple[int, int], tuple[int, int], tuple[int, int]]


def of_picture(case: Case, classes: int) -> Ran:
    height, width, core, made_size, offset = case
    writer = Writer(scope="y")
    spec = spec_of("y", ElementType.FLOAT, 1, classes, 8, 4)
    placements = {"x": placement(writer, height, width, core, made_size, offset)}
    Mask().attach(writer, spec, Core(outputs={"y": spec}, placements=placements))
    return Ran(graph_of(writer, inputs=[("y", ElementType.FLOAT, (1, classes, 8, 4))]))


def test_masks_are_read_where_a_pixel_lies_and_beside_a_crop_nothing_is_seen() -> None:
    for case in CASES:
        height, width, core, made_size, offset = case
        values = RANDOM.random((1, 1, 8, 4)).astype(numpy.float32)
        made: dict[str, Numbers] = of_picture(case, 1)({"y": values})
        down = positions(height, made_size[1], offset[1], 8, core[0])
        across = positions(width, made_size[0], offset[0], 4, core[1])
        wanted = interpolated(interpolated(values[0, 0], across, 1), down, 0)
        assert made["y.scores"].shape == (height, width)
        numpy.testing.assert_allclose(made["y.scores"], wanted, atol=2e-5)
        assert numpy.array_equal(made["y.classes"], made["y.scores"] >= 0.5)
    for case in CASES:
        height, width, core, made_size, offset = case
        values = RANDOM.random((1, 3, 8, 4)).astype(numpy.float32) + 1
        made = of_picture(case, 3)({"y": values})
        down = numpy.floor(positions(height, made_size[1], offset[1], 8, core[0])).astype(int)
        across = numpy.floor(positions(width, made_size[0], offset[0], 4, core[1])).astype(int)
        is_seen = ((down >= 0) & (down < 8))[:, None] & ((across >= 0) & (across < 4))
        best = values[0].argmax(0)[numpy.clip(down, 0, 7)][:, numpy.clip(across, 0, 3)]
        score = values[0].max(0)[numpy.clip(down, 0, 7)][:, numpy.clip(across, 0, 3)]
        assert numpy.array_equal(made["y.classes"], numpy.where(is_seen, best, 0))
        assert numpy.array_equal(made["y.scores"], numpy.where(is_seen, score, 0).astype(numpy.float32))
    halves: dict[str, Numbers] = of_picture(CASES[2], 1)({"y": numpy.ones((1, 1, 8, 4), numpy.float32)})
    assert halves["y.classes"][:, :5].max() == 0
    assert halves["y.classes"][:, 6:35].min() == 1
    assert halves["y.classes"][:, 36:].max() == 0


def test_masks_that_cannot_be_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="takes no picture"):
        Behind(Mask(), 1, 3, 4, 4)
    for shape in ((1, 4), (3, 8, 8), (2, 1, 8, 8)):
        with pytest.raises(ConfigError, match=r"not \[1, classes, height, width\]"):
            Behind(Mask(size="model"), *shape)
    with pytest.raises(ConfigError, match="the number of classes, 300, is not from 1 to 256"):
        Behind(Mask(size="model"), 1, 300, 512, 512)
    with pytest.raises(ConfigError, match="always 1"):
        Behind(Mask(size="model", activation="softmax"), 1, 1, 8, 8)
    with pytest.raises(ConfigError, match="has 2 labels, but the model has 3 classes"):
        Behind(Mask(size="model", labels=labels_file(tmp_path, "a", "b")), 1, 3, 4, 4)
    with pytest.raises(ConfigError, match="image 'z' is not an input with a picture"):
        Behind(Mask(image="z"), 1, 3, 4, 4, picture=True)


def test_a_model_with_two_pictures_needs_to_know_which_one_a_mask_is_of() -> None:
    writer = Writer(scope="y")
    spec = spec_of("y", ElementType.FLOAT, 1, 1, 8, 8)
    places = {name: placement(writer, 8, size, (8, 8), (8, 8), (0, 0)) for name, size in (("a", 3), ("b", 6))}
    core = Core(outputs={"y": spec}, placements=places)
    with pytest.raises(ConfigError, match="takes 2 pictures") as raised:
        Mask().attach(writer, spec, core)
    assert "a, b" in raised.value.hint
    Mask(image="b").attach(writer, spec, core)
    made = Ran(graph_of(writer, inputs=[("y", ElementType.FLOAT, (1, 1, 8, 8))]))({"y": numpy.ones((1, 1, 8, 8), "f")})
    assert made["y.scores"].shape == (8, 6)


# Tables


def outputs_of(table: Mapping[str, object], folder: Path) -> OutputTable:
    document = {"package": {"name": "p"}, "model": {"m": {"path": "m.onnx", "outputs": {"y": dict(table)}}}}
    return config.from_document(document, folder, targets=(), settings=()).model["m"].outputs["y"]


# Values


@pytest.mark.parametrize(
    ("count", "shape", "steps"),
    [
        (3, (1, 3), 1),
        (3, (3,), 1),
        (3, (1, 4, 3), 4),
        (3, ("n", 1, 3), 1),
        (1, (1, 5), 5),
        (1, (1,), 1),
        (2, (1, 6, 2, 1), 6),
    ],
)
def test_values_are_rows_of_named_numbers(count: int, shape: tuple[Dimension, ...], steps: int) -> None:
    kind = Values(names=tuple("abc"[:count]), scale=tuple(map(float, range(2, 2 + count))), offset=0.5)
    behind = Behind(kind, *shape)
    given = RANDOM.standard_normal([size if isinstance(size, int) else 1 for size in shape]).astype(numpy.float32)
    expected = given.astype(numpy.float64).reshape(steps, count) * range(2, 2 + count) + 0.5
    numpy.testing.assert_allclose(behind(given)["y.numbers"], expected, rtol=1e-6, atol=1e-6)
    assert isinstance(behind.typed, ValuesOutput)
    assert behind.typed.numbers.shape == (steps, count)


def test_values_of_an_open_series_have_as_many_steps_as_a_run_gives() -> None:
    behind = Behind(Values(names=("low", "high")), 1, None, 2)
    assert isinstance(behind.typed, ValuesOutput)
    assert behind.typed.numbers.shape == ("y.steps", 2)
    for steps in (0, 1, 7):
        given = RANDOM.standard_normal((1, steps, 2)).astype(numpy.float32)
        assert numpy.array_equal(behind(given)["y.numbers"], given[0])


@pytest.mark.parametrize("shape", [(1, 4), (1, 3, 4), (2, 3, 5, 3), (1, 0, 3), ()])
def test_values_refuse_another_number_of_names(shape: tuple[Dimension, ...]) -> None:
    with pytest.raises(ConfigError, match="not 3 named numbers for each step"):
        Behind(Values(names=("a", "b", "c")), *shape)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"names": ()}, "names must be texts"),
        ({"names": ("a", "a")}, "names must be texts"),
        ({"names": ("a", " ")}, "names must be texts"),
        ({"names": ("a", "b"), "units": ("m",)}, "units has 1 texts for 2 names"),
        ({"names": ("a", "b"), "scale": (1.0, 2.0, 3.0)}, "scale is not one number"),
        ({"names": ("a",), "offset": float("nan")}, "offset is not one number"),
    ],
)
def test_values_refuse_keys_that_do_not_fit(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        Values(**keys)
