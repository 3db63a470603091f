"""Compiles a package's Kotlin in units that the store keeps, so that a change compiles what depends on it.

The files that all models share are one unit, and each model's file is one: it uses the shared files and no other model.
Units that are missing are compiled in one run of the compiler. The classes are the same as if all had been.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath

from packager.files.store import Step, Store
from packager.targets.kotlin import kotlin

CLASSES = Step(
    name="kotlin",
    caller=__name__,
    computed_by=("packager.targets.kotlin.kotlin",),
    templates=("android/stubs",),
)
LIBRARIES = Step(name="kotlin-libraries", caller=__name__, computed_by=("packager.targets.kotlin.kotlin",))
SHARED = PurePosixPath()
"""Name of the unit of the files that all models share; those of the others are their paths."""
MODULE_FILE = ".kotlin_module"
"""Suffix of the list of files with top-level declarations, which only shared files have."""


@dataclass(frozen=True, kw_only=True)
class Module:
    """The Kotlin of a package."""

    name: str
    """name of the Kotlin module"""
    onnxruntime: str
    """Java package of ONNX Runtime's classes"""
    texts: Mapping[PurePosixPath, str]
    """by path below the source root"""
    models: Sequence[PurePosixPath]
    """files with a model each: classes only"""
    resources: Mapping[PurePosixPath, bytes] = field(default_factory=dict)
    """files that lie beside the classes, by path in the jar"""

    def units(self) -> tuple[PurePosixPath, ...]:
        return (SHARED, *self.models)

    def sources(self, unit: PurePosixPath) -> dict[str, str]:
        if unit != SHARED:
            return {str(unit): self.texts[unit]}
        return {str(path): text for path, text in self.texts.items() if path not in self.models}

    def inputs(self, unit: PurePosixPath) -> object:
        """Everything that the classes of `unit` depend on."""
        used = self.sources(SHARED) if unit != SHARED else {}
        return [kotlin.compiler_version(), self.name, self.onnxruntime, self.sources(unit), used]

    def unit_of(self, file: PurePosixPath) -> PurePosixPath:
        """`a/Scene$Input.class` -> `a/Scene.kt`, if that is a model's file"""
        source = file.with_name(f"{file.name.partition('.')[0].partition('$')[0]}.kt")
        return source if source in self.models else SHARED


def write_classes(path: Path, module: Module, store: Store) -> Path:
    """Writes the classes of `module` to the jar `path` and returns it. Raises ToolError like `compile_kotlin`."""
    if store.find(CLASSES, module.inputs(SHARED)):
        return _write_classes(path, module, store)
    with store.claimed(CLASSES, ["shared", module.inputs(SHARED)]):
        return _write_classes(path, module, store)


def _write_classes(path: Path, module: Module, store: Store) -> Path:
    stored = {unit: store.find(CLASSES, module.inputs(unit)) for unit in module.units()}
    missing = [unit for unit, folder in stored.items() if not folder]
    folders = [folder for folder in stored.values() if folder]
    with store.scratch() as work:
        made = _compile(module, missing, stored[SHARED], work, store) if missing else {}
        for unit in missing:
            folders.append(store.results(CLASSES, module.inputs(unit), partial(_copy, made[unit], work / "classes")))
    return kotlin.write_jar(path, folders, module.resources)


def _compile(
    module: Module, units: Sequence[PurePosixPath], shared: Path | None, work: Path, store: Store
) -> Mapping[PurePosixPath, Sequence[PurePosixPath]]:
    """Compiles `units` to `work`/classes; returns the files of each. `shared` has the shared classes, unless they are
    among the units."""
    sources = {name: text for unit in units for name, text in module.sources(unit).items()}
    classes = kotlin.compile_kotlin(
        sources,
        module_name=module.name,
        work=work,
        onnxruntime=module.onnxruntime,
        libraries=[_coroutines(store)],
        friends=shared,
    )
    made: dict[PurePosixPath, list[PurePosixPath]] = {unit: [] for unit in units}
    for file in kotlin.files(classes):
        name = PurePosixPath(file.relative_to(classes).as_posix())
        unit = module.unit_of(name)
        if unit in made:
            made[unit].append(name)
        elif name.suffix != MODULE_FILE:
            raise RuntimeError(f"{name} is of no file that was compiled: {', '.join(sources)}")
    return made


def _coroutines(store: Store) -> Path:
    def make(folder: Path) -> None:
        kotlin.write_coroutines(folder / "coroutines.jar")

    return store.results(LIBRARIES, kotlin.compiler_version(), make) / "coroutines.jar"


def _copy(names: Sequence[PurePosixPath], source: Path, destination: Path) -> None:
    for name in names:
        (destination / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, destination / name)
