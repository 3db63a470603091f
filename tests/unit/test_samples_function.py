"""Samples of a user's function: its values are used, and its errors are reported with their place."""

import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

from packager.core.errors import ConfigError
from packager.core.values import Model
from packager.samples import Settings, describe, function, inspect
from packager.samples.reading import open_described
from tests.cases.onnx_text import loaded, onnx_model

GOOD = """
import numpy
def samples():
    for number in range(3):
        yield {"x": numpy.full((1, 2), number, "f4")}
"""


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return loaded(tmp_path, onnx_model("(float[1, 2] x) => (float[1, 2] y) { y = Relu (x) }"))


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write a module that is unloaded after the test."""

    def write(text: str) -> None:
        (tmp_path / "made_up_data.py").write_text(text, encoding="utf-8")
        monkeypatch.delitem(sys.modules, "made_up_data", raising=False)

    yield write
    sys.modules.pop("made_up_data", None)


def samples(model: Model, folder: Path, source: str = "made_up_data:samples", **keys: Any) -> list[dict[str, Any]]:
    return list(open_described(describe(source, model, Settings(**keys), folder=folder)))


def test_functions_of_the_folder_and_installed_ones_are_called(tmp_path: Path, model: Model, written: Any) -> None:
    written(GOOD)
    before = list(sys.path)
    found = samples(model, tmp_path)
    assert [sample["x"].tolist() for sample in found] == [[[n, n]] for n in range(3)]
    assert sys.path == before
    with pytest.raises(ConfigError, match="csv:list_dialects: sample 0 is a str, not a dict"):
        samples(model, tmp_path, "csv:list_dialects")
    with pytest.raises(ConfigError, match=r"no function 'reed' in 'csv' \(.*csv\.py\)"):
        samples(model, tmp_path, "csv:reed")
    written(
        GOOD.replace("    for", "    x = numpy.zeros((1, 2), 'f4')\n    for").replace(
            'yield {"x": numpy.full((1, 2), number, "f4")}', "x[:] = number\n        yield {'x': x}"
        )
    )
    assert [sample["x"][0, 0] for sample in samples(model, tmp_path)] == [0, 1, 2]
    model = loaded(tmp_path, onnx_model("(string[2] x) => (string[2] y) { y = Identity (x) }"))
    written("import numpy\ndef samples(): return [{'x': numpy.array(['a', 'Zürich'], object)}]")
    (only,) = samples(model, tmp_path)
    assert (only["x"].dtype.kind, only["x"].tolist()) == ("U", ["a", "Zürich"])


@pytest.mark.parametrize(
    "values", ['[{"x": [[1.0, 2.0]]}]', '({"x": numpy.ones((1, 2))},)', 'iter([{"x": numpy.ones(2)}])']
)
def test_lists_and_other_numbers_are_made_arrays(tmp_path: Path, model: Model, written: Any, values: str) -> None:
    written(f"import numpy\ndef samples(): return {values}")
    (found,) = samples(model, tmp_path)
    assert (found["x"].dtype, found["x"].shape) == (numpy.float32, (1, 2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no function 'samples' in 'made_up_data'"),
        ("def samples(:", "cannot be imported: SyntaxError: invalid syntax"),
        ("import nothing_like_it", "cannot be imported: ModuleNotFoundError: No module named 'nothing_like_it'"),
        ("raise SystemExit('no arguments')", "cannot be imported: SystemExit: no arguments"),
        ("def samples(path): pass", "fails: TypeError: samples() missing 1 required positional argument"),
        ("def samples(): pass", "returns None, not samples"),
        ("def samples(): return [[1]]", "sample 0 is a list, not a dict"),
        ("def samples(): return [{'x': object()}]", "sample 0 is not a dict of arrays: TypeError: Python objects"),
        ("def samples(): return [{'x': [[1, 2], [3]]}]", "sample 0 is not a dict of arrays: ValueError"),
        ("def samples(): return [{'z': [[1.0, 2.0]]}]", "no input 'x'"),
        ("def samples(): return [{'x': [[1.0]]}]", "input 'x' needs 1x2, got 1x1"),
    ],
)
def test_what_it_does_wrong_is_told(tmp_path: Path, model: Model, written: Any, text: str, message: str) -> None:
    written(text)
    with pytest.raises(ConfigError) as error:
        samples(model, tmp_path)
    assert "made_up_data:samples" in error.value.message
    assert message in error.value.message
    assert error.value.hint


def test_a_bug_keeps_its_traceback_and_the_nearest_name_is_suggested(
    tmp_path: Path, model: Model, written: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    written("import json\ndef samples():\n    yield {'x': [[1.0, 2.0]]}\n    json.loads('{')\n")
    with pytest.raises(ConfigError, match=r"fails at sample 1: json.*JSONDecodeError: Expecting") as error:
        samples(model, tmp_path)
    assert error.value.message.endswith(f"({tmp_path / 'made_up_data.py'}, line 4)")
    assert type(error.value.__cause__).__name__ == "JSONDecodeError"
    written(GOOD)
    with pytest.raises(ConfigError) as error:
        samples(model, tmp_path, "made_up_data:sampels")
    assert error.value.hint == "did you mean 'samples'?"
    written(
        GOOD.replace("def", "print('imported')\ndef").replace("        yield", "        print('made')\n        yield")
    )
    assert len(samples(model, tmp_path)) == 3
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "imported\nmade\nmade\nmade\n")


@pytest.mark.parametrize(
    ("source", "text"), [("made_up_dta:samples", "no module 'made_up_dta'"), ("a b:c", "not found")]
)
def test_a_module_that_is_nowhere_is_told(tmp_path: Path, model: Model, source: str, text: str) -> None:
    with pytest.raises(ConfigError, match=text) as error:
        samples(model, tmp_path, source)
    assert error.value.hint


def test_one_that_never_ends_is_stopped_or_limited(
    tmp_path: Path, model: Model, written: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(function, "ENDLESS", 100)
    written("import itertools\nONE = {'x': [[1.0, 2.0]]}\ndef samples(): return itertools.repeat(ONE)")
    assert len(samples(model, tmp_path, limit=5)) == 5
    with pytest.raises(ConfigError, match="yielded 100 samples and did not end") as error:
        inspect("made_up_data:samples", model, Settings(), folder=tmp_path)
    assert error.value.hint == "set a limit of samples"
