// Numbers that a test exchanges with Python, and questions that several tests ask.

import Foundation
import XCTest

@testable import ModelsKit

/// A file of numbers that Python wrote.
func values<Value>(_ name: String, as type: Value.Type = Value.self) throws -> [Value] {
    let folder = try XCTUnwrap(ProcessInfo.processInfo.environment["MOBPACK_VALUES"], "where the values are")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent(name))
    XCTAssertGreaterThan(bytes.count, 0)
    return bytes.withUnsafeBytes { Array($0.bindMemory(to: type)) }
}

/// A file of texts by name that Python wrote.
func texts(_ name: String) throws -> [String: String] {
    try JSONDecoder().decode([String: String].self, from: Data(try values(name, as: UInt8.self)))
}

/// Says what is off by more than 1e-5 of the largest value.
func assertClose(_ found: [Float], _ expected: [Float], file: StaticString = #filePath, line: UInt = #line) {
    XCTAssertEqual(found.count, expected.count, file: file, line: line)
    XCTAssertFalse(expected.isEmpty, file: file, line: line)
    let scale = expected.reduce(0) { max($0, abs($1)) }
    let error = zip(found, expected).reduce(0) { max($0, ($1.0 - $1.1).isNaN ? .infinity : abs($1.0 - $1.1)) }
    print("error \(error / scale) of the largest value")
    XCTAssertLessThanOrEqual(error / scale, 1e-5, file: file, line: line)
}

/// The error of the package that `body` throws.
func modelError(
    file: StaticString = #filePath, line: UInt = #line, _ body: () throws -> Void
) throws -> ModelError {
    var found: (any Error)?
    XCTAssertThrowsError(try body(), file: file, line: line) { found = $0 }
    return try XCTUnwrap(found as? ModelError, "\(String(describing: found))", file: file, line: line)
}

func asyncError(_ body: () async throws -> Void) async -> (any Error)? {
    do {
        try await body()
        return nil
    } catch {
        return error
    }
}

/// The models without the providers that this machine lacks.
let onCPU = Options(providers: [.cpu], threads: 1)

/// Calls what has an async twin, which Swift prefers where it can wait.
func now<Value>(_ body: () throws -> Value) rethrows -> Value {
    try body()
}

/// Repeats an attempt, with waits of 16 ms to half a second, in nanoseconds, until one says that it met work under way.
/// Nothing tells when a thread begins its work, and a wait that is right on an idle machine is not on a busy one.
func untilMet(
    file: StaticString = #filePath, line: UInt = #line, _ attempt: (UInt64) async throws -> Bool
) async throws {
    for round in 0..<30 {
        if try await attempt(16_000_000 << UInt64(round % 6)) { return }
    }
    XCTFail("no attempt met work under way", file: file, line: line)
}

/// Keeps how runs ended.
final class Ends: ModelObserver {
    private let ends = Shared<[String]>([])

    func onRun(_ event: RunEvent) {
        ends.change { $0.append(event.error == nil ? "whole" : "ended early") }
    }

    /// How those ended that it was told of since the last call.
    func since() -> [String] {
        ends.inTurn { ends in
            defer { ends = [] }
            return ends
        }
    }
}

/// A counter for all threads.
final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0

    var value: Int {
        lock.lock()
        defer { lock.unlock() }
        return count
    }

    func add() {
        lock.lock()
        defer { lock.unlock() }
        count += 1
    }
}
