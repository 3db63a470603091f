// An app with two plug-ins: registers both as Flutter does, and prints the address of ONNX Runtime that each one answers.

import Flutter
import Foundation
import apple_alone
import contracts

final class App: FlutterPluginRegistrar, FlutterBinaryMessenger {
    var handlers: [String: FlutterBinaryMessageHandler] = [:]

    func messenger() -> FlutterBinaryMessenger { self }

    func setMessageHandlerOnChannel(_ channel: String, binaryMessageHandler: FlutterBinaryMessageHandler?) -> Int64 {
        handlers[channel] = binaryMessageHandler
        return 0
    }
}

let app = App()
ContractsPlugin.register(with: app)
AppleAlonePlugin.register(with: app)
let known = dlsym(nil, "OrtGetApiBase").map { UInt64(UInt(bitPattern: $0)) } ?? 0
for channel in app.handlers.keys.sorted() {
    app.handlers[channel]?(nil) { reply in
        let address = reply?.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) } ?? 1
        print(channel, reply?.count ?? 0, address == known ? "same" : "other")
    }
}
for package in ["contracts", "apple_alone"] {
    print(package, dlsym(nil, "\(package)_c_onnxruntime") == nil ? "hidden" : "found")
}
