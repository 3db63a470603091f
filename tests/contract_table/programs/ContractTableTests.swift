import Foundation
import XCTest

@testable import ModelsKit

/// Asks each model what the table of benchmarks/results/contract_table.md asks.
final class ContractTableTests: XCTestCase {
    private let folder = URL(fileURLWithPath: ProcessInfo.processInfo.environment["CASES"]!)

    func testAnswers() throws {
        let text = try String(contentsOf: folder.appendingPathComponent("cases"), encoding: .utf8)
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let options = Options(threads: 1)
        let classifier = try Classifier(options: options)
        let finder = try Finder(options: options)
        let scribe = try ScribeModel(options: options)
        let poser = try Poser(options: options)
        let spotter = try Spotter(options: options)
        let cutter = try Cutter(options: options)
        let enlarger = try Enlarger(options: options)
        for line in lines {
            switch line[1] {
            case "classifier":
                let found = try classifier.classify(picture(line), top: 1000)
                let scores = found.sorted { $0.index < $1.index }.map(\.score)
                answer(line[0], found.prefix(3).map(\.label).joined(separator: "|"), scores)
            case "finder":
                let found = try finder.detect(picture(line))
                let numbers = found.flatMap { [$0.box.left, $0.box.top, $0.box.right, $0.box.bottom, $0.score] }
                answer(line[0], "\(found.count)", numbers)
            case "poser":
                let found = try poser.locate(picture(line))
                answer(line[0], found.map(\.label).joined(separator: ", "), found.flatMap { [$0.x, $0.y, $0.score] })
            case "spotter":
                let found = try spotter.segment(picture(line))
                answer(line[0], "\(found.count) objects", found.flatMap(numbers))
            case "cutter": try rendered(line[0], cutter.render(picture(line)))
            case "enlarger": try rendered(line[0], enlarger.render(picture(line)))
            default:
                let reading = try scribe.read(picture(line))
                answer(line[0], reading.text, [reading.score])
            }
        }
        try read(options)
        try hear(options)
    }

    private func read(_ options: Options) throws {
        let meaning = try Meaning(options: options)
        let tokens = try Tokens(options: options)
        let lines = try String(contentsOf: folder.appendingPathComponent("texts"), encoding: .utf8)
        for line in lines.split(separator: "\n").map({ $0.split(separator: " ").map(String.init) }) {
            let text = String(decoding: line.dropFirst(2).map { UInt16($0)! }, as: UTF16.self)
            let numbers = try line[1] == "meaning" ? meaning.embed(text) : tokens.predict(text).ids.map { Float($0) }
            answer(line[0], "", numbers)
        }
    }

    private func hear(_ options: Options) throws {
        let model = try ListenerModel(options: options)
        let samples = try floats("voice")
        let numbers = ProcessInfo.processInfo.environment["SOUND"]!.split(separator: "x").map { Int($0)! }
        let scores = try stride(from: 0, to: samples.count, by: numbers[1]).map { start in
            try model.classify(Sound(Array(samples[start..<start + numbers[1]]), rate: numbers[0]))[0].score
        }
        answer("voice", "", scores)
        let values = try Tone(options: options).estimate(Sound(samples, rate: numbers[0]))
        let names = values.names.sorted()
        answer(
            "tone", names.map { "\($0) \(values.units[$0]!)" }.joined(separator: " "),
            names.flatMap { values.series[$0]! })
        let cleaner = try Cleaner(options: options)
        let noisy = try floats("noisy")
        let cleaned = try stride(from: 0, to: noisy.count, by: 512).map { start in
            try cleaner.render(Sound(Array(noisy[start..<start + 512]), rate: numbers[0]))
        }
        answer("cleaned", "\(cleaned[0].rate) \(cleaned[0].channels)", cleaned.flatMap(\.samples))
    }

    private func numbers(_ each: Instance) -> [Float] {
        let (box, mask) = (each.box, each.mask)
        let area = [mask.left, mask.top, mask.width, mask.height].map { Float($0) }
        let pixels = mask.places.filter { $0 == 1 }.count
        return [box.left, box.top, box.right, box.bottom, each.score] + area + [Float(pixels) / area[2]]
    }

    private func floats(_ name: String) throws -> [Float] {
        try Data(contentsOf: folder.appendingPathComponent(name)).withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    }

    private typealias Found = [(words: String, number: Float)]

