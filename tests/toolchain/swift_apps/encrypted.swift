// Loads encrypted models, right ones and changed ones, with right keys, wrong ones and none. It prints what came of each.

import Foundation

@testable import ModelsKit

/// Prints an object of JSON.
func show(_ values: [String: Any]) {
    let text = try? JSONSerialization.data(withJSONObject: values, options: .sortedKeys)
    print(String(decoding: text ?? Data(), as: UTF8.self))
}

typealias Keys = @Sendable (String) throws -> Data

struct NoKey: Error, CustomStringConvertible {
    var description: String { "no key here" }
}

func tell(_ name: String, _ source: Source, _ keys: Keys?) {
    do {
        let model = try Scorer(from: source, options: Options(providers: [], keys: keys))
        var input = Scorer.Input()
        for index in input.x.indices { input.x[index] = Float(index) / 64 }
        let sum = try model.run(input).y.reduce(0, +)
        show(["case": name, "found": "opened", "sum": sum, "file": model.info.file])
    } catch {
        show(["case": name, "found": Mirror(reflecting: error).children.first?.label ?? "", "words": "\(error)"])
    }
}

/// Opens the vectors of all languages; nil for one that is refused.
func opened(_ sealed: URL) throws -> Data? {
    let key = try Data(contentsOf: sealed.deletingPathExtension().appendingPathExtension("key"))
    do {
        let bytes = try Data(contentsOf: sealed) as NSData
        return try SealedFile(bytes, sealed.path)?.opened(with: key) as Data?
    } catch is ModelError {
        return nil
    }
}

func vectors(_ folder: URL) throws {
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    var (openedFiles, refused, wrong) = (0, 0, [String]())
    for sealed in files where sealed.pathExtension == "sealed" {
        let found = try opened(sealed)
        let plain = try? Data(contentsOf: sealed.deletingPathExtension().appendingPathExtension("plain"))
        if found == nil { refused += 1 } else { openedFiles += 1 }
        if found != plain { wrong.append(sealed.lastPathComponent) }
    }
    show(["case": "vectors", "opened": openedFiles, "refused": refused, "wrong": wrong])
}

let words = CommandLine.arguments
try vectors(URL(fileURLWithPath: words[4]))
let key = try Data(contentsOf: URL(fileURLWithPath: words[1]))
let files = URL(fileURLWithPath: words[2])
let keys: Keys = { id in
    guard id == "models-1" else { throw NoKey() }
    return key
}
func release() throws {
    let asked = Shared(0)
    let counted: Keys = { id in
        asked.change { $0 += 1 }
        return try keys(id)
    }
    let model = try Scorer(options: Options(providers: [], keys: counted))
    _ = try model.run(Scorer.Input())
    let first = asked.inTurn { $0 }
    MemoryPressure.shared.tell()
    _ = try model.run(Scorer.Input())
    show(["case": "released", "found": "opened", "asked at first": first, "asked": asked.inTurn { $0 } - first])
}

try release()
tell("bundled", .bundled, keys)
tell("no keys", .bundled, nil)
tell("another key", .bundled, { _ in Data(repeating: 1, count: 32) })
tell("a key of zeros", .bundled, { _ in Data(count: 32) })
tell("a short key", .bundled, { _ in Data(count: 16) })
tell("no such key", .bundled, { _ in throw NoKey() })
tell("folder", .folder(URL(fileURLWithPath: words[3])), keys)
tell("pack", .assetPack { URL(fileURLWithPath: words[3]) }, keys)
tell("no pack", .assetPack { throw NoKey() }, keys)
for name in try FileManager.default.contentsOfDirectory(atPath: files.path).sorted() {
    tell(name, .file(files.appendingPathComponent(name)), keys)
}
