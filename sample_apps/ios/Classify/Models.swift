import Foundation
import VisionModels

#if UPDATES
/// The model: the newest of a channel that was tried on this phone, else that of the package.
struct Models: Sendable {
    private let updater: ModelUpdater?

    /// - Parameter channel: The address of the channel; that of the app's Info.plist by default. If it is empty, there is none.
    init(channel: String? = Bundle.main.object(forInfoDictionaryKey: "ModelChannel") as? String) throws {
        updater = try channel.flatMap(URL.init(string:)).map { try ModelUpdater(address: $0) }
    }

    func load() async throws -> Classifier {
        try await Classifier.load(from: updater?.source ?? .bundled)
    }

    /// Asks the channel, downloads what is newer, and tries it. The next ``load()`` opens it.
    ///
    /// - Returns: What came of it; nil without a channel.
    func update() async throws -> UpdateState? {
        try await updater?.update(force: true)["classifier"]
    }
}
#else
/// The model of the package.
struct Models: Sendable {
    init() throws {}

    func load() async throws -> Classifier {
        try await Classifier.load()
    }
}
#endif
