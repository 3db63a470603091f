import Foundation
import XCTest

@testable import ModelsKit

final class GeneratedTests: XCTestCase {
    /// Turns rows into columns, as the model does.
    private func transposed<Value>(_ values: [Value]) -> [Value] {
        (0..<67).flatMap { column in (0..<3).map { row in values[row * 67 + column] } }
    }

    private func check<Value: Equatable>(
        _ name: String, _ feed: WritableKeyPath<Generated.Input, [Value]>, _ read: KeyPath<Generated.Output, [Value]>
    ) throws {
        var input = Generated.Input()
        let numbers: [Value] = try values("generated.\(name)")
        XCTAssertNotEqual(numbers, transposed(numbers))
        input[keyPath: feed] = numbers
        let output = try Generated(options: onCPU).run(input)
        XCTAssertEqual(output[keyPath: read], transposed(numbers))
    }

    func testFloatGoesInAndComesOut() throws {
        try check("float", \.floatIn, \.floatOut)
    }

    func testDoubleGoesInAndComesOut() throws {
        try check("double", \.doubleIn, \.doubleOut)
    }

    func testFloat16GoesInAndComesOut() throws {
        try check("float16", \.float16In, \.float16Out)
    }

    func testInt8GoesInAndComesOut() throws {
        try check("int8", \.int8In, \.int8Out)
    }

    func testUint8GoesInAndComesOut() throws {
        try check("uint8", \.uint8In, \.uint8Out)
    }

    func testInt16GoesInAndComesOut() throws {
        try check("int16", \.int16In, \.int16Out)
    }

    func testUint16GoesInAndComesOut() throws {
        try check("uint16", \.uint16In, \.uint16Out)
    }

    func testInt32GoesInAndComesOut() throws {
        try check("int32", \.int32In, \.int32Out)
    }

    func testUint32GoesInAndComesOut() throws {
        try check("uint32", \.uint32In, \.uint32Out)
    }

    func testInt64GoesInAndComesOut() throws {
        try check("int64", \.int64In, \.int64Out)
    }

    func testUint64GoesInAndComesOut() throws {
        try check("uint64", \.uint64In, \.uint64Out)
    }

    func testBoolGoesInAndComesOut() throws {
        try check("bool", \.boolIn, \.boolOut)
    }

    func testAValueBelongsToARowAndABatch() throws {
        var input = Generated.Input(batch: 2)
        input.ids = (0..<134).map { Int64($0 * 7) }
        let output = try Generated(options: onCPU).run(input)
        XCTAssertEqual(output.rowsShape, [2, 67, 2])
        XCTAssertEqual(output.rows, (0..<268).map { Float($0 / 2 * 14 + $0 % 2) })
    }
}
