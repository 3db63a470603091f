// What an app passes reaches the model as it is, and what the model gives reaches the app in its own words.

import CoreGraphics
import CoreVideo
import Foundation
import ImageIO
import UIKit
import XCTest

@testable import TypedKit

private let onCPU = Options(providers: [.cpu], threads: 1)

/// Calls what has an async twin, which Swift prefers where it can wait.
private func now<Value>(_ body: () throws -> Value) rethrows -> Value {
    try body()
}

/// The reason that a call is refused for.
private func refusal(_ body: () throws -> Void, line: UInt = #line) throws -> String {
    var found: (any Error)?
    XCTAssertThrowsError(try body(), line: line) { found = $0 }
    guard case .invalid(let reason)? = found as? ModelError else { return String(describing: found) }
    return reason
}

/// A picture whose bytes are all different.
private func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: 7 * $0 + 3) }
}

final class PictureTests: XCTestCase {
    private static let formats: [(PixelFormat, [Int])] = [
        (.rgba, [0, 1, 2]), (.bgra, [2, 1, 0]), (.argb, [1, 2, 3]), (.rgb, [0, 1, 2]), (.bgr, [2, 1, 0]),
        (.grey, [0, 0, 0])
    ]
    /// Bytes of a pixel of luma, the one that counts, and where U and V lie in a pixel of chroma.
    private static let cameras: [(PixelFormat, Int, Int, [Int64])] = [
        (.nv12, 1, 0, [0, 1]), (.nv21, 1, 0, [1, 0]), (.p010, 2, 1, [1, 3])
    ]

    func testTheColoursOfEveryFormatReachTheModel() throws {
        let model = try Echo(options: onCPU)
        XCTAssertEqual(Self.formats.map(\.0) + Self.cameras.map(\.0), PixelFormat.allCases)
        for (format, channels) in Self.formats {
            let given = bytes(6 * format.bytesPerPixel)
            let found = try model.predict(Picture(given, width: 3, height: 2, format: format))
            XCTAssertEqual(found.raw, given)
            XCTAssertEqual(found.rawShape, [2, 3, format.bytesPerPixel])
            let expected = (0..<6).flatMap { pixel in channels.map { Float(given[pixel * format.bytesPerPixel + $0]) } }
            XCTAssertEqual(found.colours, expected, "\(format)")
            XCTAssertEqual(found.coloursShape, [2, 3, 3])
            XCTAssertEqual(found.chroma, [0])
            XCTAssertEqual([found.chromaShape, found.conversion.map(Int.init)], [[1, 1, 1], [0, 0, 0]])
        }
    }

    func testLumaAndChromaReachTheModel() throws {
        let model = try Echo(options: onCPU)
        for (format, size, upper, places) in Self.cameras {
            for gap in [0, 3] {
                let row = 4 * size + gap
                let given = bytes(6 * row)
                let lines = (0..<6).map { Array(given[$0 * row..<$0 * row + 4 * size]) }
                let luma = Array(lines[..<4].joined())
                let chroma = Array(lines[4...].joined())
                for (number, conversion) in YuvConversion.allCases.enumerated() {
                    let pictures = [
                        try Picture(
                            given, width: 4, height: 4, format: format, bytesPerRow: row, conversion: conversion),
                        try Picture(
                            Data(given), width: 4, height: 4, format: format, bytesPerRow: row, conversion: conversion),
                        try given.withUnsafeBytes {
                            try Picture(
                                copying: $0, width: 4, height: 4, format: format, bytesPerRow: row,
                                conversion: conversion)
                        }
                    ]
                    for picture in pictures {
                        let found = try model.predict(picture)
                        XCTAssertEqual([found.raw, found.chroma], [luma, chroma])
                        XCTAssertEqual([found.rawShape, found.chromaShape], [[4, 4, size], [2, 2, 2 * size]])
                        XCTAssertEqual(found.colours[3], Float(luma[size + upper]))
                        XCTAssertEqual(found.conversion, places + [Int64(number) + 1])
                    }
                }
            }
        }
    }

    func testARegionOfLumaIsThatOfItsChroma() throws {
        let model = try Echo(options: onCPU)
        let given = bytes(6 * 4 + 6 * 2)
        let region = Region(left: 2, top: 2, right: 6, bottom: 4)
        let pictures = [
            try Picture(given, width: 6, height: 4, format: .nv12, region: region),
            try given.withUnsafeBytes { try Picture(copying: $0, width: 6, height: 4, format: .nv12, region: region) }
        ]
        for picture in pictures {
            let found = try model.predict(picture)
            XCTAssertEqual(found.raw, Array(given[14..<18]) + Array(given[20..<24]))
            XCTAssertEqual(found.chroma, Array(given[32..<36]))
            XCTAssertEqual(found.chromaShape, [1, 2, 2])
        }
    }

    func testOddSidesOfLumaAndChromaAreRefusedInWords() throws {
        let hint = "width, height and the edges of a region must be even"
        XCTAssertEqual(
            try refusal { _ = try Picture(bytes(9), width: 3, height: 2, format: .nv12) },
            "3 x 2 pixels of nv12, columns 0 to 3: \(hint)")
        let odd = Region(left: 1, top: 0, right: 3, bottom: 2)
        XCTAssertEqual(
            try refusal { _ = try Picture(bytes(12), width: 4, height: 2, format: .nv21, region: odd) },
            "4 x 2 pixels of nv21, columns 1 to 3: \(hint)")
        XCTAssertEqual(
            try refusal { _ = try Picture(bytes(8), width: 4, height: 2, format: .nv12) },
            "4 x 2 pixels of nv12 are 12 bytes, and there are 8: for rows with gaps between them say bytesPerRow")
    }

    func testEveryOrientationReachesTheModelAsItsNumber() throws {
        let model = try Echo(options: onCPU)
        let numbers = try Orientation.allCases.map {
            try model.predict(Picture(bytes(4), width: 1, height: 1, orientation: $0)).turn
        }
        XCTAssertEqual(numbers, (1...8).map { [$0] })
        XCTAssertEqual(Orientation(rawValue: 6), .right)
        XCTAssertNil(Orientation(rawValue: 9))
    }

