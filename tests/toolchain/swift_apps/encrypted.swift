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

let words = CommandLine.arguments
let key = try Data(contentsOf: URL(fileURLWithPath: words[1]))
let files = URL(fileURLWithPath: words[2])
let keys: Keys = { id in
    guard id == "models-1" else { throw NoKey() }
    return key
}
tell("bundled", .bundled, keys)
tell("no keys", .bundled, nil)
tell("another key", .bundled, { _ in Data(count: 32) })
tell("a short key", .bundled, { _ in Data(count: 16) })
tell("no such key", .bundled, { _ in throw NoKey() })
tell("folder", .folder(URL(fileURLWithPath: words[3])), keys)
tell("pack", .assetPack { URL(fileURLWithPath: words[3]) }, keys)
tell("no pack", .assetPack { throw NoKey() }, keys)
for name in try FileManager.default.contentsOfDirectory(atPath: files.path).sorted() {
    tell(name, .file(files.appendingPathComponent(name)), keys)
}
