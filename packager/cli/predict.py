"""`mobpack predict`: runs a model of a project on pictures, recordings and texts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from packager.cli.options import cache_option, config_option, json_option, no_code_option, print_json, set_option
from packager.cli.project_options import ProjectOptions

if TYPE_CHECKING:
    from packager.workflows.predict import Item, Predicted

SHOWN = 8
"""numbers of a tensor shown; `--json` prints all of them"""


@click.command(short_help="Run a model on pictures, recordings, texts or arrays.")
@click.argument("given", nargs=-1, required=True, metavar="FILE|TEXT...")
@click.option("--model", "name", default="", metavar="NAME", help="Model to run; optional if the project has only one.")
@click.option("--pipeline", default="", metavar="NAME", help="Pipeline to run on pictures, instead of one model.")
@click.option("--top", type=click.IntRange(min=1), help="Number of classes to show, instead of the contract's top-k.")
@click.option("--seed", type=int, default=0, help="Seed of a model that chooses at random what a text goes on with.")
@config_option
@set_option
@cache_option
@no_code_option
@json_option
def predict(
    given: tuple[str, ...],
    name: str,
    pipeline: str,
    top: int | None,
    seed: int,
    config_path: Path,
    settings: tuple[str, ...],
    cache_url: str | None,
    no_code: bool,
    as_json: bool,
) -> None:
    """Run a model of mobpack.toml on pictures (.png .jpg .webp .bmp), recordings (.wav), arrays (.npz), or, if it takes
    texts, on texts: `mobpack predict "some text"`, two of them for a model that takes two. A model with `batch = true`
    takes all of them in one run. A model that generates a text takes its prompt, or, if it has a chat template, a
    conversation (.json: [{"role": "user", "content": "Hi"}]), and the text appears as it is made; several prompts, or
    files, make several texts. A picture or a sound that a model makes, or the picture with masks of what it finds, is
    written into the current folder: `photo.y.png` for the output `y` and the file `photo.jpg`, `text-1.y.wav` for the
    first text. A model with streams answers for each hop of a .wav file, named by its frames.

    With --pipeline, the models of a pipeline run one after the other: the first on the picture, the others on the part
    in each box that it finds.

    The graph includes the pre- and postprocessing of the contract, exactly as it ships: apps get the same results.
    """
    from packager.core.console import Console
    from packager.core.errors import ConfigError
    from packager.workflows.predict import predict as answers_for
    from packager.workflows.predict import predict_pipeline

    console = Console(quiet=as_json)
    project = ProjectOptions(config_path=config_path, settings=settings, cache_url=cache_url, no_code=no_code)
    if pipeline:
        if name or top or seed:
            raise ConfigError("--pipeline cannot be combined with --model, --top and --seed", hint="leave those out")
        found = predict_pipeline(project.config(), pipeline, given, console)
    else:
        found = answers_for(project.config(), name, given, console, top=top, seed=seed)
    if as_json:
        entries = [{**_named(each), **_answers(each)} for each in found]
        print_json({"schema-version": 1, "predictions": entries})
        return
    for each in found:
        show(each, console)


def _answers(found: "Predicted") -> dict[str, Any]:
    if found.items is not None:
        return {"items": [{name: _single(each) for name, each in item.answers.items()} for item in found.items]}
    return {"answers": _plain(found.answers)} if found.parts is None else {"generated": "".join(found.parts)}


def _single(answers: "Mapping[str, Any] | None") -> Any:
    """The only answer without its name, or several by name."""
    found = {name: _plain(each) for name, each in (answers or {}).items()}
    return next(iter(found.values()), None) if len(found) < 2 else found


def show(found: "Predicted", console: Any) -> None:
    where = "" if found.frames is None else f" {found.frames[0]}-{found.frames[1]}"
    console.result(f"{found.file}{where}" if found.file else " / ".join(map(repr, found.texts)))
    for part in found.parts or ():
        click.echo(part, nl=False)
    if found.parts is not None:
        click.echo()
    if found.items is not None:
        show_items(found.items, console)
    for name, value in found.answers.items():
        for line in lines(value):
            console.result(f"  {line}" if len(found.answers) == 1 else f"  {name}: {line}")


def show_items(items: "Sequence[Item]", console: Any) -> None:
    """A block of lines for each item, or `nothing`."""
    if not items:
        console.result("  nothing")
    for number, item in enumerate(items, 1):
        for stage, answers in item.answers.items():
            shown = [line for each in (answers or {}).values() for line in lines(each)] or ["below min-score"]
            for line in shown:
                console.result(f"  {number:>3}  {stage}: {line}")


def _named(found: "Predicted") -> dict[str, Any]:
    frames = {} if found.frames is None else {"start": found.frames[0], "end": found.frames[1]}
    return {"file": str(found.file), **frames} if found.file else {"texts": list(found.texts)}


def lines(value: Any) -> Iterator[str]:
    """Lines that describe an answer, best result first."""
    from packager.contract.results import (
        Classification,
        Detection,
        Entity,
        InstancesFile,
        Keypoint,
        MaskResult,
        NamedValues,
        PictureFile,
        Reading,
        SoundFile,
    )

    match value:
        case MaskResult():
            yield f"{value.width} x {value.height}"
            yield from (f"{each.share:7.1%}  {each.label or each.index}" for each in value.shares)
        case PictureFile():
            yield f"{value.width} x {value.height}  {value.file}"
        case InstancesFile():
            yield from (f"{_line(each)}  {each.mask.pixels} pixels" for each in value.instances)
            yield from lines(value.picture)
        case SoundFile():
            channels = f", {value.channels} channels" if value.channels > 1 else ""
            yield f"{value.seconds:.3f} s at {value.rate} Hz{channels}  {value.file}"
        case NamedValues():
            for name, numbers in value.series.items():
                yield f"{name}  {_numbers(numbers)}  {value.units[name]}".rstrip()
        case Reading():
            yield f"{value.score:.3f}  {value.text!r}"
        case (Classification() | Detection() | Entity() | Keypoint(), *_):
            yield from map(_line, value)
        case Detection():
            yield _line(value)
        case float():
            yield f"{value:.3f}"
        case ():
            yield "nothing"
        case _:
            yield _numbers(value)


def _line(found: Any) -> str:
    """One line for a class, a box, a point, or a part of a text."""
    if hasattr(found, "text"):
        return f"{found.score:.3f}  {found.label}  {found.text!r}  {found.start}-{found.end}"
    if hasattr(found, "x"):
        return f"{found.score:.3f}  {found.label}  {found.x:.1f} {found.y:.1f}"
    named = f"{found.score:.3f}  {found.label or found.index}"
    box = getattr(found, "box", None)
    return named if box is None else f"{named}  {box.left:.1f} {box.top:.1f} {box.right:.1f} {box.bottom:.1f}"


def _numbers(value: Any) -> str:
    import numpy

    array = numpy.array(value)
    some = " ".join(f"{number:g}" for number in array.reshape(-1)[:SHOWN])
    return f"[{' x '.join(map(str, array.shape))}]  {some}{' ...' if array.size > SHOWN else ''}"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