    func testGapsBetweenRowsAreLeftOut() throws {
        let model = try Echo(options: onCPU)
        let given = bytes(3 * 20)
        let expected = [0, 20, 40].flatMap { Array(given[$0..<$0 + 8]) }
        let short = Array(given[..<48])
        let pictures = [
            try Picture(given, width: 2, height: 3, bytesPerRow: 20),
            try Picture(short, width: 2, height: 3, bytesPerRow: 20),
            try Picture(Data(given), width: 2, height: 3, bytesPerRow: 20),
            try Picture(Data([1, 2, 3] + given)[3...], width: 2, height: 3, bytesPerRow: 20),
            try given.withUnsafeBytes { try Picture(copying: $0, width: 2, height: 3, bytesPerRow: 20) }
        ]
        for picture in pictures {
            let found = try model.predict(picture)
            XCTAssertEqual(found.raw, expected)
            XCTAssertEqual(found.rawShape, [3, 2, 4])
        }
    }

    func testARegionIsAllThatAModelSees() throws {
        let model = try Echo(options: onCPU)
        let given = bytes(5 * 4 * 3)
        func rows(_ columns: Range<Int>, _ rows: Range<Int>) -> [UInt8] {
            rows.flatMap { Array(given[(5 * $0 + columns.lowerBound) * 3..<(5 * $0 + columns.upperBound) * 3]) }
        }
        for (columns, lines) in [(1..<3, 1..<4), (0..<5, 2..<4), (4..<5, 0..<1), (0..<5, 0..<4), (0..<1, 0..<4)] {
            let region = Region(
                left: columns.lowerBound, top: lines.lowerBound, right: columns.upperBound, bottom: lines.upperBound)
            let kept = try Picture(given, width: 5, height: 4, format: .rgb, region: region)
            let copied = try given.withUnsafeBytes {
                try Picture(copying: $0, width: 5, height: 4, format: .rgb, region: region)
            }
            for picture in [kept, copied] {
                let found = try model.predict(picture)
                XCTAssertEqual(found.raw, rows(columns, lines), "\(region)")
                XCTAssertEqual(found.rawShape, [lines.count, columns.count, 3])
                XCTAssertEqual([picture.width, picture.height], [columns.count, lines.count])
            }
        }
    }

    func testNothingIsCopiedWithoutGaps() throws {
        let given = bytes(4 * 4 * 4)
        let buffer = CVBuffer(width: 4, height: 4, format: kCVPixelFormatType_32BGRA, bytesPerRow: 16, bytes: given)
        let region = Region(left: 0, top: 1, right: 4, bottom: 3)
        func start(_ picture: Picture) throws -> UnsafeRawPointer? {
            var found: UnsafeRawPointer?
            try picture.pixels.memory.withBytes(of: picture.pixels.rows) { found = $0.baseAddress }
            return found
        }
        let memory = UnsafeRawPointer(buffer.memory.baseAddress)
        XCTAssertEqual(try start(Picture(buffer)), memory)
        XCTAssertEqual(try start(Picture(buffer, region: region)), memory.map { $0 + 16 })
        XCTAssertNotEqual(try start(Picture(buffer, region: Region(left: 0, top: 0, right: 3, bottom: 4))), memory)
        try given.withUnsafeBytes { there in
            XCTAssertEqual(try start(Picture(given, width: 4, height: 4)), there.baseAddress)
        }
    }

    func testWhatIsNoPictureIsRefusedInWords() throws {
        let given = bytes(24)
        let whole = Region(left: 0, top: 0, right: 3, bottom: 2)
        func found(
            _ count: Int, _ width: Int, _ height: Int, _ format: PixelFormat = .rgba, bytesPerRow: Int? = nil,
            region: Region? = nil
        ) throws -> String {
            try refusal {
                _ = try Picture(
                    [UInt8](repeating: 0, count: count), width: width, height: height, format: format,
                    bytesPerRow: bytesPerRow, region: region)
            }
        }
        XCTAssertEqual(try found(0, 0, 2), "a picture of 0 x 2 pixels has none")
        XCTAssertEqual(try found(24, 3, -1), "a picture of 3 x -1 pixels has none")
        let few = "3 x 2 pixels of rgba are 24 bytes, and there are 23: for rows with gaps between them say bytesPerRow"
        XCTAssertEqual(try found(23, 3, 2), few)
        XCTAssertEqual(try found(25, 3, 2), few.replacingOccurrences(of: "23", with: "25"))
        XCTAssertEqual(
            try found(43, 3, 2, bytesPerRow: 32), "3 x 2 pixels of rgba in rows of 32 bytes are 44 bytes, and there are only 43")
        XCTAssertEqual(try found(24, 3, 2, bytesPerRow: 11), "rows of 11 bytes are too short: 3 pixels of rgba have 12")
        XCTAssertEqual(try found(24, 3, 2, bytesPerRow: -12), "rows of -12 bytes are too short: 3 pixels of rgba have 12")
        for (width, height, row) in [(Int.max, 1, nil), (3, Int.max, nil), (3, 2, Int.max)] as [(Int, Int, Int?)] {
            let words = "\(width) x \(height) pixels of rgba are more than a device can hold"
            XCTAssertEqual(try found(24, width, height, bytesPerRow: row), words)
        }
        var outside = [whole, whole, whole, whole, whole, whole]
        outside[0].left = -1
        outside[1].top = -1
        outside[2].right = 4
        outside[3].bottom = 3
        outside[4].right = 0
        outside[5].top = 2
        for region in outside {
            let words = "columns \(region.left) to \(region.right) of rows \(region.top) to \(region.bottom)"
            XCTAssertEqual(try found(24, 3, 2, region: region), "\(words) are no region of 3 x 2 pixels")
            let copied = try refusal {
                _ = try given.withUnsafeBytes { try Picture(copying: $0, width: 3, height: 2, region: region) }
            }
            XCTAssertEqual(copied, "\(words) are no region of 3 x 2 pixels")
        }
    }
}

