"""Imports point down, never up, never sideways between plug-ins, never in a circle."""

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from packager.files.store import closure
from tests.cases.readings import nodes_of

ROOT = Path(__file__).parents[2]

LAYERS = (
    ("__main__",),
    ("cli",),
    ("workflows",),
    ("measuring", "reporting"),
    ("quantization",),
    ("verification",),
    ("distribution", "runtimes"),
    ("compile", "config"),
    ("contract", "importers", "samples", "targets"),
    ("description", "models"),
    ("engines", "quantizers", "render", "signing", "vectors"),
    ("files", "graph", "providers"),
    ("__init__", "core"),
)
"""From top to bottom. A module imports modules below its line and from its own folder, never its neighbours."""

MOST_LINES, MOST_PARAMETERS = 60, 12
"""of a function"""

MOST_ARROWS = 160
"""between folders: how many others a reader of one must know"""

PLUGIN_FAMILIES = {
    "providers": ("provider",),
    "importers": ("importer", "sklearn_features", "sklearn_onnx", "tensorflow_graphs", "tflite_rewriting", "trees"),
    "quantizers": ("quantizer",),
    "engines.runners": ("runner", "process", "engines", "elsewhere"),
    "contract": (
        "attachment",
        "preparation",
        "telling",
        "drawing",
        "results",
        "kind",
        "labels",
        "scores",
        "pictures",
        "resizing",
        "texts",
        "tokenization",
    ),
    "distribution.publishing": (
        "addresses",
        "cms",
        "credentials",
        "folders",
        "gpg",
        "http",
        "maven_files",
        "multipart",
        "registry",
        "release",
        "sending",
        "signed_manifests",
        "swift_archives",
    ),
    "targets": (
        "target",
        "apk",
        "delivery",
        "desktop",
        "dimensions",
        "ends",
        "golden",
        "included_runtime",
        "kotlin",
        "layouts",
        "maven",
        "partials",
        "pipelines",
        "privacy",
        "signed_list",
        "swift_runtime",
        "tuning",
        "typescript",
        "xcframework",
    ),
}
"""Folder -> the file with its plug-ins' protocol and shared parts."""

RELATIVE = re.compile(r"^ *from \.", re.MULTILINE)

DEPTH = {name: depth for depth, names in enumerate(LAYERS) for name in names}


@cache
def imports() -> dict[str, set[str]]:
    """Module -> the modules of packager it imports, at its top or inside functions; names without `packager.`."""
    return {name_of(path): imported_by(path) for path in sorted((ROOT / "packager").rglob("*.py"))}


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT / "packager").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def imported_by(path: Path) -> set[str]:
    """As the keys of stored results find them, which is what the parser finds (`test_store_keys.py`)."""
    text = path.read_text(encoding="utf-8")
    assert not RELATIVE.search(text), path
    return {full_name(name) for name in closure.references(text).modules}


def full_name(dotted: str) -> str:
    """The module in `packager.a.b.name`, where `name` may be a module or something in one."""
    parts = dotted.split(".")[1:]
    while parts and not is_module(parts):
        parts.pop()
    return ".".join(parts) or "__init__"


def is_module(parts: list[str]) -> bool:
    path = ROOT.joinpath("packager", *parts)
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def top(module: str) -> str:
    return module.split(".")[0]


def test_every_module_has_a_layer_and_imports_in_no_circle() -> None:
    assert sorted({top(module) for module in imports()} - set(DEPTH)) == []
    assert {"models", "compile.compile"} <= imports()["cli.convert"]
    found = {(top(module), top(imported)) for module, targets in imports().items() for imported in targets}
    arrows = {(one, other) for one, other in found if one != other and not {one, other} & {"__init__", "__main__"}}
    assert len(arrows) <= MOST_ARROWS, len(arrows)
    # A folder's __init__.py gathers what is below it; what is below imports its neighbours by their own names.
    TopologicalSorter({module: targets - {module} for module, targets in imports().items()}).prepare()


def test_imports_point_down() -> None:
    wrong = [
        f"{module} imports {imported}"
        for module, targets in imports().items()
        for imported in sorted(targets)
        if top(module) != top(imported) and DEPTH[top(imported)] <= DEPTH[top(module)]
    ]
    assert wrong == []


