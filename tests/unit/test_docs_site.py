"""The documentation site: every link holds, nothing is loaded from elsewhere, and the generated API is complete."""

import re

import pytest

from scripts.docs_site import api
from scripts.docs_site.comments import markdown
from scripts.docs_site.declarations import KOTLIN, SWIFT, TYPESCRIPT, Language, declarations
from scripts.docs_site.links import for_site
from tests.cases.docs_site import ROOT
from tests.golden.stored import GOLDEN

PAGES = {
    "README.md": "index.md",
    "docs/android.md": "android.md",
    "docs/guides/release.yml": "guides/release.yml",
    "docs/guides/gradle.md": "guides/gradle.md",
    "sample_apps/ios/README.md": "sample_apps/ios/README.md",
}


def test_links_lead_to_pages_or_say_where_a_file_is() -> None:
    for source, link, expected in [
        ("README.md", "[a](docs/android.md#b)", "[a](android.md#b)"),
        ("docs/guides/gradle.md", "[a](../android.md)", "[a](../android.md)"),
        ("docs/guides/gradle.md", "[a](release.yml)", "[a](release.yml)"),
        ("docs/guides/gradle.md", "[a](../../README.md)", "[a](../index.md)"),
        ("docs/android.md", "[an app](../sample_apps/ios)", "[an app](sample_apps/ios/README.md)"),
        (
            "docs/android.md",
            "[the pins](../packager/files/processes/pins.toml)",
            "the pins (`packager/files/processes/pins.toml` in the repository)",
        ),
        (
            "README.md",
            "[`packager/files/processes/pins.toml`](packager/files/processes/pins.toml)",
            "`packager/files/processes/pins.toml`",
        ),
        ("README.md", "[a](packager/none.py) and [b](#c)", "[a](packager/none.py) and [b](#c)"),
        ("README.md", "[a](https://example.com/packager) ![b](elsewhere/c.png)", None),
        ("README.md", "![b](docs/pictures/c.png)", "![b](pictures/c.png)"),
        ("docs/guides/gradle.md", "![b](../pictures/c.png)", "![b](../pictures/c.png)"),
        ("README.md", "[a](../README.md) [b](/docs/android.md)", None),
    ]:
        assert for_site(link, source, PAGES, ROOT) == (expected or link)


def test_comments_become_markdown() -> None:
    kotlin = (
        "    /**\n     * Runs [it], see `[4]`.\n     *\n     * @throws A when\n     * not\n     * @param b how\n     */"
    )
    assert markdown(kotlin) == "Runs `it`, see `[4]`.\n\n- Throws `A`: when\n    not\n- `b`: how"
    swift = "/// Runs ``it(_:)``.\n///\n/// - Parameters:\n///   - a: one.\n///     Two.\n/// - Throws: ``B``."
    assert markdown(swift) == "Runs `it(_:)`.\n\n- Parameters:\n    - a: one.\n        Two.\n- Throws: `B`."
    assert markdown("/** Runs {@link It}. */") == "Runs `It`."


KOTLIN_SOURCE = """\
package a

/** A. */
public class A private constructor(
    private val b: B,
) : C {
    /** D. */
    @JvmStatic
    public fun d(e: Int = f(1)): List<Int> =
        b.d(e)

    private fun g() {
        public()
    }

    public companion object {
        public fun load(): A = A(B())
    }
}

internal class B
"""

SWIFT_SOURCE = """\
/// A.
public struct A: Sendable {
    /// B.
    public var b: Int { c }
    let c = 1
}

#if canImport(D)
extension A {
    /// E.
    public func e(
        _ f: Int = 1
    ) throws -> [Int] {
        [f]
    }
}
#endif
"""

TYPESCRIPT_SOURCE = """\
import { B } from './b.js';
/** A. */
export declare class A<T> extends B {
    private c;
    /** D. */
    d(e: {
        readonly f?: T;
    }): void;
}
export type { C } from './c.js';
type D = 1;
"""


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        (KOTLIN, KOTLIN_SOURCE, ["class A : C", "@JvmStatic\nfun d(e: Int = f(1)): List<Int>", "fun load(): A"]),
        (SWIFT, SWIFT_SOURCE, ["struct A: Sendable", "var b: Int", "func e(\n    _ f: Int = 1\n) throws -> [Int]"]),
        (TYPESCRIPT, TYPESCRIPT_SOURCE, ["class A<T> extends B", "d(e: {\n    readonly f?: T;\n}): void;"]),
    ],
    ids=["kotlin", "swift", "typescript"],
)
def test_what_is_public_is_shown_without_what_it_does(language: Language, source: str, expected: list[str]) -> None:
    page = api.page(language, declarations(source, language))
    code = re.findall(r"^```\w+\n(.*?)\n```$", page, re.MULTILINE | re.DOTALL)
    assert sorted(code) == sorted(expected)
    assert re.search(r"^A\.$", page, re.MULTILINE)


def test_all_that_an_app_can_call_is_in_the_pages() -> None:
    pages = api.pages()
    package = GOLDEN / "contracts"
    for name, pattern, begin in (
        ("kotlin", "android/**/{}.kt", r"^ *public (?:\w+ )*(?:fun|val|var|class|interface) (\w+)"),
        ("swift", "ios/Sources/**/{}.swift", r"^ *public (?:\w+ )*(?:func|var|let|class|struct|enum) (\w+)"),
        ("typescript", "react_native/lib/models/{}.d.ts", r"^ *(?:export declare |export )?(?:\w+ )*?(\w+)\??[(:]"),
    ):
        model = "classifier" if name == "typescript" else "Classifier"
        files = [*package.glob(pattern.format(model))]
        files += [each for other in ("Options", "Info", "SelfTest") for each in package.glob(pattern.format(other))]
        wanted = {
            found for path in files for found in re.findall(begin, path.read_text(encoding="utf-8"), re.MULTILINE)
        }
        assert "classify" in wanted
        assert {each for each in wanted if not re.search(rf"\b{each}\b", pages[f"api/{name}.md"])} == set()
        assert "private" not in re.sub(r"\(set\)|private set", "", pages[f"api/{name}.md"])


def test_the_picture_of_the_report_is_small() -> None:
    report = (ROOT / "docs" / "pictures" / "report.png").read_bytes()
    assert report.startswith(b"\x89PNG")
    assert len(report) < 300_000