final class SystemPictureTests: XCTestCase {
    func testEveryPixelBufferOfColoursReachesTheModel() throws {
        let model = try Echo(options: onCPU)
        let types: [(OSType, PixelFormat)] = [
            (kCVPixelFormatType_32BGRA, .bgra), (kCVPixelFormatType_32RGBA, .rgba), (kCVPixelFormatType_32ARGB, .argb),
            (kCVPixelFormatType_24RGB, .rgb), (kCVPixelFormatType_24BGR, .bgr), (kCVPixelFormatType_OneComponent8, .grey)
        ]
        for (type, format) in types {
            for gap in [0, 13] {
                let row = 3 * format.bytesPerPixel
                let given = bytes(2 * (row + gap))
                let buffer = CVBuffer(width: 3, height: 2, format: type, bytesPerRow: row + gap, bytes: given)
                let expected = try model.predict(
                    Picture(given, width: 3, height: 2, format: format, bytesPerRow: row + gap, orientation: .left))
                XCTAssertEqual(try model.predict(Picture(buffer, orientation: .left)), expected)
                XCTAssertEqual(expected.turn, [8])
                XCTAssertEqual([buffer.locks, buffer.locked], [0, 1])
            }
        }
    }

    func testEveryPixelBufferOfACameraReachesTheModel() throws {
        let model = try Echo(options: onCPU)
        let types: [(OSType, PixelFormat, [Int64])] = [
            (kCVPixelFormatType_420YpCbCr8BiPlanarFullRange, .nv12, [1, 3, 1]),
            (kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, .nv12, [2, 4, 2]),
            (kCVPixelFormatType_420YpCbCr10BiPlanarFullRange, .p010, [1, 3, 1]),
            (kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange, .p010, [2, 4, 2])
        ]
        let matrices = [kCVImageBufferYCbCrMatrix_ITU_R_601_4, kCVImageBufferYCbCrMatrix_ITU_R_709_2, nil]
        let region = Region(left: 2, top: 0, right: 6, bottom: 4)
        for (type, format, numbers) in types {
            for (matrix, number) in zip(matrices, numbers) {
                let row = 6 * format.bytesPerPixel
                let given = bytes(4 * (row + 2) + 2 * (row + 5))
                let buffer = CVBuffer(
                    width: 6, height: 4, format: type, bytesPerRow: row + 2, chromaBytesPerRow: row + 5, bytes: given)
                buffer.matrix = matrix
                let starts = [4 * (row + 2), 4 * (row + 2) + row + 5]
                let chroma = starts.flatMap { Array(given[$0..<$0 + row]) }
                let lines = [0, 1, 2, 3].map { $0 * (row + 2) }
                let luma = lines.flatMap { Array(given[$0..<$0 + row]) }
                let found = try model.predict(Picture(buffer))
                XCTAssertEqual(found.chroma, chroma)
                XCTAssertEqual(found.raw, luma)
                XCTAssertEqual(found.conversion.last, number)
                XCTAssertEqual([buffer.locks, buffer.locked], [0, 2])
                let part = try model.predict(Picture(buffer, region: region, conversion: .bt709Full))
                XCTAssertEqual(part.chromaShape, [2, 2, 2 * format.bytesPerPixel])
                XCTAssertEqual(part.conversion.last, 3)
            }
        }
    }

    func testAMatrixThatNoModelConvertsIsRefusedByName() throws {
        let model = try Echo(options: onCPU)
        func buffer(_ format: OSType, _ row: Int, _ matrix: String) -> CVBuffer {
            let buffer = CVBuffer(
                width: 2, height: 2, format: format, bytesPerRow: row, chromaBytesPerRow: 4, bytes: bytes(2 * row))
            buffer.matrix = NSString(string: matrix)
            return buffer
        }
        for matrix in ["ITU_R_2020", "SMPTE_240M_1995"] {
            let found = buffer(kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange, 4, matrix)
            XCTAssertThrowsError(try model.predict(Picture(found))) {
                guard case ModelError.invalid(let reason) = $0 else { return XCTFail("\($0)") }
                XCTAssertTrue(reason.contains("the matrix \(matrix)"), reason)
            }
            let told = try model.predict(Picture(found, conversion: .bt709Video))
            XCTAssertEqual(told.conversion.last, 4)
            let red = try model.predict(Picture(buffer(kCVPixelFormatType_32BGRA, 8, matrix)))
            XCTAssertEqual(red.conversion.last, 0)
        }
    }

    func testAPixelBufferIsUnlockedAfterARunThatFails() throws {
        let model = try Several(options: onCPU)
        let buffer = CVBuffer(width: 1, height: 1, format: kCVPixelFormatType_32BGRA, bytesPerRow: 4, bytes: bytes(4))
        XCTAssertThrowsError(try model.predict(session: Picture(buffer), output: [1])) {
            XCTAssertEqual($0 as? ModelError, .shape(tensor: "output", count: 1, shape: [1, 2]))
        }
        XCTAssertEqual([buffer.locks, buffer.locked], [0, 1])
    }

    func testAPixelBufferThatNobodyCanReadIsRefusedInWords() throws {
        let model = try Echo(options: onCPU)
        let video = CVBuffer(width: 2, height: 2, format: 0x3234_3250, bytesPerRow: 2, bytes: bytes(4))
        XCTAssertEqual(
            try refusal { _ = try model.predict(video) },
            "pixel buffers of format 242P have no pixels that a model takes: set kCVPixelBufferPixelFormatTypeKey to "
                + "kCVPixelFormatType_32BGRA, for a camera in AVCaptureVideoDataOutput.videoSettings")
        let other = CVBuffer(width: 2, height: 2, format: 33, bytesPerRow: 4, bytes: bytes(4))
        XCTAssertTrue(try refusal { _ = try model.predict(other) }.contains("format 33 have no pixels"))
        let locked = CVBuffer(width: 1, height: 1, format: kCVPixelFormatType_32BGRA, bytesPerRow: 4, bytes: bytes(4))
        locked.canBeLocked = false
        XCTAssertEqual(
            try refusal { _ = try model.predict(locked) }, "the pixel buffer cannot be locked for reading: CVReturn -6660")
        XCTAssertEqual(locked.locks, 0)
    }

