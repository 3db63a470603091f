"""Public declarations are read from the four languages: what is there, what is not, and what must not confuse it."""

import re

import pytest

from packager.distribution.differences import Level
from tests.cases import declaration_changes
from tests.cases.declaration_changes import level
from tests.cases.differences_cases import IOS, REACT_NATIVE, kotlin_texts, texts_of
from tests.declarations import dart, kotlin, swift, typescript
from tests.declarations.values import Declaration, Parameter

KOTLIN = """
package com.example.one
/* public class Commented { */
// public class Commented2
public class Model private constructor(private val text: String, secret: Int) : AutoCloseable, Other<Int>(3) {
    public val name: String get() = "public fun no() {"
    public var size: Int = if (1 < 2) 3 else 4
        private set
    public var open: List<Map<String, Int>> = emptyList()
    private fun hidden(): Int = 1
    internal class Inner { public fun unseen() {} }
    public suspend fun <T> run(
        input: Input, vararg more: Map<String, List<T>>, last: Int = if (a < b) 1 else 2
    ): T = go()
    public companion object {
        @JvmStatic
        public fun load(onProgress: (Int) -> Unit = {}): Model = Model("", 1)
    }
    override fun close(): Unit = Unit
}
public interface Seen {
    public fun must(event: Int)
    public fun may(event: Int): Unit = Unit
}
public enum class Kind(public val code: Int, private val x: Int = 2) { ONE(1), TWO(2), ; internal val y = 1 }
internal fun nothing(): Int { public_() }
public fun top(x: Int?): Unit = Unit
"""


def by_path(found: tuple[Declaration, ...]) -> dict[str, Declaration]:
    return {each.path: each for each in found}


def test_kotlin() -> None:
    found = by_path(kotlin.declarations(KOTLIN))
    assert kotlin.package_of(KOTLIN) == "com.example.one"
    assert list(found) == [
        "Model",
        "Model.name",
        "Model.size",
        "Model.open",
        "Model.run",
        "Model.load",
        "Seen",
        "Seen.must",
        "Seen.may",
        "Kind",
        "Kind.code",
        "Kind.ONE",
        "Kind.TWO",
        "top",
    ]
    assert found["Model"].traits == {"is AutoCloseable", "is Other<Int>"}
    assert [path for path, each in found.items() if "mutable" in each.traits] == ["Model.open"]
    assert found["Model.open"].type == "List<Map<String, Int>>"
    assert found["Model.run"] == Declaration(
        container="Model",
        name="run",
        kind="function",
        parameters=(
            Parameter(label="input", type="Input"),
            Parameter(label="more", type="vararg Map<String, List<T>>"),
            Parameter(label="last", type="Int", default=found["Model.run"].parameters[2].default),
        ),
        type="<T> T",
        traits=frozenset({"suspend"}),
    )
    assert found["Model.load"].parameters == (Parameter(label="onProgress", type="(Int) -> Unit", default="{}"),)
    assert ("abstract" in found["Seen.must"].traits, "abstract" in found["Seen.may"].traits) == (True, False)


SWIFT = """
public final class Model: Sendable {
    public private(set) var size: Int = 1 << 3
    public var open: [String: [Int]] = [:]
    public var computed: Int { size }
    let hidden = 1
    public convenience init?(from text: String = "public func no() {", _ more: Int...) throws { return nil }
    public static func load<T: Sendable>(
        _ x: T, onProgress: (@Sendable (Int) -> Void)? = nil
    ) async throws -> Model where T: Equatable { fatalError() }
    func unseen() { switch self { case .x: break } }
}
public protocol Seen { func must(_ event: Int); func may(_ event: Int) }
extension Seen { public func may(_ event: Int) {} }
public enum Kind: String { case one, two(Int, label: String = "x")
    case three = "3"
    public var code: Int { switch self { case .one: return 1 } }
}
extension Kind.Inner { public func deep() {} }
"""


