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
        let voice = try Data(contentsOf: folder.appendingPathComponent("voice"))
        let samples = voice.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
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
        let noisy = try Data(contentsOf: folder.appendingPathComponent("noisy"))
            .withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
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