    func testImagesAreDrawnAndTurnedAsTheySay() throws {
        let model = try Echo(options: onCPU)
        let given = bytes(2 * 3 * 4)
        let image = CGImage(width: 3, height: 2, bytes: given)
        for orientation in CGImagePropertyOrientation.allCases {
            let found = try model.predict(Picture(image, orientation: orientation))
            XCTAssertEqual(found.raw, given)
            XCTAssertEqual(found.turn, [Int64(orientation.rawValue)])
        }
        for orientation in UIImage.Orientation.allCases {
            let made = UIImage({ CGImage(width: 3, height: 2, bytes: bytes(24)) }, orientation: orientation)
            let found = try model.predict(made)
            XCTAssertEqual(found.raw, given)
            XCTAssertEqual("\(Orientation(orientation))", "\(orientation)")
            XCTAssertEqual(found.turn, [Orientation(orientation).number])
        }
        let region = Region(left: 1, top: 1, right: 3, bottom: 2)
        XCTAssertEqual(try model.predict(Picture(image, region: region)).raw, Array(given[16...]))
        let empty = UIImage({ nil }, orientation: .up)
        XCTAssertTrue(try refusal { _ = try model.predict(empty) }.hasPrefix("the image has no cgImage"))
        let none = CGImage(width: 0, height: 0, bytes: [])
        XCTAssertEqual(try refusal { _ = try model.predict(none) }, "an image of 0 x 0 pixels cannot be drawn")
    }

    func testAsyncTwinsGiveTheSame() async throws {
        let model = try await Classifier.load(options: onCPU)
        let given: [UInt8] = [200, 100, 50, 255]
        let expected = try now { try model.classify(Picture(given, width: 1, height: 1)) }
        let image = try await model.classify(CGImage(width: 1, height: 1, bytes: given))
        let drawn = try await model.classify(UIImage({ CGImage(width: 1, height: 1, bytes: given) }, orientation: .up))
        let buffer = CVBuffer(width: 1, height: 1, format: kCVPixelFormatType_32RGBA, bytesPerRow: 4, bytes: given)
        let read = try await model.classify(buffer)
        let picture = try await model.classify(Picture(given, width: 1, height: 1), top: 1)
        XCTAssertEqual([image, drawn, read], [expected, expected, expected])
        XCTAssertEqual(picture, Array(expected.prefix(1)))
    }
}

final class AnswerTests: XCTestCase {
    func testClassesComeBestFirstWithTheirNames() throws {
        let model = try Classifier(options: onCPU)
        let picture = try Picture([40, 200, 100, 255, 60, 100, 120, 255], width: 2, height: 1)
        let found = try model.classify(picture)
        XCTAssertEqual(
            found,
            [
                Classification(label: "green \"\\(x)\"", index: 1, score: 150),
                Classification(label: "bl\u{FC}e ", index: 2, score: 110)
            ])
        XCTAssertEqual(try model.classify(picture, top: 9).map(\.index), [1, 2, 0])
        XCTAssertEqual(try model.classify(picture, top: 1).map(\.score), [150])
    }

    func testOfEqualClassesTheFirstComesFirstAndLowOnesAreLeftOut() throws {
        let model = try Classifier(options: onCPU)
        XCTAssertEqual(try model.classify(Picture([9], width: 1, height: 1, format: .grey), top: 3), [])
        let grey = try model.classify(Picture([10], width: 1, height: 1, format: .grey), top: 3)
        XCTAssertEqual(grey.map(\.index), [0, 1, 2])
        XCTAssertEqual(grey.map(\.label), ["red", "green \"\\(x)\"", "bl\u{FC}e "])
        let some = try classificationsOf([.nan, 1, 3, 1, .infinity, 3], [], top: 9, threshold: 1)
        XCTAssertEqual(some.map(\.index), [4, 2, 5, 1, 3])
        XCTAssertEqual(Set(some.map(\.label)), [""])
    }

    func testNoNumberOfClassesIsRefusedInWords() throws {
        let model = try Classifier(options: onCPU)
        for top in [0, -1, Int.min] {
            let reason = try refusal { _ = try model.classify(Picture([9], width: 1, height: 1, format: .grey), top: top) }
            XCTAssertEqual(reason, "top is \(top), the least is 1")
            XCTAssertEqual(ModelError.invalid(reason: reason).localizedDescription, reason)
        }
    }

    func testAPredictionHasEverythingThatTheModelGives() throws {
        let model = try Several(options: onCPU)
        let picture = try Picture([200, 100, 50, 0, 20, 10, 5, 0], width: 1, height: 2, format: .bgra)
        let found = try model.predict(session: picture, output: [1, 2, 3, 4], run: 2)
        XCTAssertEqual(
            found.found,
            [
                Detection(label: "cat", index: 1, score: 0.75, box: Box(left: 1, top: 2, right: 3, bottom: 4)),
                Detection(label: "", index: 7, score: 0.5, box: Box(left: 5, top: 6, right: 7, bottom: 8))
            ])
        XCTAssertEqual(found.found[1].box.rect, CGRect(x: 5, y: 6, width: 2, height: 2))
        XCTAssertEqual(found.mask, Mask(width: 1, height: 2, classes: [200, 20], scores: [200, 20], labels: ["a", "b"]))
        XCTAssertEqual(found.text, Reading(text: "日 ß", score: 1))
        XCTAssertEqual(found.vector, [27.5, 55, 110])
        XCTAssertEqual(found.doubled, [2, 4, 6, 8])
        XCTAssertEqual(found.doubledShape, [2, 2])
        XCTAssertEqual(found.made, RgbaPicture(width: 1, height: 2, pixels: [200, 100, 50, 0, 20, 10, 5, 0]))
        let image = try XCTUnwrap(found.made.cgImage)
        XCTAssertEqual([image.width, image.height], [1, 2])
        XCTAssertEqual(image.bytes, found.made.pixels)
        XCTAssertEqual(try JSONDecoder().decode(Mask.self, from: JSONEncoder().encode(found.mask)), found.mask)
        XCTAssertEqual(readingOf([], [], ["a"]), Reading(text: "", score: 0))
    }

    func testAModelThatMobpackPutAContractAroundGivesWhatItGivesInPython() throws {
        let folder = try XCTUnwrap(ProcessInfo.processInfo.environment["MOBPACK_VALUES"])
        let data = try Data(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent("attached.scores"))
        let expected = data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        XCTAssertEqual(expected.count, 8 * 4)
        let model = try Attached(options: onCPU)
        for (number, orientation) in Orientation.allCases.enumerated() {
            let picture = try Picture(
                bytes(40 * 30 * 4), width: 40, height: 30, format: .bgra, orientation: orientation)
            let found = try model.classify(picture)
            XCTAssertEqual(found.map(\.score), found.map(\.score).sorted(by: >))
            for each in found { XCTAssertEqual(each.score, expected[4 * number + each.index], accuracy: 1e-6) }
            XCTAssertEqual(found.count, 4)
        }
    }

