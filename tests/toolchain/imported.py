"""A project with a model of every importer, each trained and saved by its framework."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import onnx

from packager.core.console import Console
from packager.files.store import Store
from packager.workflows.importing import ImportRequest, run, starting, steps
from tests.toolchain import command
from tests.toolchain.importing import answers_of

NAME = "@example/imported"


@dataclass(frozen=True, kw_only=True)
class Program:
    """A process of a framework, and what is used of its models: name in the project -> source."""

    module: str
    environment: str
    models: dict[str, str]


PROGRAMS = (
    Program(
        module="keras_models",
        environment="keras",
        models={"keras": "digits.keras", "saved": "digits", "lite": "digits.tflite"},
    ),
    Program(
        module="tabular_models",
        environment="tabular",
        models={
            "boosted": "classes.ubj",
            "sets": "sets.txt",
            "grown": "grown.cbm",
            "columns": "columns.joblib",
            "linear": "linear.skops",
        },
    ),
    Program(module="jax_models", environment="jax", models={"corners": "nets:corners"}),
    Program(module="huggingface_models", environment="huggingface", models={"bert": "bert"}),
)


def models(folder: Path) -> list[str]:
    """Writes `NAME.onnx` for every importer to `folder`: the names."""
    names = ["old"]
    for program in PROGRAMS:
        made = folder / program.module
        answers = answers_of(f"tests.toolchain.{program.module}", program.environment, made)
        for name, source in program.models.items():
            answer = starting.answer_of(answers[source])
            place = shutil.copytree(made / "imported" / source, folder / f"{name}-import")
            proto = steps.read(place, answer)
            request = ImportRequest(source=source, folder=made, output=folder / f"{name}.onnx")
            steps.freed_layout(proto, place, request, Console(quiet=True))
            onnx.save_model(proto, request.output)
            names.append(name)
    from tests.cases.imported import old_model

    (folder / "source").mkdir()
    old_model(folder / "source")
    request = ImportRequest(source="old.onnx", folder=folder / "source", output=folder / "old.onnx")
    run(request, Store(folder / "store"), Console(quiet=True))
    return names


def web_package(folder: Path) -> tuple[Path, list[str]]:
    """The npm package for the web that `mobpack build` makes of the project, and the names of its models."""
    names = models(folder)
    tables = "".join(f'[model.{name}]\npath = "{name}.onnx"\n' for name in names)
    text = f'[package]\nname = "imported"\n{tables}[target.web]\npackage = "{NAME}"\n'
    (folder / "mobpack.toml").write_text(text, encoding="utf-8", newline="\n")
    done = command.run("build", "--target", "web", folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    [archive] = (folder / "dist" / "npm").glob("*.tgz")
    return archive, names
