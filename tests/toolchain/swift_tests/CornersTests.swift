import Foundation
import XCTest

@testable import ModelsKit

final class CornersTests: XCTestCase {
    private func input(_ flags: [Bool] = [], _ texts: [String] = []) -> Corners.Input {
        var input = Corners.Input(height: 4, rowsDim1: 3, count: flags.count)
        input.flags = flags
        input.texts = texts
        return input
    }

    func testNamesThatSwiftTakesForEqualAreTwoTensors() throws {
        var input = input()
        input.cafe = [1, 2, 3, 4, 5, 6]
        input.cafe2 = [10, 20, 30, 40, 50, 60]
        let output = try Corners(options: onCPU).run(input)
        XCTAssertEqual(output.groe, [-1, -2, -3, -4, -5, -6])
        XCTAssertEqual(output.groe2, [20, 40, 60, 80, 100, 120])
    }

    func testANameWithQuotesAndASwiftKeywordAreTensors() throws {
        var input = input()
        input.x = [-1, 2, -3.5, .infinity]
        XCTAssertEqual(try Corners(options: onCPU).run(input).letValue, [1, 2, 3.5, .infinity])
    }

    func testAnErrorNamesTheTensorAsTheModelDoes() throws {
        var input = input()
        input.x = []
        let model = try Corners(options: onCPU)
        let error = try modelError { _ = try model.run(input) }
        XCTAssertEqual(error, .shape(tensor: "数\"\\(x)", count: 0, shape: [4]))
        XCTAssertTrue("\(error)".contains("`数\"\\(x)`"), "\(error)")
        XCTAssertEqual(error.localizedDescription, "\(error)")
    }

    func testTwoOutputsWhoseSizeTheRunDecides() throws {
        let output = try Corners(options: onCPU).run(input([true, false, true], ["", "tab\there", "Zürich 日本 🙂"]))
        XCTAssertEqual(output.whereValue, [0, 2])
        XCTAssertEqual(output.whereValueShape, [1, 2])
        XCTAssertEqual(output.kept, ["", "Zürich 日本 🙂"])
        XCTAssertEqual(output.keptShape, [2])
    }

    func testOutputsOfNothing() throws {
        let model = try Corners(options: onCPU)
        var output = try model.run(input([true], ["a"]))
        XCTAssertEqual(output.kept, ["a"])
        try model.run(input([false, false], ["a", "b"]), into: &output)
        XCTAssertEqual(output.whereValue, [])
        XCTAssertEqual(output.whereValueShape, [1, 0])
        XCTAssertEqual(output.kept, [])
        XCTAssertEqual(output.keptShape, [0])
    }

    func testInputsWithoutValues() throws {
        let output = try Corners(options: onCPU).run(Corners.Input(height: 0, rowsDim1: 3, count: 0))
        XCTAssertEqual(output.columns, [])
        XCTAssertEqual(output.columnsShape, [3, 0])
        XCTAssertEqual(output.keptShape, [0])
    }

    func testStringsKeepTheirBytes() throws {
        let texts = ["a\0b", "e\u{301}", "\u{E9}", String(repeating: "long ", count: 1000)]
        let output = try Corners(options: onCPU).run(input([Bool](repeating: true, count: 4), texts))
        XCTAssertEqual(output.kept.map { Array($0.utf8) }, texts.map { Array($0.utf8) })
    }

    func testAScalarAndAMatrixOfUnknownSize() throws {
        var input = input()
        input.scalar = [1.25]
        input.rows = (0..<12).map(Float.init)
        let output = try Corners(options: onCPU).run(input)
        XCTAssertEqual(output.doubled, [2.5])
        XCTAssertEqual(output.columns, [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11])
        XCTAssertEqual(output.columnsShape, [3, 4])
    }

    func testAnInputThatIsMadeEmptyIsAllZero() throws {
        let output = try Corners(options: onCPU).run(input([false], [""]))
        XCTAssertEqual(output.doubled, [0])
        XCTAssertEqual(output.columns, [Float](repeating: 0, count: 12))
        XCTAssertEqual(output.u64T, [UInt64](repeating: 0, count: 6))
    }

    func testSixteenBitFloatsAreTheNumbersThatTheyStandFor() throws {
        let expected: [Float] = try values("half.floats")
        let numbers = (0...UInt16.max).map { Float(Half(bitPattern: $0)) }
        XCTAssertEqual(numbers.map(\.isNaN), expected.map(\.isNaN))
        XCTAssertEqual(numbers.filter { !$0.isNaN }.map(\.bitPattern), expected.filter { !$0.isNaN }.map(\.bitPattern))
        let upper = (0...UInt16.max).map { Float(BFloat16(bitPattern: $0)) }
        XCTAssertEqual(upper.map(\.bitPattern), (0...UInt16.max).map { UInt32($0) << 16 })
    }

    func testFloatsAreRoundedToTheNearestSixteenBits() throws {
        let numbers: [Float] = try values("rounded.floats")
        XCTAssertEqual(numbers.map { Half($0).bitPattern }, try values("rounded.halves"))
        XCTAssertEqual(numbers.map { BFloat16($0).bitPattern }, try values("rounded.upper"))
        XCTAssertTrue(Float(BFloat16(Float.nan)).isNaN && Float(Half(Float.nan)).isNaN)
    }
}