    func testManyThreadsGetTheAnswersToTheirOwnPictures() throws {
        let model = try Classifier(options: onCPU)
        let wrong = Counter()
        DispatchQueue.concurrentPerform(iterations: 200) { number in
            let byte = UInt8(truncatingIfNeeded: number + 10)
            let picture = try? Picture([byte, byte, byte], width: 1, height: 1, format: .rgb)
            let found = picture.flatMap { given in try? now { try model.classify(given) } }
            if found?.first?.score != Float(byte) && byte >= 10 { wrong.add(1) }
        }
        XCTAssertEqual(wrong.value, 0)
    }

    func testAClosedModelSaysSo() async throws {
        let model = try Classifier(options: onCPU)
        model.close()
        let picture = try Picture([9], width: 1, height: 1, format: .grey)
        XCTAssertThrowsError(try now { try model.classify(picture) }) {
            XCTAssertEqual($0 as? ModelError, .closed(model: "Classifier"))
        }
        do {
            _ = try await model.classify(picture)
            XCTFail("it is closed")
        } catch {
            XCTAssertEqual(error as? ModelError, .closed(model: "Classifier"))
        }
    }
}

final class TextTests: XCTestCase {
    func testTheCodePointsOfATextReachTheModel() throws {
        let model = try Spelling(options: onCPU)
        XCTAssertEqual(try model.predict("a\u{0}é😀").spelled, [0x61, 0, 0xE9, 0x1F600])
        XCTAssertEqual(try model.predict("e\u{301}").spelled, [0x65, 0x301])
        XCTAssertEqual(try model.predict("").spelled, [-1])
        XCTAssertEqual(try model.predict(String(repeating: "ab", count: 524_288)).spelled.count, 1_048_576)
    }
}

/// The values of a file that the test writes.
private func values<Value>(_ name: String, of type: Value.Type) throws -> [Value] {
    let folder = try XCTUnwrap(ProcessInfo.processInfo.environment["MOBPACK_VALUES"])
    let data = try Data(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent(name))
    return data.withUnsafeBytes { Array($0.bindMemory(to: type)) }
}

/// `numbers` cut into parts, of which each begins with its length.
private func parts(_ numbers: [Int32]) -> [[Int32]] {
    var (found, rest) = ([[Int32]](), numbers[...])
    while let count = rest.popFirst() {
        found.append(Array(rest.prefix(Int(count))))
        rest = rest.dropFirst(Int(count))
    }
    return found
}

final class EntityTests: XCTestCase {
    func testEveryAwkwardTextHasTheTokensOfTheTokenizer() throws {
        let model = try Tokens(options: onCPU)
        let texts = parts(try values("texts", of: Int32.self)).map { units in
            String(decoding: units.map { UInt16($0) }, as: UTF16.self)
        }
        let found = try texts.map { try model.predict($0).ids.map { Int32($0) } }
        XCTAssertEqual(found, parts(try values("ids", of: Int32.self)))
        XCTAssertGreaterThan(found.count, 20)
    }

    func testPartsOfATextAreRangesOfTheString() throws {
        let model = try Tagging(options: onCPU)
        let text = "😀😀1\u{E9} e\u{301}👨2😀x3\u{5D0}4!"
        let found = try model.entities(text)
        XCTAssertEqual(found.map(\.text), ["1\u{E9}", "2😀", "3\u{5D0}", "4!"])
        XCTAssertEqual(found.map { String(text[$0.range]) }, found.map(\.text))
        let units = found.map { [$0.range.lowerBound, $0.range.upperBound].map { $0.utf16Offset(in: text) } }
        XCTAssertEqual(units, [[4, 6], [11, 14], [15, 17], [17, 19]])
        XCTAssertEqual(found.map(\.label), ["one", "two \"\\\"", "größe", ""])
        XCTAssertEqual(found.map(\.score), [0.1, 0.2, 0.3, 0.4])
        XCTAssertEqual(try model.entities(""), [])
        let second = try Noting(options: onCPU).predict(other: "7ab", text: text)
        XCTAssertEqual(second.tags, found)
        XCTAssertEqual(second.copied, [0x37, 0x61, 0x62])
        let joined = "👩\u{200D}1\u{301}"
        let part = try XCTUnwrap(try model.entities(joined).first)
        XCTAssertEqual(part.text, "1\u{301}")
        XCTAssertEqual(String(joined.unicodeScalars[part.range]), part.text)
    }

    func testAsyncEntitiesAreTheSame() async throws {
        let model = try await Tagging.load(options: onCPU)
        let found = try await model.entities("😀1a")
        XCTAssertEqual(found, try now { try model.entities("😀1a") })
        XCTAssertEqual(found.map(\.text), ["1a"])
    }
}

final class TextListTests: XCTestCase {
    private func listed() throws -> [String] {
        parts(try values("listed", of: Int32.self)).map { String(decoding: $0.map { UInt16($0) }, as: UTF16.self) }
    }

    private func assertNear(_ found: [[Float]], _ name: String, line: UInt = #line) throws {
        let wanted = try values("listed.\(name)", of: Float.self)
        XCTAssertEqual(found.count, 5, line: line)
        XCTAssertEqual(found.joined().count, wanted.count, line: line)
        for (one, other) in zip(found.joined(), wanted) {
            XCTAssertEqual(one, other, accuracy: 2e-6 * max(1, abs(other)), line: line)
        }
    }

    func testEachOfSeveralTextsHasItsVector() async throws {
        let (model, texts) = (try Embedder(options: onCPU), try listed())
        try assertNear(try now { try model.embed(texts) }, "embedder")
        try assertNear(try texts.map { text in try now { try model.embed(text) } }, "embedder")
        let later = try await model.embed(texts)
        XCTAssertEqual(later, try now { try model.embed(texts) })
        let none = try await model.embed([String]())
        XCTAssertEqual(none, [])
        XCTAssertEqual(try now { try model.embed([String]()) }, [])
        model.close()
        XCTAssertThrowsError(try now { try model.embed(texts) }) {
            XCTAssertEqual($0 as? ModelError, .closed(model: "Embedder"))
        }
    }