def test_the_parts_of_a_folder_do_not_import_each_other_in_a_circle() -> None:
    arrows: dict[str, set[str]] = {}
    for module, targets in imports().items():
        for imported in targets:
            if top(module) == top(imported) and part(module) != part(imported):
                arrows.setdefault(part(module), set()).add(part(imported))
    assert {name: found for name in arrows if name in (found := reached(name, arrows))} == {}


def part(module: str) -> str:
    """`verification.parity.check` -> `verification.parity`; a folder's own file is the folder."""
    return ".".join(module.split(".")[:2])


def reached(name: str, arrows: dict[str, set[str]]) -> set[str]:
    """Modules that `name` imports, directly or not; the folder itself is not followed: it only gathers its parts."""
    found: set[str] = set()
    waiting = list(arrows[name])
    while waiting:
        each = waiting.pop()
        if each not in found and "." in each:
            found.add(each)
            waiting.extend(arrows.get(each, ()))
    return found


def test_plugins_never_import_each_other() -> None:
    for family in PLUGIN_FAMILIES:
        wrong = [
            f"{module} imports {imported}"
            for module, targets in imports().items()
            if module.startswith(f"{family}.")
            for imported in sorted(targets)
            if imported.startswith(f"{family}.")
            and plugin(family, imported) not in (plugin(family, module), *PLUGIN_FAMILIES[family])
        ]
        assert wrong == []


def plugin(family: str, module: str) -> str:
    """`targets.android.view` -> `android`."""
    return module.removeprefix(f"{family}.").split(".")[0]


def test_only_the_family_itself_names_its_plugins() -> None:
    for family in PLUGIN_FAMILIES:
        wrong = [
            f"{module} imports {imported}"
            for module, targets in imports().items()
            if module != family and not module.startswith(f"{family}.")
            for imported in sorted(targets)
            if imported.startswith(f"{family}.") and plugin(family, imported) not in PLUGIN_FAMILIES[family]
        ]
        assert wrong == []


def test_functions_are_short_and_take_few_parameters() -> None:
    """Commands get their options as one dataclass."""
    sizes = {
        f"{path.relative_to(ROOT)}: {node.name}": ((node.end_lineno or 0) - node.lineno + 1, count(node.args))
        for path in sorted((ROOT / "packager").rglob("*.py"))
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    wrong = {name: found for name, found in sizes.items() if found[0] > MOST_LINES or found[1] > MOST_PARAMETERS}
    assert wrong == {}


def count(parameters: ast.arguments) -> int:
    return len([*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs])


def test_the_documentation_lists_the_rooms_from_top_to_bottom() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = [name for names in LAYERS for name in names if not name.startswith("__")]
    assert re.findall(r"^\| `(\w+)(?:\.py)?` \|", page, re.MULTILINE) == rooms


def test_what_other_interpreters_run_imports_nothing_of_mobpack() -> None:
    for program in (
        "compile.session",
        "compile.context_child",
        "quantization.measurement.timing",
        "engines.environments.cuda_probe",
        "engines.session.session_child",
        "engines.session.timing",
        "engines.runners.tensorrt_child",
        "engines.environments.android_probe",
        "distribution.release.ort_package_check",
    ):
        assert imports()[program] == set(), program


def test_files_of_the_typescript_runtime_import_each_other_in_no_circle() -> None:
    """Types included."""
    folder = Path(__file__).parents[2] / "templates" / "typescript" / "src" / "runtime"
    imported = re.compile(r"from '(\.[^']+)\.js'")
    names = {
        path.with_suffix("").with_suffix(".ts").resolve(): {
            (path.parent / f"{name}.ts").resolve() for name in imported.findall(path.read_text("utf-8"))
        }
        for path in (*folder.rglob("*.ts"), *folder.rglob("*.ts.j2"))
    }
    assert all(name in names for others in names.values() for name in others)
    assert sum(map(len, names.values())) > len(names)
    TopologicalSorter(names).prepare()  # raises CycleError