def test_swift() -> None:
    found = by_path(swift.declarations([SWIFT]))
    assert set(found) == {
        "Model",
        "Model.size",
        "Model.open",
        "Model.computed",
        "Model.init",
        "Model.load",
        "Seen",
        "Seen.must",
        "Seen.may",
        "Kind",
        "Kind.one",
        "Kind.two",
        "Kind.three",
        "Kind.code",
        "Kind.Inner.deep",
    }
    mutable = [path for path, each in found.items() if "mutable" in each.traits]
    assert mutable == ["Model.open"]
    assert found["Model.init"].traits == {"failable", "throws"}
    load = found["Model.load"]
    assert [each.label for each in load.parameters] == ["_", "onProgress"]
    assert load.traits == {"static", "async", "throws"}
    assert load.type == "<T: Sendable> Model where T: Equatable"
    assert ("abstract" in found["Seen.must"].traits, "abstract" in found["Seen.may"].traits) == (True, False)
    assert found["Kind.two"].parameters[1] == Parameter(label="label", type="String", default='"x"')


TYPES = {
    "lib/index.d.ts": """
export * from './api.js';
export { Inner as Outer, type Kind } from './inner.js';
export declare const model: Tensors & Definition<Model>;
""",
    "lib/api.d.ts": "export declare function load(uri: string, options?: Options): Promise<Model>;",
    "lib/inner.d.ts": """
import { Hidden } from './hidden.js';
declare const secret: unique symbol;
export declare class Inner<T extends object = {}> extends Hidden<T> {
    #private;
    private constructor();
    protected readonly inside: number;
    readonly size: number;
    name?: string;
    get code(): number;
    static make(...all: readonly string[]): Inner;
    readonly nested: { readonly deep: readonly [1, null]; };
}
export type Kind = 'one' | 'two';
export interface Unexported { readonly x: number; }
""",
}


def test_typescript() -> None:
    found = by_path(typescript.declarations(TYPES, ["lib/index.d.ts"]))
    assert set(found) == {
        "load",
        "model",
        "Kind",
        "Outer",
        "Outer.size",
        "Outer.name",
        "Outer.code",
        "Outer.make",
        "Outer.nested",
        "Outer.nested.deep",
    }
    assert found["load"].parameters[1] == Parameter(label="_", type="Options", default="?")
    assert found["Outer.name"].traits == {"optional", "mutable"}
    assert found["Outer.nested.deep"].type == "readonly [1, null]"
    assert found["Outer.make"].parameters[0].type == "...readonly string[]"
    assert found["Kind"].type == "'one' | 'two'"


DART = {
    "lib/reader.dart": """
/// Text { with brackets.
library;
export 'src/model.dart';
export 'src/kinds.dart' show Kind, Top hide Hidden;
""",
    "lib/src/model.dart": """
import 'kinds.dart';
@Native<Pointer<Void> Function()>(symbol: 'x')
external Pointer<Void> bundled();
final class Model<T extends Object> extends Base implements Closing<T> {
  const Model(this.name, {required this.code, int? size, this.top = const Top()}) : _inside = 0;
  Model._(this._inside) : name = '${{'a': "{"}['a']} (', code = 1;
  factory Model.made([String? text]) = Model._;
  final String name;
  final int code;
  final void Function(int event)? onEvent;
  final int _inside;
  int open = 1 < 2 ? 3 : 4;
  static Map<String, List<int>> get all => {'x': const []};
  set limit(int value) {}
  Future<R> run<R>(T input, {Cancellation? cancellation, int top = 3}) async { return _go('}'); }
  @override
  bool operator ==(Object other) => false;
  void _hidden() {}
}
abstract interface class Closing<T> {
  void close();
}
typedef Listener = void Function(Model<int> model);
class _Hidden {}
const int limit = 3;
""",
    "lib/src/kinds.dart": """
enum Kind { one(1), two(2); const Kind(this.code); final int code; }
class Top {}
class Hidden {}
""",
}