    func testEachOfSeveralTextsHasItsClasses() throws {
        let (model, texts) = (try Topics(options: onCPU), try listed())
        func scores(_ classes: [Classification]) -> [Float] { classes.sorted { $0.index < $1.index }.map(\.score) }
        try assertNear(try model.classify(texts, top: 3).map(scores), "topics")
        try assertNear(try texts.map { scores(try model.classify($0, top: 3)) }, "topics")
        XCTAssertEqual(try model.classify(texts), try texts.map { try model.classify($0) })
        XCTAssertEqual(try model.classify(texts).map(\.count), [2, 2, 2, 2, 2])
        XCTAssertThrowsError(try model.classify(texts, top: 0))
    }

    func testSeveralPairsHaveScoresAndDocumentsAreRankedInFewRuns() async throws {
        let (model, texts) = (try Judge(options: onCPU), try listed())
        try assertNear(try now { try model.score(queries: ["the fox"], documents: texts) }.map { [$0] }, "judge")
        try assertNear(try texts.map { text in [try now { try model.score(query: "the fox", document: text) }] }, "judge")
        XCTAssertEqual(try now { try model.score(queries: [], documents: []) }, [])
        let words = "5 and 2 texts are no pairs: pass as many of each, or one"
        XCTAssertEqual(
            try refusal { _ = try now { try model.score(queries: texts, documents: Array(texts.prefix(2))) } }, words)
        let many = texts + texts + texts
        let ranked = try now { try model.rank(query: "the fox", documents: many) }
        XCTAssertEqual(ranked.map(\.index), try values("ranks", of: Int32.self).map(Int.init))
        let later = try await model.rank(query: "the fox", documents: many)
        XCTAssertEqual(later, ranked)
    }

    func testSeveralResultsOfSeveralTextsHaveARowEach() throws {
        let (model, texts) = (try RowsModel(options: onCPU), try listed())
        let rows = parts(try values("rows", of: Int32.self)).map { $0.map(Int64.init) }
        let longest = rows.map(\.count).max() ?? 0
        let found = try model.predict(texts)
        XCTAssertEqual(found.map(\.ids), rows.map { $0 + [Int64](repeating: 0, count: longest - $0.count) })
        XCTAssertEqual(found.map(\.idsShape), [[Int]](repeating: [1, longest], count: 5))
        XCTAssertEqual(found.map(\.result.count), [2, 2, 2, 2, 2])
        XCTAssertEqual(try texts.map { try model.predict($0).ids }, rows)
    }
}

final class RankingTests: XCTestCase {
    private let documents = ["b", "a", "banana", "", "😀ananas", "aa", "a"]
    private let ranked = [(2, 3), (4, 3), (5, 2), (1, 1), (6, 1), (0, 0), (3, 0)].map {
        Ranked(index: $0.0, score: Float($0.1))
    }

    func testDocumentsAreRankedBestFirst() async throws {
        let model = try Ranking(options: onCPU)
        XCTAssertEqual(try now { try model.score(query: "a", document: "banana") }, 3)
        XCTAssertEqual(try now { try model.rank(query: "a", documents: documents) }, ranked)
        XCTAssertEqual(try now { try model.rank(query: "a", documents: []) }, [])
        let later = try await model.rank(query: "a", documents: documents)
        XCTAssertEqual(later, ranked)
    }

    func testNoDocumentIsRankedAfterTheTaskWasCancelled() async throws {
        let model = try Ranking(options: onCPU)
        let many = [String](repeating: "a", count: 10_000_000)
        let task = Task { try await model.rank(query: "a", documents: many) }
        try await Task.sleep(nanoseconds: 50_000_000)
        task.cancel()
        let result = await task.result
        XCTAssertThrowsError(try result.get()) { XCTAssertTrue($0 is CancellationError, "\($0)") }
    }

    func testVectorsAreComparedAsEverywhere() throws {
        let numbers = try values("vectors", of: Float.self)
        let vectors = (0..<12).map { Array(numbers[33 * $0..<33 * ($0 + 1)]) }
        let cosines = try vectors.map { try Similarity.cosine(vectors[2], $0) }
        XCTAssertEqual(cosines, try values("cosines", of: Float.self))
        let places = try values("nearest", of: Int32.self).map(Int.init)
        let all = try Similarity.nearest(vectors[2], in: vectors, count: 99)
        XCTAssertEqual(all.map(\.index), places)
        XCTAssertEqual(all.map(\.score), places.map { cosines[$0] })
        XCTAssertEqual(try Similarity.nearest(vectors[2], in: vectors, count: 3).map(\.index), Array(places.prefix(3)))
        let odd: [[Float]] = [[.nan], [1], [0], [-0.0], [-1]]
        XCTAssertEqual(try Similarity.nearest([1], in: odd, count: 9).map(\.index), [1, 2, 3, 4, 0])
    }

    func testVectorsThatCannotBeComparedAreRefusedInWords() throws {
        XCTAssertEqual(
            try refusal { _ = try Similarity.cosine([1, 2, 3], [1, 2]) },
            "vectors of 3 and 2 numbers cannot be compared")
        XCTAssertEqual(
            try refusal { _ = try Similarity.nearest([1], in: [], count: 0) },
            "count is 0, the least is 1")
    }
}

final class SoundTests: XCTestCase {
    func testARecordingReachesTheModelMomentByMoment() throws {
        let model = try Hearing(options: onCPU)
        let found = try model.predict(Sound([0.5, -0.25, 1, -1], rate: 44100, channels: 2))
        XCTAssertEqual(found.heard, [16384, -8192, 32767, -32768])
        XCTAssertEqual(found.heardShape, [2, 2])
        XCTAssertEqual(found.speed, [44100])
        let whole: [Int16] = [1, -2, 32767, -32768]
        XCTAssertEqual(try model.predict(Sound(whole, rate: 8000)).heard, whole)
        XCTAssertEqual(try model.predict(Sound(whole, rate: 8000)).heardShape, [4, 1])
        let loud: [Float] = [.nan, .infinity, -.infinity, 7, 1.5 / 32768, -1.5 / 32768, 0.4 / 32768]
        XCTAssertEqual(try model.predict(Sound(loud, rate: 8000)).heard, [0, 32767, -32768, 32767, 2, -1, 0])
        XCTAssertEqual(try Sound(whole, rate: 8000).samples, whole.map { Float($0) / 32768 })
    }

