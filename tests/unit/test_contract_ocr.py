"""OCR contracts: the best symbol of each step, without blanks and repetitions."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
import numpy.typing
import pytest

from packager import config
from packager.contract import Core, Writer
from packager.contract.text import Text
from packager.core.contract import ADDED, TextOutput
from packager.core.errors import ConfigError
from packager.core.signature import Dimension, ElementType
from tests.cases.contract_graphs import Ran, graph_of, spec_of

Numbers = numpy.typing.NDArray[Any]
LETTERS = "abcdefg"
METADATA = {"character": "\n".join(LETTERS)}


class Reader:
    """A table contract on the output `y` of a model with an alphabet."""

    def __init__(
        self,
        kind: Text,
        *shape: Dimension,
        element: ElementType = ElementType.FLOAT,
        metadata: Mapping[str, str] = METADATA,
    ) -> None:
        self.writer = Writer(scope="y")
        spec = spec_of("y", element, *shape)
        self.attached = kind.attach(self.writer, spec, Core(outputs={"y": spec}, placements={}, metadata=metadata))
        self.ran = Ran(graph_of(self.writer, inputs=[("y", element, shape)]))

    @property
    def typed(self) -> TextOutput:
        assert isinstance(self.attached.typed, TextOutput)
        return self.attached.typed

    def __call__(self, values: Numbers) -> tuple[str, Numbers]:
        """The text, and the score of each symbol."""
        made = self.ran({"y": values})
        assert made["y.symbols"].dtype == numpy.int64
        assert made["y.symbols"].shape == made["y.scores"].shape
        return "".join(self.typed.alphabet[symbol] for symbol in made["y.symbols"]), made["y.scores"]


def steps(*best: int, count: int = 8) -> Numbers:
    """Scores [1, steps, count] whose best are these classes: 0.6, then 0.61 and so on."""
    values = numpy.zeros((1, len(best), count), numpy.float32)
    for step, each in enumerate(best):
        values[0, step, each] = 0.6 + step / 100
    return values


def greedy(values: Numbers, blank: int) -> tuple[list[int], list[float]]:
    """Decode step by step, as PyTorch's tutorials do: positions among all classes."""
    symbols, scores, before = [], [], -1
    for step in values:
        best = int(step.argmax())
        if best not in (before, blank):
            symbols.append(best)
            scores.append(float(step[best]))
        before = best
    return symbols, scores


NAMED = Text(alphabet_metadata="character")


def test_the_same_is_read_as_step_by_step_wherever_the_blank_is() -> None:
    for blank in [0, 3, 7, -1, -8]:
        reader = Reader(Text(alphabet_metadata="character", blank=blank), 1, "steps", 8)
        lengths = set()
        for seed in range(20):
            random = numpy.random.default_rng(seed)
            values = random.random((1, int(random.integers(1, 60)), 8)).astype(numpy.float32)
            values[0, random.random(values.shape[1]) < 0.5, blank] = 2
            wanted, shares = greedy(values[0], blank % 8)
            alphabet = [*LETTERS[: blank % 8], "", *LETTERS[blank % 8 :]]
            text, scores = reader(values)
            assert text == "".join(alphabet[symbol] for symbol in wanted)
            numpy.testing.assert_allclose(scores, shares)
            lengths.add(len(text))
        assert len(lengths) > 5


def test_texts_are_read_however_the_model_says_them() -> None:
    for shape in [(1, 4, 8), (4, 1, 8), (4, 8), ("batch", 4, 8)]:
        values = steps(1, 0, 2, 2).reshape([size if isinstance(size, int) else 1 for size in shape])
        assert Reader(NAMED, *shape)(values)[0] == "ab"
    reader = Reader(NAMED, 1, "steps", 8)
    for values in (steps(0, 0, 0), steps()):
        text, scores = reader(values)
        assert (text, scores.shape) == ("", (0,))
    values = steps(1, 2) * 5
    powers = numpy.exp(values[0].astype(numpy.float64))
    _, scores = Reader(Text(alphabet_metadata="character", activation="softmax"), 1, 2, 8)(values)
    numpy.testing.assert_allclose(scores, (powers / powers.sum(1, keepdims=True)).max(1), atol=1e-6)
    text, scores = Reader(NAMED, 1, 3, 8, element=ElementType.FLOAT16)(steps(1, 0, 2).astype(numpy.float16))
    assert text == "ab"
    assert scores.dtype == numpy.float32
    values = steps(5, 3)
    values[0, 0, 2] = values[0, 0, 5]
    assert Reader(NAMED, 1, 2, 8)(values)[0] == "bc"


