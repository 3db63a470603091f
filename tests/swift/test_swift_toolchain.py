"""Swift packages build and pass tests on Linux, and their sources compile for iOS; mistakes in them are found."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.targets.xcframework import macho
from tests.toolchain import apple
from tests.toolchain.debian_root import Locked, Suite
from tests.toolchain.require import require
from tests.toolchain.swift import Finished, swift

MANIFEST = """\
// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "Hello",
    targets: [
        .target(name: "CHello", linkerSettings: [.linkedLibrary("onnxruntime", .when(platforms: [.linux]))]),
        .target(name: "Hello", dependencies: ["CHello"]),
        .testTarget(name: "HelloTests", dependencies: ["Hello"]),
    ]
)
"""

HEADER = """\
#pragma once
struct Base {
    const void *(*GetApi)(unsigned version);
    const char *(*GetVersionString)(void);
};
const struct Base *OrtGetApiBase(void);
int twice(int value);
"""

SWIFT = """\
import CHello

public func four() -> Int32 { twice(2) }
public func version() -> String { String(cString: OrtGetApiBase().pointee.GetVersionString!()!) }
"""

TESTS = """\
import XCTest
import Hello

final class HelloTests: XCTestCase {
    func testFour() { XCTAssertEqual(four(), 4) }
    func testVersion() { XCTAssertTrue(version().hasPrefix("1."), version()) }
}
"""

SESSION = """\
import CHello
import CryptoKit
import CoreVideo
import Foundation

#if !os(iOS)
#error("not for iOS")
#endif

public final class Session: Sendable {
    private let lock = NSLock()

