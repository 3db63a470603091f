// Loads a model with lists of the package's files that are right or wrong. It prints what came of each.

import Foundation

@testable import ModelsKit

/// Prints an object of JSON.
func show(_ values: [String: Any]) {
    let text = try? JSONSerialization.data(withJSONObject: values, options: .sortedKeys)
    print(String(decoding: text ?? Data(), as: UTF8.self))
}

func tell(_ name: String, _ source: Source, _ options: Options) {
    do {
        let model = try Scorer(from: source, options: options)
        show(["case": name, "found": "opened by \(model.provider)"])
    } catch ModelError.untrusted(let problem, let reason) {
        show(["case": name, "found": problem.rawValue, "words": reason])
    } catch {
        show(["case": name, "found": Mirror(reflecting: error).children.first?.label ?? "", "words": "\(error)"])
    }
}

/// The least time, in milliseconds, that the check of the list takes.
func duration() -> Double {
    let found = (0..<200).map { _ in
        let began = Date()
        _ = try? SignedList.packaged()
        return Date().timeIntervalSince(began)
    }
    return (found.min() ?? 0) * 1000
}

let words = CommandLine.arguments
let (lists, own, stranger, folder) = (words[1], words[2], words[3], words[4])
let place = Folder.packaged.url.appendingPathComponent("models.sig")
let plain = Options(providers: [])
let names = try FileManager.default.contentsOfDirectory(atPath: lists).sorted()
for name in names {
    try? FileManager.default.removeItem(at: place)
    let list = URL(fileURLWithPath: lists).appendingPathComponent(name)
    if !name.hasSuffix(".none") { try FileManager.default.copyItem(at: list, to: place) }
    tell(list.deletingPathExtension().lastPathComponent, .bundled, plain)
}
try? FileManager.default.removeItem(at: place)
try FileManager.default.copyItem(at: URL(fileURLWithPath: lists).appendingPathComponent(names[0]), to: place)
tell("own", .file(URL(fileURLWithPath: own)), plain)
tell("own stranger", .file(URL(fileURLWithPath: stranger)), plain)
tell("folder", .folder(URL(fileURLWithPath: folder)), plain)
let damaged = Folder.packaged.url.appendingPathComponent(words[5])
var content = try Data(contentsOf: damaged)
content[content.count - 1] ^= 1
try FileManager.default.removeItem(at: damaged)
try content.write(to: damaged)
tell("damaged", .bundled, plain)
show(["case": "milliseconds", "found": duration()])