    /// Each line of the file `streams` has a rate, channels, and how many frames each push has.
    func testEveryStream() async throws {
        let model = try await ListenerModel.load(options: Options(threads: 1))
        let voice = try floats("voice")
        let text = try String(contentsOf: folder.appendingPathComponent("streams"), encoding: .utf8)
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").map { Int($0)! } }
        let found = try await withThrowingTaskGroup(of: (Int, Found).self) { group in
            for (place, line) in lines.enumerated() {
                group.addTask { (place, try await Self.pushed(model, voice, line)) }
            }
            return try await group.reduce(into: [Int: Found]()) { $0[$1.0] = $1.1 }
        }
        let all = lines.indices.flatMap { found[$0]! } + (try await Self.overflown(model, voice))
        let words = all.map(\.words) + Self.misused(model, voice)
        answer("streamed", words.joined(separator: " "), all.map(\.number))
    }

    private static func pushed(_ model: ListenerModel, _ voice: [Float], _ line: [Int]) async throws -> Found {
        let (rate, channels) = (line[0], line[1])
        let stream = try model.stream()
        async let reading = collected(stream)
        var start = 0
        for cut in line.dropFirst(2) {
            let part = Array(voice[start..<start + cut * channels])
            try stream.push(Sound(part, rate: rate, channels: channels))
            start += cut * channels
            if cut % 3 == 0 { await Task.yield() }
        }
        stream.flush()
        let found = try await reading
        // The stream is as good as new.
        stream.reset()
        try stream.push(Sound(Array(voice[..<start]), rate: rate, channels: channels))
        stream.flush()
        let again = try await collected(stream)
        XCTAssertEqual(again.map(\.words), found.map(\.words))
        XCTAssertEqual(again.map(\.number), found.map(\.number))
        stream.close()
        return found
    }

    private static func collected(_ stream: SoundStream<[Classification]>) async throws -> Found {
        var found: Found = []
        for try await each in stream.results {
            found.append(("\(each.start)-\(each.end)+\(each.dropped)", each.result[0].score))
        }
        return found
    }

    /// A queue of half a second that nobody reads.
    private static func overflown(_ model: ListenerModel, _ voice: [Float]) async throws -> Found {
        let stream = try model.stream(queueMs: 500, overflow: .dropOldest)
        for start in stride(from: 0, to: 24_000, by: 1000) {
            try stream.push(Sound(Array(voice[start..<start + 1000]), rate: 16_000))
        }
        stream.flush()
        return try await collected(stream)
    }

    /// What is wrong, by a word of the error's.
    private static func misused(_ model: ListenerModel, _ voice: [Float]) -> [String] {
        let samples = Array(voice[..<1000])
        let calls: [(String, (SoundStream<[Classification]>) throws -> Void)] = [
            ("began", { try $0.push(Sound(samples, rate: 8000)) }),
            ("channels", { try $0.push(Sound(samples, rate: 16_000, channels: 2)) }),
            ("finite", { try $0.push(Sound([0, Float.nan], rate: 16_000)) }),
            ("full", {
                do { try $0.push(Sound(Array(voice[..<20_000]), rate: 16_000)) } catch {
                    XCTAssertEqual(error as? ModelError, .busy(model: "ListenerModel"))
                    throw error
                }
            }),
            ("flushed", { $0.flush(); try $0.push(Sound(samples, rate: 16_000)) }),
            ("closed", { $0.close(); try $0.push(Sound(samples, rate: 16_000)) }),
            ("least", { _ in _ = try model.stream(queueMs: 0) }),
            ("takes", { _ in try model.stream(queueMs: 20).push(Sound(samples, rate: 16_000)) }),
        ]
        return calls.map { word, call in
            do {
                let stream = try model.stream(queueMs: 1000)
                try stream.push(Sound(samples, rate: 16_000))
                try call(stream)
                return "nothing"
            } catch {
                return "\(error)".contains(word) ? word : "\(error)"
            }
        }
    }

    /// Each 37th byte, which is of red, green, blue and alpha in turn.
    private func rendered(_ name: String, _ made: RgbaPicture) {
        let numbers = stride(from: 0, to: made.pixels.count, by: 37).map { Float(made.pixels[$0]) }
        answer(name, "\(made.width) x \(made.height) pixels", numbers)
    }

    private func picture(_ line: [String]) throws -> Picture {
        let numbers = line.dropFirst(3).map { Int($0)! }
        return try Picture(
            Data(contentsOf: folder.appendingPathComponent(line[0])),
            width: numbers[0], height: numbers[1], format: PixelFormat(rawValue: line[2].lowercased())!,
            bytesPerRow: numbers[2], orientation: Orientation(rawValue: numbers[3])!,
            region: Region(left: numbers[4], top: numbers[5], right: numbers[6], bottom: numbers[7]),
            conversion: YuvConversion.allCases[numbers[8]])
    }

    private func answer(_ name: String, _ words: String, _ numbers: [Float]) {
        print("ANSWER \(name) words=\(words)")
        print("ANSWER \(name) numbers=\(numbers.map { "\($0)" }.joined(separator: " "))")
    }
}
