"""C++ of tests: zig's compiler, and its libc++ for programs on this machine.

Zig compiles libc++ with the optimizer and for a debugger, one source after the other: most of a minute of a processor,
before the first program is linked. Here nearly all of its sources are one, which reads its headers once.
"""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from packager.core.errors import ToolError
from packager.engines.environments import zig
from packager.engines.environments.bionic import builder
from packager.files.processes import downloads
from packager.files.user_cache import cache_folder
from tests.toolchain.c_library import ON_ITS_OWN
from tests.toolchain.kept import kept

TARGET = "x86_64-linux-gnu.2.34"
FLAGS = ("-O0", "-g0", "-fno-sanitize=undefined", "-std=c++23", "-w", "-DNDEBUG", "-fPIC")
WITHOUT_CODE = ("-Xclang", "-ast-print", "-Xclang", "-ast-dump-filter=Nothing")
"""Options of a compiler that checks all and generates nothing: it writes a file without text, as builds want one."""
HIDDEN = ("-fvisibility=hidden", "-fvisibility-inlines-hidden")
LIBRARY = (
    "-D_LIBCPP_BUILDING_LIBRARY",
    "-DLIBCXX_BUILDING_LIBCXXABI",
    "-D_LIBCPP_HAS_NO_PRAGMA_SYSTEM_HEADER",
    "-DLIBC_NAMESPACE=__llvm_libc_common_utils",
)
ABI = ("-D_LIBCPP_BUILDING_LIBRARY", "-D_LIBCXXABI_BUILDING_LIBRARY", "-DHAVE___CXA_THREAD_ATEXIT_IMPL")
"""As zig defines them where it compiles the two libraries."""
ALONE = ("condition_variable_destructor", "error_category", "ios.instantiations", "memory", "mutex_destructor")
"""Sources that define a macro which the headers read, or classes otherwise than these."""
FOLDERS = ("", "filesystem", "ryu")
OF_THE_COMPILER = "int128_builtins"
"""A source of what the compiler's own library has."""
OF_COMPILER = Path(__file__).with_name("compiler_library.cpp")
OF_ABI = """
    abort_message cxa_aux_runtime cxa_default_handlers cxa_demangle cxa_exception cxa_exception_storage cxa_guard
    cxa_handlers cxa_personality cxa_thread_atexit cxa_vector cxa_virtual fallback_malloc private_typeinfo
    stdlib_exception stdlib_new_delete stdlib_stdexcept stdlib_typeinfo
""".split()


def compiler(arguments: Sequence[str | Path], *, what: str) -> None:
    """Runs the C++ compiler, which brings libc++ as phones have it. Raises ToolError with its words."""
    cache = cache_folder() / "zig"  # where it keeps what it has compiled for itself
    variables = {"ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache)}
    command = [str(zig.compiler()), "c++", *map(str, arguments)]
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ToolError(f"{what} failed:\n{done.stderr}")


def link(objects: Sequence[Path], options: Sequence[str | Path], product: Path, *, what: str) -> None:
    """Links a program or library for TARGET. Raises ToolError."""
    library = sorted(_libcxx().glob("*.o"))
    own = ("-nostdlib++", *ON_ITS_OWN)
    compiler(["-target", TARGET, *objects, *library, "-lunwind", *options, *own, "-o", product], what=what)


def build(sources: Sequence[Path], options: Sequence[str | Path], product: Path, *more: str, what: str) -> None:
    """Compiles a program or library for TARGET; `more` are options of the linker alone. Raises ToolError."""
    with tempfile.TemporaryDirectory() as folder:
        objects = [Path(folder, f"{source.stem}.o") for source in sources]
        for source, made in zip(sources, objects, strict=True):
            compiler(["-target", TARGET, "-fno-sanitize=undefined", *options, "-c", source, "-o", made], what=what)
        link(objects, more, product, what=what)


def _libcxx() -> Path:
    """The folder with libc++ and the library below it, as objects."""
    root = zig.compiler().parent / "lib"
    own, abi = root / "libcxx" / "src", root / "libcxxabi" / "src"

    def make(folder: Path) -> None:
        sources = sorted(
            path for name in FOLDERS for path in (own / name).glob("*.cpp") if path.stem != OF_THE_COMPILER
        )
        together = [path for path in sources if path.stem not in ALONE]
        whole, below = folder / "whole.cpp", folder / "below.cpp"
        whole.write_text(including(together), encoding="utf-8", newline="\n")
        below.write_text(including([abi / f"{name}.cpp" for name in OF_ABI]), encoding="utf-8", newline="\n")
        found = ["-I", own, "-I", root / "libcxxabi" / "include", "-I", root / "libcxx" / "libc"]
        for source in (whole, *(path for path in sources if path.stem in ALONE), below, OF_COMPILER):
            macros = ABI if source == below else LIBRARY
            command = ["-target", TARGET, *FLAGS, *HIDDEN, *macros, *found, "-c", source]
            compiler([*command, "-o", folder / f"{source.stem}.o"], what=f"compiling libc++'s {source.name}")

    return kept("libcxx", make, downloads.pin(builder.COMPILER).sha256, Path(__file__), OF_COMPILER)


def including(sources: Sequence[Path]) -> str:
    """The text of a source that is all of `sources`."""
    return "".join(f'#include "{path}"\n' for path in sources)
