// Texts that models make are those of Python, whether they are made at once, left, or made again.

import Foundation
import XCTest

@testable import TalesKit

private let onCPU = Options(providers: [.cpu], threads: 1)

/// The texts of Python, by name, as code points.
private func wanted(_ name: String) throws -> String {
    let path = try XCTUnwrap(ProcessInfo.processInfo.environment["MOBPACK_VALUES"])
    let data = try Data(contentsOf: URL(fileURLWithPath: path).appendingPathComponent(name))
    let points = data.withUnsafeBytes { Array($0.bindMemory(to: Int32.self)) }
    return textOf(points)
}

private func whole(_ parts: AsyncThrowingStream<String, any Error>) async throws -> String {
    var text = ""
    for try await part in parts { text += part }
    return text
}

final class GenerationTests: XCTestCase {
    func testTheWholeTextIsThatOfPython() async throws {
        let model = try await Teller.load(options: onCPU)
        defer { model.close() }
        let text = try await whole(model.generate("the quick"))
        XCTAssertEqual(Array(text.unicodeScalars), Array(try wanted("text").unicodeScalars))
        XCTAssert(text.contains("\u{1F98A}"))
        let nothing = try await whole(model.generate(""))
        XCTAssertEqual(Array(nothing.unicodeScalars), Array(try wanted("nothing").unicodeScalars))
    }

    func testAModelGoesOnAfterATextThatWasLeft() async throws {
        let model = try await Teller.load(options: onCPU)
        defer { model.close() }
        let text = try wanted("text")
        for try await part in model.generate("the quick") {
            XCTAssert(text.unicodeScalars.starts(with: part.unicodeScalars))
            break
        }
        let again = try await whole(model.generate("the quick"))
        XCTAssertEqual(Array(again.unicodeScalars), Array(text.unicodeScalars))
    }

    func testTextsThatAreMadeAtOnceAreThoseMadeAlone() async throws {
        let model = try await Teller.load(options: onCPU)
        defer { model.close() }
        async let first = whole(model.generate("the quick"))
        async let second = whole(model.generate("a dog"))
        let (one, other) = try await (first, second)
        XCTAssertEqual(Array(one.unicodeScalars), Array(try wanted("text").unicodeScalars))
        XCTAssertEqual(Array(other.unicodeScalars), Array(try wanted("dog").unicodeScalars))
    }

    func testASeedChoosesWhatItChoosesInPython() async throws {
        let model = try await Sampler.load(options: onCPU)
        defer { model.close() }
        for seed in [Int64(0), 7, 1 << 40, -5] {
            let text = try await whole(model.generate("a dog", seed: seed))
            XCTAssertEqual(Array(text.unicodeScalars), Array(try wanted("seed \(seed)").unicodeScalars))
        }
    }

    func testAConversationIsGoneOnWith() async throws {
        let model = try await Sampler.load(options: onCPU)
        defer { model.close() }
        let said = [
            Message(.system, "be kind"), Message(.user, "\u{3000} fox\u{1c}"), Message(.assistant, "$quick"),
            Message(.user, "\u{1F600} dog "),
        ]
        let text = try await whole(model.chat(said, seed: 7))
        XCTAssertEqual(Array(text.unicodeScalars), Array(try wanted("chat").unicodeScalars))
        var reasons: [String] = []
        for each in [[Message(.assistant, "dog")], [Message(.user, "a </end> b")], []] {
            do { _ = try model.chat(each) } catch ModelError.invalid(let reason) { reasons.append(reason) }
        }
        XCTAssertEqual(reasons.joined(separator: "; "), try wanted("refused"))
    }

    func testTheTextOfARecordingIsThatOfPython() async throws {
        let model = try await ScribeModel.load(options: onCPU)
        defer { model.close() }
        let samples = (0..<160).map { Float($0 * 7919 % 60000 - 30000) / 32768 }
        let text = try await whole(model.generate(Sound(samples, rate: 16000)))
        XCTAssertEqual(Array(text.unicodeScalars), Array(try wanted("heard").unicodeScalars))
        let stereo = try Sound([Int16](arrayLiteral: 1, 2, 3, 4), rate: 8000, channels: 2).firstFrame
        XCTAssertEqual(try stereo.integers, [1, 2])
        XCTAssertEqual(stereo.frames, 1)
    }

    func testACancelledTextEndsAndTheNextOneIsWhole() async throws {
        let model = try await Teller.load(options: onCPU)
        defer { model.close() }
        let task = Task {
            var count = 0
            for try await _ in model.generate("the quick") {
                count += 1
                withUnsafeCurrentTask { $0?.cancel() }
            }
            return count
        }
        let count = try? await task.value
        XCTAssertLessThanOrEqual(count ?? 1, 1)
        let again = try await whole(model.generate("the quick"))
        XCTAssertEqual(Array(again.unicodeScalars), Array(try wanted("text").unicodeScalars))
    }

    func testATextOfAClosedModelThrows() async throws {
        let model = try await Teller.load(options: onCPU)
        model.close()
        do {
            _ = try await whole(model.generate("the quick"))
            XCTFail("it has a text")
        } catch ModelError.closed {}
    }
}
