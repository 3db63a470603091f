"""Mistakes in Swift and C for iOS do not compile here: what compiles for iPhones in these tests has none of them."""

from pathlib import Path

import pytest

from tests.toolchain import apple

RACE = "a data race"

OVERFLOWS = ("a sum that overflows", "a number that overflows")
"""Found by what functions of Swift's own module compute, which the compiler looks into."""

MISTAKES = {
    "what came with iOS 17": (
        "import CoreML\npublic func count() -> Int { MLModel.availableComputeDevices.count }",
        "only available in iOS 17.0 or newer",
    ),
    "what Swift got with iOS 16": ("public func later(_ clock: ContinuousClock) {}", "only available in iOS 16.0"),
    "a misspelt function": (
        "import CoreVideo\npublic func width(_ buffer: CVPixelBuffer) -> Int { CVPixelBufferGetWitdh(buffer) }",
        "cannot find 'CVPixelBufferGetWitdh' in scope",
    ),
    RACE: (
        "final class Counter { var value = 0 }\nactor Box { func keep(_ counter: Counter) {} }\n"
        "func race(_ box: Box) async { let counter = Counter(); await box.keep(counter); counter.value += 1 }",
        "sending 'counter' risks causing data races",
    ),
    OVERFLOWS[0]: ("public func next() -> Int8 { let last: Int8 = 127; return last + 1 }", "results in an overflow"),
    OVERFLOWS[1]: ("public func byte() -> UInt8 { 300 }", "'300' overflows when stored into 'UInt8'"),
    "mutable state that is shared": (
        "public final class Shared: Sendable { var value = 0 }",
        "'Sendable'-conforming class 'Shared' is mutable",
    ),
    "a lock held across threads": (
        "import Foundation\npublic func hold(_ lock: NSLock) async { lock.lock() }",
        "unavailable from asynchronous contexts",
    ),
    "a warning": ("public func f() { let unused = 1 }", "error: initialization of immutable value 'unused'"),
}


def source(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("is_checked_alone", [False, True])
def test_mistakes_do_not_compile_for_ios(tmp_path: Path, is_checked_alone: bool) -> None:
    """All at once, but for data races and numbers: the compiler looks for these where it has found no other mistake."""
    last = {mistake: found for mistake, found in MISTAKES.items() if mistake in (RACE, *OVERFLOWS)}
    others = {mistake: found for mistake, found in MISTAKES.items() if mistake not in last}
    for number, group in enumerate((last, others)):
        folder = tmp_path / str(number)
        folder.mkdir()
        files = {words: source(folder / f"Bad{at}.swift", text) for at, (text, words) in enumerate(group.values())}

        compiled = apple.compile_swift("Bad", [*files.values()], folder, is_checked_alone=is_checked_alone)

        assert compiled.returncode != 0
        assert compiled.objects == ()
        errors = [line for line in compiled.output.splitlines() if ": error: " in line]
        for words, file in files.items():
            said = words.removeprefix("error: ")
            assert any(f"/{file.name}:" in line and said in line for line in errors), (words, compiled.output)


def test_what_is_asked_for_before_use_compiles_for_ios(tmp_path: Path) -> None:
    text = MISTAKES["what came with iOS 17"][0].replace(
        "{ ML", "{ guard #available(iOS 17, *) else { return 0 }; return ML"
    )
    compiled = apple.compile_swift("Good", [source(tmp_path / "Good.swift", text)], tmp_path)
    assert (compiled.returncode, compiled.output) == (0, "")


def test_a_warning_in_c_does_not_compile_for_ios(tmp_path: Path) -> None:
    code = source(tmp_path / "twice.c", "int twice(int value) { int unused; return 2 * value; }\n")
    compiled = apple.compile_c([code], tmp_path)
    assert compiled.objects == ()
    assert "unused variable" in compiled.output
