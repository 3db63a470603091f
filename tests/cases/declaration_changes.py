"""Changes of single declarations in the three languages, which compile: readers of sources and other tools see the
same. `public` stands before the first word of those in Kotlin, `export` before that of those in TypeScript.
"""

from collections.abc import Sequence

from packager.distribution.differences.values import Level, heaviest
from tests.declarations import interfaces
from tests.declarations.values import Declaration, DeclaredPackage

Changes = Sequence[tuple[str, str, Level]]
KOTLIN: Changes = (
    ("fun a(x: Int): Int = x", "fun a(x: Int): Int = x", Level.NONE),
    ("fun a(x: Int): Int = x", "fun a(x: Int, y: Int): Int = x + y", Level.MAJOR),
    ("fun a(x: Int): Int = x", "fun a(x: Int, y: Int = 1): Int = x + y", Level.MINOR),
    ("fun a(x: Int): Int = x", "fun a(y: Int = 1, x: Int): Int = x + y", Level.MAJOR),
    ("fun a(x: Int, y: Int): Int = x + y", "fun a(x: Int): Int = x", Level.MAJOR),
    ("fun a(x: Int = 1): Int = x", "fun a(x: Int): Int = x", Level.MAJOR),
    ("fun a(x: Int = 1): Int = x", "fun a(x: Int = 2): Int = x", Level.MINOR),
    ("fun a(x: Int): Int = x", "fun a(x: Long): Int = x.toInt()", Level.MAJOR),
    ("fun a(x: Int): Int = x", "fun a(y: Int): Int = y", Level.MAJOR),
    ("fun a(x: Int): Int = x", "fun a(x: Int): Long = x.toLong()", Level.MAJOR),
    ("fun a(x: Int): Int = x", "suspend fun a(x: Int): Int = x", Level.MAJOR),
    ("fun a(x: Int): Int = x", "fun a(x: Int): Int = x\npublic fun a(x: Long): Int = x.toInt()", Level.MINOR),
    ("fun a(x: Int): Int = x\npublic fun a(x: Long): Int = x.toInt()", "fun a(x: Int): Int = x", Level.MAJOR),
    ("val a: Int = 1", "var a: Int = 1", Level.MINOR),
    ("var a: Int = 1", "val a: Int = 1", Level.MAJOR),
    ("class A(public val x: Int)", "class A(public val x: Int, public val y: Int = 1)", Level.MINOR),
    ("class A(public val x: Int)", "class A(public val x: Int, public val y: Int)", Level.MAJOR),
    ("class A(public val x: Int)", "data class A(public val x: Int)", Level.MINOR),
    ("data class A(public val x: Int)", "class A(public val x: Int)", Level.MAJOR),
    ("open class A", "class A", Level.MAJOR),
    ("class A : AutoCloseable { override fun close(): Unit = Unit }", "class A", Level.MAJOR),
    ("interface A { public fun x() }", "interface A { public fun x()\npublic fun y() }", Level.MAJOR),
    ("interface A { public fun x() }", "interface A { public fun x()\npublic fun y(): Unit = Unit }", Level.MINOR),
    ("interface A { public fun x() }", "interface A { public fun x()\npublic fun x(a: Int) }", Level.MAJOR),
    ("interface A { public fun x() }", "interface A { public fun x()\npublic val y: Int }", Level.MAJOR),
    ("interface A { public fun x() }", "interface A { public fun x()\npublic val y: Int get() = 1 }", Level.MINOR),
    ("interface A { public val y: Int get() = 1 }", "interface A { public val y: Int }", Level.MAJOR),
    ("interface A { public fun x(): Unit = Unit }", "interface A { public fun x() }", Level.MAJOR),
    ("fun interface A { public fun x() }", "interface A { public fun x() }", Level.MAJOR),
    ("enum class A { X }", "enum class A { X, Y }", Level.MINOR),
    ("enum class A { X, Y }", "enum class A { Y }", Level.MAJOR),
    ("object A { public fun x(): Int = 1 }", "object A { @JvmStatic public fun x(): Int = 1 }", Level.MINOR),
    ("object A { @JvmStatic public fun x(): Int = 1 }", "object A { public fun x(): Int = 1 }", Level.MAJOR),
    (
        "class A { @JvmOverloads public fun x(y: Int = 1): Int = y }",
        "class A { public fun x(y: Int = 1): Int = y }",
        Level.MAJOR,
    ),
    ("class A { @JvmField public val x: Int = 1 }", "class A { public val x: Int = 1 }", Level.MAJOR),
    ("class A { public val x: Int = 1 }", "class A { @JvmField public val x: Int = 1 }", Level.MAJOR),
    ("const val A: Int = 1", "val A: Int = 1", Level.MAJOR),
)
TYPESCRIPT: Changes = (
    ("type A = 'x' | 'y';", "type A = 'x' | 'y' | 'z';", Level.MINOR),
    ("type A = 'x' | 'y' | 'z';", "type A = 'x' | 'y';", Level.MAJOR),
    ("declare function a(x: string): void;", "declare function a(y: string, z?: number): void;", Level.MINOR),
    ("declare function a(x: string): void;", "declare function a(y: string, z: number): void;", Level.MAJOR),
    ("interface Inputs { x: number; }", "interface Inputs { x: number; y: 1; }", Level.MAJOR),
    ("interface Inputs { x: number; }", "interface Inputs { x: number; y?: 1; }", Level.MINOR),
    ("interface Outputs { x: number; }", "interface Outputs { x: number; y: 1; }", Level.MINOR),
    ("interface Outputs { x: number; }", "interface Outputs { x?: number; }", Level.MAJOR),
    ("interface Outputs { readonly x: number; }", "interface Outputs { x: number; }", Level.MINOR),
    ("interface Outputs { x: number; }", "interface Outputs { readonly x: number; }", Level.MAJOR),
    ("declare const A: 1;", "declare const A: 2;", Level.MAJOR),
    ("declare let A: number;", "declare const A: number;", Level.MAJOR),
    ("declare class A { x(): void; }", "declare abstract class A { x(): void; }", Level.MAJOR),
    ("declare class A { x(): void; }", "declare class A { private constructor(); x(): void; }", Level.MAJOR),
    ("declare class A { static x(): void; }", "declare class A { x(): void; }", Level.MAJOR),
    ("declare class A { x(): void; }", "declare class A { protected x(): void; }", Level.MAJOR),
    ("declare enum A { x = 0, y = 1 }", "declare enum A { x = 1, y = 0 }", Level.MAJOR),
    ("declare class A { x(): void; }", "declare class A { constructor(y: number); x(): void; }", Level.MAJOR),
    ("type A<T> = T | 1;", "type A<T extends string> = T | 1;", Level.MAJOR),
    ("type A<T> = T | 1;", "type A<T, U = T> = T | U;", Level.MAJOR),
    ("interface A<T> { x: T; }", "interface A<T = string> { x: T; }", Level.MAJOR),
    ("interface A { (x: number): void; }", "interface A { (x: string): void; }", Level.MAJOR),
    ("interface A { new (x: number): object; }", "interface A { new (x: string): object; }", Level.MAJOR),
    ("interface A { [key: string]: number; }", "interface A { [key: number]: number; }", Level.MAJOR),
    ("declare class A { get x(): number; set x(v: number); }", "declare class A { get x(): number; }", Level.MAJOR),
)
SWIFT: Changes = (
    ("public func a(_ x: Int) {}", "public func a(_ x: Int, y: Int = 1) {}", Level.MINOR),
    ("public func a(_ x: Int, z: Int) {}", "public func a(_ x: Int, y: Int = 1, z: Int) {}", Level.MINOR),
    ("public func a(_ x: Int) {}", "public func a(_ x: Int) throws {}", Level.MAJOR),
    ("public func a(x: Int) {}", "public func a(_ x: Int) {}", Level.MAJOR),
    ("public func a(x: Int) {}", "public func a(x: Int) async {}", Level.MAJOR),
    ("public func a(x: Int = 1) {}", "public func a(x: Int) {}", Level.MAJOR),
    ("public func a() -> Int { 1 }", "public func a() -> Int? { 1 }", Level.MAJOR),
    ("public func a<T>(_ x: T) {}", "public func a<T: Equatable>(_ x: T) {}", Level.MAJOR),
    ("public func a<T>(_ x: T) {}", "public func a<T>(_ x: T) where T: Equatable {}", Level.MAJOR),
    ("@MainActor public func a() {}", "public func a() {}", Level.MINOR),
    ("public func a() {}", "@MainActor public func a() {}", Level.MAJOR),
    ("public protocol A { func x() }", "public protocol A { func x(); func y() }", Level.MAJOR),
    ("public protocol A { func x() }", "public protocol A { associatedtype B; func x() }", Level.MAJOR),
    ("public protocol A { var x: Int { get } }", "public protocol A { var x: Int { get set } }", Level.MAJOR),
    ("public protocol A { func x() }", "public protocol A: Sendable { func x() }", Level.MAJOR),
    ("open class A { public init() {} }", "public class A { public init() {} }", Level.MAJOR),
    ("public struct A { public init() {} }", "public final class A { public init() {} }", Level.MAJOR),
    ("public struct A: Sendable { public let x = 1 }", "public struct A { public let x = 1 }", Level.MAJOR),
    ("public struct A { public init?(x: Int) {} }", "public struct A { public init(x: Int) {} }", Level.MAJOR),
    ("public struct A { public init(x: Int) {} }", "public struct A { public init(x: Int) throws {} }", Level.MAJOR),
    ("public struct A { public func x() {} }", "public struct A { public mutating func x() {} }", Level.MAJOR),
    ("public struct A { public func x() {} }", "public struct A { public static func x() {} }", Level.MAJOR),
    (
        "public struct A { public var x: Int = 1 }",
        "public struct A { public private(set) var x: Int = 1 }",
        Level.MAJOR,
    ),
    ("public struct A { public let x: Int = 1 }", "public struct A { public let x: Int32 = 1 }", Level.MAJOR),
    ("public enum A { case x }", "public enum A { case x, y }", Level.MINOR),
    ("public enum A { case x, y }", "public enum A { case x }", Level.MAJOR),
    ("public enum A { case x(Int) }", "public enum A { case x(Int, y: Int) }", Level.MAJOR),
    ("public enum A: Int { case x }", "public enum A: String { case x }", Level.MAJOR),
    ("public typealias A = Int", "public typealias A = Int32", Level.MAJOR),
)

"""declarations in full"""


def level(language: str, old: Sequence[Declaration], new: Sequence[Declaration]) -> Level:
    """The verdict on the declarations of two packages."""
    packages = (DeclaredPackage(language=language, declarations=tuple(each)) for each in (old, new))
    return heaviest(*(each.level for each in interfaces.changes(*packages)))
