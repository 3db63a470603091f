/// The names of Apple's BackgroundTasks that docs/ios.md uses, as its documentation declares them.

import Dispatch
import Foundation

open class BGTask: NSObject {
    open var expirationHandler: (() -> Void)?
    open func setTaskCompleted(success: Bool) {}
}

open class BGTaskRequest: NSObject {}

open class BGProcessingTaskRequest: BGTaskRequest {
    open var requiresNetworkConnectivity = false
    open var requiresExternalPower = false
    public init(identifier: String) {}
}

public final class BGTaskScheduler: NSObject, @unchecked Sendable {
    public static let shared = BGTaskScheduler()

    @discardableResult
    public func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?, launchHandler: @escaping (BGTask) -> Void
    ) -> Bool { true }

    public func submit(_ taskRequest: BGTaskRequest) throws {}
}
