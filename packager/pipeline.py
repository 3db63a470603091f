"""One build, top to bottom: this file is the list of steps."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from packager import models, names, parity, release, tools
from packager.config import Config, ModelTable, ParityTable
from packager.console import Console, size
from packager.errors import ConfigError, ModelError
from packager.ortformat.compile import compile_variant
from packager.ortformat.converter import has_grown
from packager.ortformat.operators import operator_config
from packager.quantizers import QUANTIZERS
from packager.render import write_sources
from packager.store import Store
from packager.targets import Target
from packager.values import Compiled, Model, Package, Parity, Report, Variant


@dataclass(frozen=True, kw_only=True)
class Release:
    """What a build left in its output folder."""

    out: Path
    shipped: tuple[release.Shipped, ...]
    report: Report
    warnings: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the command line asks of a build beyond the Config."""

    targets: tuple[str, ...]
    out: Path
    emit_project: bool = False
    strict: bool = False


def build(config: Config, request: Request, console: Console) -> Release:
    """Builds every target of `request` into `request.out`, or changes nothing there and raises a MobpackError."""
    package = Package(
        name=config.package.name,
        version=config.package.version,
        license=config.package.license,
        description=config.package.description,
    )
    store = Store(tools.cache_folder() / "store")
    with release.staged(request.out) as staging:
        loaded = [load_model(name, table, console) for name, table in config.model.items()]
        compiled = compile_all(loaded, config, request.targets, store, console)
        report = check_all(list(compiled.values()), config, store, console)
        refuse_warnings(console, strict=request.strict)
        shipped: list[release.Shipped] = []
        for name in request.targets:
            target = config.targets()[name]
            with console.step(f"package for {name}"):
                mine = tuple(compiled[model.name, target.variant] for model in loaded)
                shipped += package_target(
                    target, package, mine, report, staging, store, emit_project=request.emit_project
                )
        text = release.manifest(
            package,
            list(compiled.values()),
            report,
            shipped,
            options=options_of(config, request.targets),
            runtimes=runtimes_of(config, request.targets),
            warnings=console.warnings,
        )
        (staging / release.MANIFEST).write_text(text, encoding="utf-8")
    return Release(out=request.out, shipped=tuple(shipped), report=report, warnings=tuple(console.warnings))


def load_model(name: str, table: ModelTable, console: Console) -> Model:
    with console.step(f"load {table.path.name}"):
        model = models.load(table.path, name, fixed=table.shapes, license_file=table.license)
        models.refuse_blocked(model)
        model = models.hashed(model)
    for note in model.notes:
        console.warn(f"model '{name}': {note}")
    return model


def compile_all(
    loaded: Sequence[Model], config: Config, targets: Sequence[str], store: Store, console: Console
) -> Mapping[tuple[str, str], Compiled]:
    """(model, variant) -> its compiled file, for every variant that a target ships."""
    variants = dict.fromkeys(config.targets()[name].variant for name in targets)
    compiled = {}
    for model in loaded:
        for name in variants:
            quantizer = config.quantizer_of(name)
            with console.step(f"convert {model.name} ({name})"):
                variant = Variant(
                    model=model, name=name, quantizer=quantizer, graph=QUANTIZERS[quantizer]().quantize(model.graph)
                )
                compiled[model.name, name] = compile_variant(variant, store)
            _note_size(compiled[model.name, name], console)
    return compiled


def _note_size(compiled: Compiled, console: Console) -> None:
    """Says when the ORT file is larger than its source although folding was left out."""
    source = compiled.variant.model.size_bytes
    if has_grown(source, compiled.size_bytes):
        console.warn(
            f"model '{compiled.variant.model.name}': its ORT file has {size(compiled.size_bytes)}, "
            f"the source {size(source)}"
        )


