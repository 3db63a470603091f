// Loads a model on Core ML's stand-in, and tells what lies among the folders in which it compiles.

import Foundation

@testable import CompiledNetsKit

func show(_ name: String, _ value: Any) {
    print("fact", name, value, separator: "\t")
}

let cache = CoreMLOptions.defaultCacheDirectory!.appendingPathComponent("linear")

/// Files in the folders of the model.
func files() -> [String] {
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: cache.path)) ?? []
    return folders.sorted().flatMap { name in
        let found = (try? FileManager.default.contentsOfDirectory(atPath: cache.appendingPathComponent(name).path)) ?? []
        return found.sorted().map { "\(name.prefix(4))/\($0)" }
    }
}

let model = try Linear(options: Options(providers: [.coreML]))
show("provider", model.provider.rawValue)
show("fallbacks", model.fallbacks)
show("files", files().map { $0.suffix(8) })

// A release is tried beside the model, which the release does not know.
var other = Linear.files
other.files = other.files.map { file in
    let resource = Resource(
        path: file.resource.path, sha256: String(repeating: "b", count: 64), endsSha256: "b", sizeBytes: 1)
    return ModelFile(settings: file.settings, providers: file.providers, resource: resource)
}
let stale = cache.appendingPathComponent(String(repeating: "a", count: 64) + "-1.0.0")
try FileManager.default.createDirectory(at: stale, withIntermediateDirectories: true)
try Data().write(to: stale.appendingPathComponent("compiled"))
_ = CoreMLOptions().settings(for: other.files[0], of: other, runtime: model.info.onnxRuntimeVersion)
show("files later", files().map { $0.suffix(8) })
show("stale", FileManager.default.fileExists(atPath: stale.path))