    func testASoundThatAModelMakesIsAFileThatPythonWritesAlike() throws {
        let model = try Player(options: onCPU)
        let steps: [Float] = [0, 0.5, -0.5, 1.5, -1.5, 32766.5, -32767.5, 1e6, -1e6, .nan]
        let played = try model.render(Sound(steps.map { $0 / 32768 }, rate: 8000, channels: 2))
        XCTAssertEqual(played.rate, 44100)
        XCTAssertEqual(played.frames, 5)
        XCTAssertEqual(played.samples.last, 0)
        XCTAssertEqual(Array(played.toWav()), try values("wav", of: UInt8.self))
        let whole = try Sound([0, 1, 0, 2] as [Int16], rate: 44100, channels: 2).toWav()
        XCTAssertEqual(Array(whole.dropFirst(44)), [0, 0, 1, 0, 0, 0, 2, 0])
        let nothing = try model.render(Sound(steps, rate: 9000, channels: 2))
        XCTAssertEqual(nothing.frames, 0)
        XCTAssertEqual(nothing.toWav().count, 44)
        XCTAssertEqual(try refusal { _ = try model.render(nothing) }, "the sound has no samples")
    }

    func testWhatIsNoRecordingIsRefusedInWords() throws {
        let model = try Hearing(options: onCPU)
        XCTAssertEqual(try refusal { _ = try model.predict(Sound([Float](), rate: 8000)) }, "the sound has no samples")
        XCTAssertEqual(try refusal { _ = try Sound([1, 2, 3] as [Int16], rate: 8000, channels: 2) }, "3 samples are no multiple of 2 channels")
        XCTAssertEqual(try refusal { _ = try Sound([1] as [Float], rate: 0) }, "a sound cannot have a rate of 0: it must be from 1000 to 768000")
        XCTAssertEqual(try refusal { _ = try Sound([1] as [Float], rate: 8000, channels: 0) }, "a sound cannot have 0 channels")
    }
}

final class StateTests: XCTestCase {
    private func scores(_ found: [Classification]) -> [Float] {
        found.sorted { $0.index < $1.index }.map(\.score)
    }

    func testWhatAModelRemembersIsCarriedUntilItForgets() throws {
        let model = try ListenerModel(options: onCPU)
        let sound = try Sound([1, 2] as [Float], rate: 8000)
        XCTAssertEqual(scores(try model.classify(sound)), [3, 8000])
        XCTAssertEqual(scores(try model.classify(sound)), [6, 16000])
        model.reset()
        XCTAssertEqual(scores(try model.classify(sound)), [3, 8000])
        let other = try ListenerModel(options: onCPU)
        XCTAssertEqual(scores(try other.classify(sound)), [3, 8000])
    }

    func testACallThatFailsChangesNothing() throws {
        let model = try ListenerModel(options: onCPU)
        let sound = try Sound([1] as [Float], rate: 8000)
        XCTAssertEqual(scores(try model.classify(sound)), [1, 8000])
        XCTAssertThrowsError(try model.classify(sound, top: 0))
        XCTAssertEqual(scores(try model.classify(sound)), [2, 16000])
    }

    func testCallsOfManyThreadsComeOneAfterTheOther() async throws {
        var options = onCPU
        options.queue = 100
        let model = try ListenerModel(options: options)
        let sound = try Sound([1] as [Float], rate: 8000)
        DispatchQueue.concurrentPerform(iterations: 100) { _ in _ = try? now { try model.classify(sound) } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { _ = try await model.classify(sound) } }
            try await group.waitForAll()
        }
        let last = try await model.classify(sound)
        XCTAssertEqual(scores(last), [201, 1_608_000])
    }

    func testATaskThatIsCancelledChangesNothing() async throws {
        let model = try ListenerModel(options: onCPU)
        let sound = try Sound([1] as [Float], rate: 8000)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await model.classify(sound)
        }
        let result = await task.result
        XCTAssertThrowsError(try result.get()) { XCTAssertTrue($0 is CancellationError, "\($0)") }
        let next = try await model.classify(sound)
        XCTAssertEqual(scores(next), [1, 8000])
    }
}

/// A counter for all threads.
private final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0

    var value: Int { lock.withLock { count } }

    func add(_ more: Int) {
        lock.withLock { count += more }
    }
}

final class PipelineTests: XCTestCase {
    /// Notes what models of a pipeline do.
    private final class Watching: ModelObserver, Sendable {
        let events = Shared<[String]>([])
        let atRun = Shared<[String: @Sendable () -> Void]>([:])
        let atLoad = Shared<[String: @Sendable () -> Void]>([:])

        func onLoad(_ event: LoadEvent) { atLoad.inTurn { $0[event.model] }?() }

        func onRun(_ event: RunEvent) {
            events.change { $0.append(event.model) }
            atRun.inTurn { $0[event.model] }?()
        }

        func onRelease(_ event: ReleaseEvent) { events.change { $0.append("-\(event.model)") } }

        func taken() -> [String] {
            events.inTurn { events in
                defer { events = [] }
                return events
            }
        }
    }

    private let small = (try? values("small", of: UInt8.self)) ?? []

    private func rows(_ count: Int) throws -> Picture {
        try Picture(Array(small.prefix(16 * count)), width: 4, height: count)
    }

    private func watched() -> (Watching, Options) {
        let watching = Watching()
        var options = onCPU
        options.observer = watching
        return (watching, options)
    }

    private func line(_ item: ScanItem, hasChroma: Bool) -> String {
        let (found, seen) = (item.box, item.seen)
        let corners = [found.box.left, found.box.top, found.box.right, found.box.bottom]
        let words = corners.map { String(format: "%.1f", $0) }.joined(separator: " ")
        func listed(_ numbers: [UInt8]) -> String { numbers.map(String.init).joined(separator: " ") }
        return [
            "\(words) \(String(format: "%.6f", found.score))", "\(seen.size) \(seen.turned[0])", listed(seen.seen),
            hasChroma ? listed(seen.tint) : "-",
            item.colour.map { $0.map { String(format: "%.6f", $0) }.joined(separator: " ") } ?? "null"
        ].joined(separator: " | ")
    }

