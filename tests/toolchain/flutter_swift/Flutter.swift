// What plug-ins see of Flutter's framework: the declarations that they use, as Swift imports them.

import Foundation

public typealias FlutterBinaryReply = (Data?) -> Void
public typealias FlutterBinaryMessageHandler = (Data?, @escaping FlutterBinaryReply) -> Void

public protocol FlutterBinaryMessenger: AnyObject {
    @discardableResult
    func setMessageHandlerOnChannel(_ channel: String, binaryMessageHandler: FlutterBinaryMessageHandler?) -> Int64
}

public protocol FlutterPluginRegistrar: AnyObject {
#if os(macOS)
    var messenger: FlutterBinaryMessenger { get }
#else
    func messenger() -> FlutterBinaryMessenger
#endif
}

public protocol FlutterPlugin: AnyObject {
    static func register(with registrar: FlutterPluginRegistrar)
}