def test_dart() -> None:
    found = by_path(dart.declarations(DART, "lib/reader.dart"))
    assert set(found) == {
        *("bundled", "limit", "Listener", "Closing", "Closing.close", "Kind", "Kind.one", "Kind.two", "Kind.code"),
        *("Top", "Top.new", "Model", "Model.new", "Model.made", "Model.name", "Model.code", "Model.onEvent"),
        *("Model.open", "Model.all", "Model.limit=", "Model.run", "Model.=="),
    }
    assert found["Model"].traits == {"is Base", "is Closing<T>"}
    assert found["Model.new"].parameters == (
        Parameter(label="_", type="String"),
        Parameter(label="code", type="int"),
        Parameter(label="size", type="int?", default="?"),
        Parameter(label="top", type="", default="const Top()"),
    )
    assert (found["Model.onEvent"].kind, found["Model.onEvent"].type) == ("property", "void Function(int event)?")
    assert found["Model.run"].type == "<R> Future<R>"
    assert [each.label for each in found["Model.run"].parameters] == ["_", "cancellation", "top"]
    assert {path for path, each in found.items() if "mutable" in each.traits} == {"Model.open"}
    assert found["Model.all"].traits == {"static"}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("void f(int a) {}", "void f(int b) {}", Level.NONE),
        ("void f({int? a}) {}", "void f({int? b}) {}", Level.MAJOR),
        ("void f({int a = 1, int b = 2}) {}", "void f({int b = 2, int aa = 0, int a = 1}) {}", Level.MINOR),
        ("void f(int a) {}", "void f(int a, [int b = 1]) {}", Level.MINOR),
        ("void f(int a) {}", "void f(int a, {required int b}) {}", Level.MAJOR),
        ("int f() => 1;", "int get f => 1;", Level.MAJOR),
        ("class A { final int x = 1; }", "class A { int get x => 1; }", Level.NONE),
        ("class A { int x = 1; }", "class A { final int x = 1; }", Level.MAJOR),
        ("enum A { x }", "enum A { x, y }", Level.MINOR),
        ("class A {}", "abstract class A {}", Level.MAJOR),
    ],
)
def test_changes_in_dart(old: str, new: str, expected: Level) -> None:
    assert level("Dart", *(dart.declarations({"lib/a.dart": each}, "lib/a.dart") for each in (old, new))) is expected


@pytest.mark.parametrize(("old", "new", "expected"), declaration_changes.KOTLIN)
def test_changes_in_kotlin(old: str, new: str, expected: Level) -> None:
    assert level("Kotlin", *(kotlin.declarations(f"public {each}") for each in (old, new))) is expected


@pytest.mark.parametrize(("old", "new", "expected"), declaration_changes.TYPESCRIPT)
def test_changes_in_typescript(old: str, new: str, expected: Level) -> None:
    declared = (typescript.declarations({"a.d.ts": f"export {each}"}, ["a.d.ts"]) for each in (old, new))
    assert level("TypeScript", *declared) is expected


@pytest.mark.parametrize(("old", "new", "expected"), declaration_changes.SWIFT)
def test_changes_in_swift(old: str, new: str, expected: Level) -> None:
    assert level("Swift", *(swift.declarations([each]) for each in (old, new))) is expected


def test_a_circle_of_exports_ends() -> None:
    circle = {"a.d.ts": "export * from './b.js';", "b.d.ts": "export * from './a.js'; export type X = 1;"}
    assert [each.name for each in typescript.declarations(circle, ["a.d.ts"])] == ["X"]


def test_every_public_line_of_generated_code_is_found() -> None:
    """Names of classes, functions and properties that a search for words finds, are all declared."""
    declared = {each.name for text in kotlin_texts().values() for each in kotlin.declarations(text)}
    modifiers = r"(?:data |open |abstract |enum |suspend |fun (?=interface))*"
    words = rf"^\s*public {modifiers}(?:class|interface|fun|val|var) (?:<[^>]*> )?(\w+)"
    lines = {name for text in kotlin_texts().values() for name in re.findall(words, text, re.MULTILINE)}
    assert lines <= declared

    texts = [text for path, text in IOS.texts().items() if path.suffix == ".swift" and "Sources" in path.parts]
    declared = {each.name for each in swift.declarations(texts)}
    words = r"^\s*public (?:final |static |mutating )*(?:class|struct|enum|protocol|func|var|let) (\w+)"
    assert {name for text in texts for name in re.findall(words, text, re.MULTILINE)} <= declared

    types = texts_of(REACT_NATIVE.sources())
    found = {each.path for each in typescript.declarations(types, ["lib/index.d.ts"])}
    assert {"GivenInputs.x", "Typed.classify", "ModelError.code", "removeDownloads"} <= found
