// One scenario a process: ONNX Runtime's environment is made once.

import CSmallNetsKit
import Foundation
import SmallNetsKit

func threads() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
}

/// Loads and runs the model, and prints by how many threads that grew the process.
func show(_ name: String, _ options: Options) throws -> Linear {
    let before = threads()
    let model = try Linear(options: options)
    _ = try model.run(Linear.Input())
    print(name, "threads", threads() - before)
    return model
}

/// What another library does that uses ONNX Runtime: makes its environment, without threads for sessions.
func makeEnvironment() {
    guard let api = OrtGetApiBase().pointee.GetApi(15) else { return }
    var environment: OpaquePointer?
    _ = api.pointee.CreateEnv(ORT_LOGGING_LEVEL_WARNING, "other", &environment)
}

let cpu = Options(providers: [.cpu])
var models: [Linear] = []
switch CommandLine.arguments[1] {
case "shared":
    models.append(try show("first", cpu))
    models.append(try show("second", cpu))
    models.append(try show("own", Options(providers: [.cpu], threads: 4)))
    models.append(try show("spinning", Options(providers: [.cpu], spinning: true)))
case "other":
    makeEnvironment()
    models.append(try show("first", cpu))
    models.append(try show("second", cpu))
default:
    models.append(try Linear(options: Options(providers: [.xnnpack])))
}
for model in models.prefix(1) {
    print("provider", model.provider, "fallbacks", model.fallbacks)
    for each in model.assignment ?? [] { print("assigned", each.provider, each.nodes, each.macs) }
}
