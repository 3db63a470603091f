"""Writes the table of importers in benchmarks/results/import_table.md: runs every importer on the models of the tests.

`python -m tests.toolchain.import_table --write`; without the option it prints the table. Modules of PROGRAMS that are
named, and `old_models`, run alone; the page keeps the rows of other importers.
"""

import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from packager.core.console import Console
from packager.files.store import Store
from packager.workflows.importing import ImportRequest, starting, steps
from packager.workflows.importing.starting import Answer
from tests.toolchain.importing import answers_of, importer_of, source_in

PAGE = Path(__file__).parents[2] / "benchmarks" / "results" / "import_table.md"
BEGIN, END = "<!-- table: python -m tests.toolchain.import_table --write -->", "<!-- end of the table -->"


@dataclass(frozen=True, kw_only=True)
class Program:
    """A module of the tests that saves models of a framework and imports them."""

    module: str
    environment: str
    models: Mapping[str, str]
    """source -> the model in words"""


PROGRAMS = (
    Program(
        module="tests.toolchain.keras_models",
        environment="keras",
        models={
            "digits.keras": "trained convolutions",
            "digits.h5": "the same",
            "recurrent.keras": "embedding, LSTM, GRU",
            "named.keras": "two inputs, two outputs",
            "digits": "trained convolutions",
            "subclass": "a class of one's own, exported by it",
            "digits.tflite": "trained convolutions",
            "digits_int8.tflite": "the same in int8",
        },
    ),
    Program(
        module="tests.toolchain.huggingface_models",
        environment="huggingface",
        models={"bert": "BertForSequenceClassification", "vit": "ViTForImageClassification"},
    ),
    Program(
        module="tests.toolchain.tabular_models",
        environment="tabular",
        models={
            "classes.ubj": "three classes, random forests boosted, missing values",
            "sets.json": "regression on sets of categories",
            "ranked.ubj": "ranking",
            "classes.txt": "three classes, missing values",
            "sets.txt": "regression on sets of categories",
            "zeros.txt": "two classes, zeros as missing values",
            "classes.cbm": "three classes, missing values",
            "grown.cbm": "Poisson regression, trees that are not symmetric",
            "forest.joblib": "scaler, random forest",
            "columns.joblib": "columns of numbers and texts, logistic regression",
            "support.pkl": "scaler, support vectors",
            "histogram.joblib": "histogram boosting, missing values",
            "linear.skops": "scaler, ridge regression",
        },
    ),
    Program(
        module="tests.toolchain.jax_models",
        environment="jax",
        models={"nets:corners": "flax: a trained convolution", "nets:two": "two inputs, a dict of outputs"},
    ),
)


def rows(only: Collection[str]) -> Iterator[tuple[str, ...]]:
    """Importer, source, model, framework, converter, samples and largest error; of all programs, or `only` some."""
    for program in PROGRAMS:
        if only and program.module.rpartition(".")[2] not in only:
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            answers = answers_of(program.module, program.environment, folder)
            for source, model in program.models.items():
                answer = starting.answer_of(answers[source])
                yield (importer_of(source_in(source, folder)), f"`{source}`", model, *compared(folder, source, answer))
    if only and "old_models" not in only:
        return
    with tempfile.TemporaryDirectory() as name:
        from tests.cases.imported import old_model

        old_model(Path(name))
        request = ImportRequest(source="old.onnx", folder=Path(name), output=Path(name) / "made.onnx")
        made = steps.run(request, Store(Path(name) / "store"), Console(quiet=True))
        worst = max(each.max_abs_error for each in made.errors)
        words = (made.framework, made.converter, f"{len(made.sizes)} samples, all outputs", f"{worst:.1g}")
        yield ("onnx", "`old.onnx`", "convolution, IR 3, opset 7", *words)


def compared(folder: Path, source: str, answer: Answer) -> tuple[str, ...]:
    place = folder / "imported" / source
    request = ImportRequest(source=source, folder=folder, output=folder / "model.onnx")
    console = Console(quiet=True)
    proto = steps.read(place, answer)
    steps.freed_layout(proto, place, request, console)
    errors = steps.compare(proto, answer, place, request, console)
    worst = max(each.max_abs_error for each in errors)
    outputs = ", ".join(each.name for each in errors)
    return answer.framework, answer.converter, f"{len(answer.sizes)} samples: {outputs}", f"{worst:.1g}"


def table(only: Collection[str], text: str) -> str:
    """The table, with the rows of `text` for importers that did not run."""
    head = ("importer", "source", "model", "compared with", "written by", "on", "largest error")
    made = list(rows(only))
    known = [tuple(line.strip("| ").split(" | ")) for line in text.splitlines() if line.startswith("| ")][2:]
    kept = [row for row in known if row[0] not in {each[0] for each in made}] if only else []
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, ("---",) * len(head), *kept, *made))


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    only = [each for each in sys.argv[1:] if each != "--write"]
    made = table(only, text[text.index(BEGIN) : text.index(END)])
    if "--write" not in sys.argv:
        print(made)
        return
    before, after = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    PAGE.write_text(f"{before}\n\n{made}\n\n{after}", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