@pytest.mark.parametrize("number", [numpy.nan, numpy.inf, -numpy.inf])
def test_odd_numbers_are_read_as_some_symbol(number: float) -> None:
    """Every symbol that is read is in the alphabet."""
    values = steps(1, 2, 3)
    values[0, 1] = number
    text, _ = Reader(NAMED, 1, 3, 8)(values)
    assert text in ("ac", *(f"a{letter}c" for letter in LETTERS))


def test_an_alphabet_may_be_a_file_and_end_with_a_space(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n \n\u3000\nqu\n", encoding="utf-8")
    reader = Reader(Text(alphabet=Path("a.txt")).within(tmp_path), 1, 5, 5)
    assert reader.typed.alphabet == ("a", " ", "\u3000", "qu")
    assert reader(steps(1, 2, 4, 3, 0, count=5))[0] == "a qu\u3000"
    reader = Reader(Text(alphabet_metadata="character", append_space=True), 1, 3, 9)
    assert reader.typed.alphabet == (*LETTERS, " ")
    assert reader(steps(1, 8, 2, count=9))[0] == "a b"


def test_what_is_not_read_step_by_step_is_refused() -> None:
    with pytest.raises(ConfigError, match="metadata has no 'characters'") as raised:
        Reader(Text(alphabet_metadata="characters"), 1, 5, 8)
    assert "'character'" in raised.value.hint
    with pytest.raises(ConfigError, match="metadata has no 'character'"):
        Reader(NAMED, 1, 5, 8, metadata={})
    with pytest.raises(ConfigError, match="metadata 'character':2: the line is empty"):
        Reader(NAMED, 1, 5, 4, metadata={"character": "a\n\nb"})
    with pytest.raises(ValueError, match="'alphabet' is missing"):
        Text()
    with pytest.raises(ValueError, match="exclude each other"):
        Text(alphabet=Path("a"), alphabet_metadata="character")
    for shape in ((8,), (2, 3, 8), (1, 5, "n"), (1, 5, 1), (1, 1, 5, 8)):
        with pytest.raises(ConfigError, match=r"not \[1, steps, symbols\]"):
            Reader(NAMED, *shape)
    for blank in (8, -9):
        with pytest.raises(ConfigError, match=f"blank {blank} is not one of the model's 8 classes"):
            Reader(Text(alphabet_metadata="character", blank=blank), 1, 5, 8)
    with pytest.raises(
        ConfigError, match="metadata 'character' has 7 symbols, but the model has 8 and a blank"
    ) as raised:
        Reader(NAMED, 1, 5, 9)
    assert raised.value.hint == "set append-space for a space"
    with pytest.raises(ConfigError, match="has 8 symbols, but the model has 7") as raised:
        Reader(Text(alphabet_metadata="character", append_space=True), 1, 5, 8)
    assert "remove append-space" in raised.value.hint
    with pytest.raises(ConfigError, match="has 7 symbols, but the model has 99 and a blank") as raised:
        Reader(NAMED, 1, 5, 100)
    assert "trained with" in raised.value.hint


def test_a_table_becomes_a_text_in_the_place_of_the_scores(tmp_path: Path) -> None:
    reader = Reader(NAMED, 1, 5, 8)
    assert reader.attached.taken == ("y",)
    assert reader.typed.symbols.shape == reader.typed.scores.shape == ("y.count",)
    assert all(node.name.startswith(ADDED) for node in reader.writer.written.nodes)
    table = {"kind": "text", "alphabet": "a.txt", "blank": -1, "append-space": True}
    document = {"package": {"name": "p"}, "model": {"m": {"path": "m.onnx", "outputs": {"y": table}}}}
    found = config.from_document(document, tmp_path, targets=(), settings=()).model["m"].outputs["y"]
    assert found == Text(alphabet=tmp_path / "a.txt", blank=-1, append_space=True)