    func testItemsAreThoseOfPython() async throws {
        let scan = try await Scan.load(options: onCPU)
        let wanted = try JSONDecoder().decode([[[String]]].self, from: Data(values("items", of: UInt8.self)))
        XCTAssertEqual(wanted.count, Orientation.allCases.count)
        for (orientation, items) in zip(Orientation.allCases, wanted) {
            let bytes = Array(small.prefix(168))
            let region = Region(left: 1, top: 0, right: 6, bottom: 6)
            let stored = try Picture(
                bytes, width: 7, height: 6, bytesPerRow: 28, orientation: orientation, region: region)
            let camera = try Picture(
                Array(small.prefix(72)), width: 8, height: 6, format: .nv21, orientation: orientation)
            let waited = try await scan.run(stored)
            XCTAssertEqual(waited.map { line($0, hasChroma: false) }, items[0], "\(orientation)")
            let found = try now { try scan.run(camera) }
            XCTAssertEqual(found.map { line($0, hasChroma: true) }, items[1], "\(orientation)")
        }
    }

    func testAPixelBufferHasTheItemsOfItsBytes() async throws {
        let scan = try Scan(options: onCPU)
        let bytes = Array(small.prefix(168))
        let buffer = CVBuffer(width: 7, height: 6, format: kCVPixelFormatType_32RGBA, bytesPerRow: 28, bytes: bytes)
        let found = try now { try scan.run(Picture(buffer, orientation: .right)) }
        let wanted = try await scan.run(Picture(bytes, width: 7, height: 6, orientation: .right))
        XCTAssertEqual(found, wanted)
        XCTAssertEqual(found.count, 6)
        XCTAssertGreaterThan(buffer.locked, 6)
    }

    func testBoxesAreCutOutAsInPython() throws {
        let places = try values("places", of: Float.self)
        let cuts = try values("cuts", of: Int32.self).map(Int.init)
        XCTAssertGreaterThan(places.count, 0)
        for (pixels, format) in [PixelFormat.rgba, .p010].enumerated() {
            for place in 0..<places.count / 7 {
                let (width, height) = (Int(places[7 * place]) + 4, Int(places[7 * place + 1]) + 4)
                let edges = places[(7 * place + 3)..<(7 * place + 7)].map { $0 }
                let bytes = [UInt8](repeating: 0, count: 4 * width * height)
                func picture(_ region: Region) throws -> Picture {
                    try Picture(
                        bytes, width: width, height: height, format: format, bytesPerRow: width * format.bytesPerPixel,
                        orientation: XCTUnwrap(Orientation(rawValue: Int(places[7 * place + 2]))), region: region)
                }
                let whole = try picture(Region(left: 2, top: 4, right: width - 2, bottom: height))
                let box = Box(left: edges[0], top: edges[1], right: edges[2], bottom: edges[3])
                let cut = cuts[(4 * (pixels * places.count / 7 + place))...]
                let first = cut.startIndex
                let wanted = try picture(
                    Region(
                        left: cut[first] + 2, top: cut[first + 1] + 4, right: cut[first + 2] + 2,
                        bottom: cut[first + 3] + 4))
                XCTAssertEqual("\(Picture(box, of: whole))", "\(wanted)", "\(format) \(edges) \(place)")
            }
        }
    }

    func testARunEndsEarly() async throws {
        let (watching, options) = watched()
        let scan = try await Scan.load(options: options)
        do {
            _ = try await scan.run(rows(9))
            XCTFail("nine rows")
        } catch let ModelError.runtime(message, _) {
            XCTAssertEqual(message, "pipeline `scan`: 9 boxes, and it takes 8 at most")
        }
        XCTAssertEqual(watching.taken(), ["detector"])

        let cancelling = Shared<Task<[ScanItem], any Error>?>(nil)
        let isReady = DispatchSemaphore(value: 0)
        watching.atRun.change {
            $0["finder"] = {
                isReady.wait()
                cancelling.inTurn { $0 }?.cancel()
            }
        }
        let picture = try rows(6)
        let task = Task { try await scan.run(picture) }
        cancelling.change { $0 = task }
        isReady.signal()
        let result = await task.result
        XCTAssertThrowsError(try result.get()) { XCTAssertTrue($0 is CancellationError, "\($0)") }
        XCTAssertEqual(watching.taken(), ["detector", "probe", "finder"])
        watching.atRun.change { $0 = [:] }
        let again = try await scan.run(picture)
        XCTAssertEqual(again.count, 6)
    }

    func testModelsAreClosedTheLastFirst() async throws {
        let (watching, options) = watched()
        let scan = try await Scan.load(options: options)
        scan.close()
        scan.close()
        XCTAssertEqual(watching.taken(), ["-finder", "-probe", "-detector"])
        let picture = try rows(6)
        XCTAssertThrowsError(try now { try scan.run(picture) }) {
            XCTAssertEqual($0 as? ModelError, .closed(model: "Detector"))
        }
    }

    func testModelsBeforeOneThatFailsAreClosed() async throws {
        let (watching, options) = watched()
        let cancelling = Shared<Task<Scan, any Error>?>(nil)
        let isReady = DispatchSemaphore(value: 0)
        watching.atLoad.change {
            $0["probe"] = {
                isReady.wait()
                cancelling.inTurn { $0 }?.cancel()
            }
        }
        let task = Task { try await Scan.load(options: options) }
        cancelling.change { $0 = task }
        isReady.signal()
        let result = await task.result
        XCTAssertThrowsError(try result.get()) { XCTAssertTrue($0 is CancellationError, "\($0)") }
        XCTAssertEqual(watching.taken(), ["-probe", "-detector"])

        let model = Folder.packaged.url.appendingPathComponent("finder")
        let gone = Folder.packaged.url.appendingPathComponent("gone")
        watching.atLoad.change { $0["probe"] = { try? FileManager.default.moveItem(at: model, to: gone) } }
        defer { try? FileManager.default.moveItem(at: gone, to: model) }
        XCTAssertThrowsError(try now { try Scan(options: options) }) {
            guard case .missing = $0 as? ModelError else { return XCTFail("\($0)") }
        }
        XCTAssertEqual(watching.taken(), ["-probe", "-detector"])
    }
}