    public init() {}
    public func four() -> Int32 { lock.withLock { twice(2) } }
    public func width(_ buffer: CVPixelBuffer) -> Int { CVPixelBufferGetWidth(buffer) }
    public func model() -> URL? { Bundle.module.url(forResource: "model", withExtension: "ort") }
    public func digest(_ data: Data) -> String { SHA256.hash(data: data).map { String(format: "%02x", $0) }.joined() }
}
"""

GONE = """\
#!/bin/sh
echo "E: Version '6.0.3-2' for 'swiftlang' was not found" >&2
exit 100
"""

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


def package(folder: Path, *, swift: str = SWIFT, tests: str = TESTS) -> Path:
    files = {
        "Package.swift": MANIFEST,
        "Sources/CHello/include/chello.h": HEADER,
        "Sources/CHello/chello.c": '#include "chello.h"\nint twice(int value) { return 2 * value; }\n',
        "Sources/Hello/Hello.swift": swift,
        "Tests/HelloTests/HelloTests.swift": tests,
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:  # an older file is not compiled again
            path.write_text(text, encoding="utf-8")
    return folder


def c_module(folder: Path) -> Path:
    folder.mkdir()
    (folder / "chello.h").write_text(HEADER, encoding="utf-8")
    (folder / "module.modulemap").write_text('module CHello { header "chello.h" export * }\n', encoding="utf-8")
    return folder


def test_a_version_that_the_mirror_has_no_more_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require(Path("/etc/debian_version").is_file(), "the machine has no mirror of Debian")
    source(tmp_path / "apt-get", GONE).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ToolError, match=r"no longer has 6\.0\.3-2, swiftlang") as caught:
        Suite("trixie").download([Locked("swiftlang", "6.0.3-2", "0" * 64)], tmp_path, refresh="lock them anew")
    assert "lock them anew" in caught.value.hint


@pytest.fixture(scope="module")
def hello(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Finished]:
    """`swift build` or `swift test` of a package with other files: what stays the same is compiled once."""
    folder = tmp_path_factory.mktemp("hello")

    def run(action: str, **texts: str) -> Finished:
        options = ["--build-tests"] if action == "build" else []  # or the same would be compiled in another way
        done = swift().package(action, package(folder / "hello", **texts), *options, scratch=folder / "build")
        assert sorted(path.name for path in (folder / "hello").iterdir()) == ["Package.swift", "Sources", "Tests"]
        return done

    return run


def test_a_package_builds_and_its_tests_run_with_onnxruntime(hello: Callable[..., Finished]) -> None:
    done = hello("test")
    assert done.returncode == 0, done.output
    assert "Executed 2 tests, with 0 failures" in done.output


def test_a_test_that_fails_fails(hello: Callable[..., Finished]) -> None:
    done = hello("test", tests=TESTS.replace("four(), 4", "four(), 5"))
    assert done.returncode != 0
    assert 'XCTAssertEqual failed: ("4") is not equal to ("5")' in done.output


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("func f() { let unused = 1 }", "error: initialization of immutable value 'unused'"),
        ("func f() -> Int { four() }", "error: cannot convert return expression of type 'Int32'"),
    ],
    ids=["warning", "error"],
)
def test_a_warning_or_error_ends_the_build(hello: Callable[..., Finished], line: str, complaint: str) -> None:
    done = hello("build", swift=f"{SWIFT}{line}\n")
    assert done.returncode != 0
    assert complaint in done.output


def test_programs_of_the_machine_are_within_reach(tmp_path: Path) -> None:
    command = ["chroot", "/host", sys.executable, "-c", "import sys; print(sys.executable)"]
    assert swift().run(command, cwd=tmp_path).output.strip() == sys.executable


def test_a_run_leaves_nothing_behind(tmp_path: Path) -> None:
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8")
    for timeout_s in (2, 10, 60):
        script = f"touch /usr/changed; echo own > /own; (sleep {timeout_s + 2}; touch late) & sleep 600"
        done = swift().run(["sh", "-c", script], cwd=tmp_path, timeout_s=timeout_s)
        assert done.returncode != 0
        assert f"ended after {timeout_s} s" in done.output
        if "Read-only" in done.output:  # on a busy machine it takes a while to start
            break
    assert "Read-only file system" in done.output
    assert "own" not in swift().run(["sh", "-c", "sleep 3; ls /"], cwd=tmp_path).output.split()
    assert list(tmp_path.iterdir()) == []
    assert Path("/proc/self/mounts").read_text(encoding="utf-8") == mounts


def test_devices_cannot_be_removed(tmp_path: Path) -> None:
    done = swift().run(["sh", "-c", "echo gone > /dev/null; rm -f /dev/null"], cwd=tmp_path)
    assert done.returncode != 0
    assert "busy" in done.output
    assert Path("/dev/null").is_char_device()


def test_a_file_that_is_mounted_twice_stays_as_it_is(tmp_path: Path) -> None:
    file = source(tmp_path / "file", "content")
    assert swift().run(["cat", file], cwd=tmp_path, mounts={str(file): file}).output == "content"
    assert file.read_text(encoding="utf-8") == "content"


PHONE = macho.Build("ios", "", "15.0")


def test_sources_compile_for_ios(tmp_path: Path) -> None:
    module = c_module(tmp_path / "c")
    code = source(tmp_path / "twice.c", '#include "chello.h"\nint twice(int value) { return 2 * value; }\n')
    session = source(tmp_path / "Session.swift", SESSION)
    compiled = apple.compile_swift("Hello", [session], tmp_path, c_modules={"CHello": module})
    assert (compiled.returncode, compiled.output) == (0, "")
    [file] = compiled.objects
    [hello] = macho.read(file)
    assert hello.builds == {PHONE}
    assert "_twice" in hello.undefined
    [c_file] = apple.compile_c([code], tmp_path, includes=[module]).objects
    [c] = macho.read(c_file)
    assert c.builds == {PHONE}
    assert c.exports == {"_twice"}
    archive = tmp_path / "libhello.a"
    assert swift().run(["llvm-ar", "rcs", archive, c_file, file], cwd=tmp_path).returncode == 0
    [library] = macho.read(archive)
    assert library.exports == c.exports | hello.exports
    assert "_twice" not in library.undefined


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