def check_all(compiled: Sequence[Compiled], config: Config, store: Store, console: Console) -> Report:
    """Compares every compiled file with its original; raises ParityError when one is over tolerance."""
    parities: list[Parity] = []
    for each in compiled:
        settings = parity_settings(config.parity, each.variant.model)
        with console.step(f"compare {each.variant.model.name} ({each.variant.name}) with the original"):
            parities += _checked(each, settings, store)
    for one in parities:
        if one.skipped:
            console.warn(f"runner '{one.runner}' skipped: {one.skipped}")
        for output in one.reshaped_outputs:
            console.warn(
                f"model '{one.model}': output '{output}' has another shape than it declares; "
                "the package treats it as dynamic"
            )
        for output in one.unstable_outputs:
            console.warn(f"model '{one.model}': output '{output}' is random and was not compared")
    return Report(parities=tuple(parities))


def parity_settings(table: ParityTable, model: Model) -> parity.ParitySettings:
    return parity.ParitySettings(
        runners=table.runners,
        require=table.require,
        samples=table.samples,
        random_samples=table.random_samples,
        seed=table.seed,
        tolerance=table.tolerance or parity.default_tolerance(model),
    )


def _checked(compiled: Compiled, settings: parity.ParitySettings, store: Store) -> tuple[Parity, ...]:
    """The parity of `compiled`, from the store when the same files were compared before."""
    from pydantic import TypeAdapter

    parities = TypeAdapter(tuple[Parity, ...])
    samples = [[path.name, tools.sha256_of(path)] for path in parity.sample_files(settings.samples)]
    inputs = [
        compiled.variant.model.sha256,
        compiled.variant.model.name,
        compiled.variant.name,
        compiled.sha256,
        version("onnxruntime"),
        version("numpy"),
        {**asdict(settings), "samples": samples},
    ]

    def make(folder: Path) -> None:
        with store.scratch() as scratch:
            results = parity.check(compiled, settings, scratch)
        (folder / "parity.json").write_bytes(parities.dump_json(results))

    return parities.validate_json((store.results("parity", inputs, make) / "parity.json").read_bytes())


def refuse_warnings(console: Console, *, strict: bool) -> None:
    if strict and console.warnings:
        raise ModelError(
            f"--strict: {len(console.warnings)} warning(s), the first: {console.warnings[0]}",
            hint="mend what the warnings say, or build without --strict",
        )


def package_target(
    target: Target,
    package: Package,
    compiled: tuple[Compiled, ...],
    report: Report,
    staging: Path,
    store: Store,
    *,
    emit_project: bool,
) -> list[release.Shipped]:
    """Renders, assembles and lays out one target below `staging`."""
    view = target.view(package, compiled, report)
    sources = target.render(view)
    artifacts = target.assemble(view, sources, store)
    shipped = release.layout(target, view, artifacts, staging)
    config = staging / target.NAME / f"{package.name}-{package.version}.required_operators_and_types.config"
    config.write_text(operator_config([each.operators for each in compiled]), encoding="utf-8")
    shipped.append(release.described(config, staging, target=target.NAME, kind="operator-config"))
    if emit_project:
        write_sources(target.project(view, sources), staging / target.NAME / "project")
    return shipped


def options_of(config: Config, targets: Sequence[str]) -> dict[str, object]:
    """The configuration a release was built with, without the paths of the machine it was built on."""
    return {
        "shapes": {
            name: {key: value if isinstance(value, int) else list(value) for key, value in table.shapes.items()}
            for name, table in config.model.items()
        },
        "parity": {
            "runners": list(config.parity.runners),
            "require": list(config.parity.require),
            "random-samples": config.parity.random_samples,
            "seed": config.parity.seed,
            "tolerance": config.parity.tolerance,
        },
        "target": {
            name: {names.kebab_case(key): value for key, value in asdict(config.targets()[name]).items()}
            for name in targets
        },
    }


def runtimes_of(config: Config, targets: Sequence[str]) -> dict[str, str]:
    return {name: config.targets()[name].runtime() for name in targets}


def requested_targets(config: Config, asked: Sequence[str]) -> tuple[str, ...]:
    """The targets of the command line, else those of the file. Raises ConfigError when there are none."""
    chosen = tuple(dict.fromkeys(asked)) or tuple(config.targets())
    if not chosen:
        raise ConfigError(
            "no target to build", hint="add --target android, or a [target.android] table to mobpack.toml"
        )
    return chosen
