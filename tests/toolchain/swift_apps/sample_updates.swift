// Starts the sample app, which looks at a picture of RGBA bytes, then for a newer model in a channel, then at it again.

import Foundation
import VisionModels

let arguments = CommandLine.arguments
let pixels = [UInt8](try Data(contentsOf: URL(fileURLWithPath: arguments[2])))
let picture = try Picture(pixels, width: Int(arguments[3])!, height: Int(arguments[4])!)

/// Prints what the app's model sees, and its version.
func look(_ name: String, _ models: Models) async throws {
    let model = try await models.load()
    print("\(name)\t\(try await model.classify(picture)[0].label) \(model.info.version)")
}

let models = try Models(channel: arguments[1])
try await look("before", models)
let state = try await models.update()
print("update\t\(state.map { "\($0.phase.rawValue) \($0.version)" } ?? "no channel")")
print("reason\t\(state?.reason ?? "")")
try await look("after", models)
