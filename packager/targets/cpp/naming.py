"""Names in C++ packages: of the namespace, files, members and parameters."""

import re
from collections.abc import Iterable

from packager.core.names import snake_case

KEYWORDS = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
    concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete
    do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
    requires return short signed sizeof static static_assert static_cast struct switch template this thread_local throw
    true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
    """.split()
)
"""ISO C++20, lex.key, and the alternative tokens"""
MACROS = frozenset("assert errno stdin stdout stderr linux unix near far min max small".split())
"""names that headers of systems define, or compilers"""
TAKEN_NAMESPACES = frozenset({"std", "onnxruntime", "detail"})
SHARED = ("chat", "golden", "inputs", "results", "session", "streams")
"""sources that all models share"""
HEADERS = ("runtime", "internal")
"""headers that they share"""
LOCAL = frozenset(
    """
    answered carried close count documents each fed found info inputs is_first load made metrics more options outputs
    part piece reset row run seed self_test session some state step text top
    """.split()
)
"""names that parameters cannot have, because the surrounding code uses them"""


def namespace(package: str) -> str:
    """`page-orientation` -> `page_orientation`; `std` -> `std_models`."""
    made = re.sub(r"[^a-z0-9]+", "_", package.lower()).strip("_")
    return f"{made}_models" if made in TAKEN_NAMESPACES | KEYWORDS | MACROS else made


def members(identifiers: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Identifier -> name of a member or a parameter, all of them different, none in `taken`, and no keyword."""
    used = {*taken}
    chosen = {}
    for identifier in identifiers:
        plain = snake_case(identifier)
        chosen[identifier] = _free(f"{plain}_value" if plain in used | KEYWORDS | MACROS else plain, used)
    return chosen


def files(models: Iterable[str], package: str) -> dict[str, str]:
    """Model name -> name of its header and its source: `Mobile-Net` -> `mobile_net`."""
    used = {package, *SHARED, *HEADERS}
    chosen = {}
    for model in models:
        plain = re.sub(r"[^a-z0-9]+", "_", model.lower()).strip("_")
        chosen[model] = _free(f"{plain}_model" if plain in used else plain, used)
    return chosen


def _free(plain: str, used: set[str]) -> str:
    name, number = plain, 2
    while name in used:
        name, number = f"{plain}_{number}", number + 1
    used.add(name)
    return name
