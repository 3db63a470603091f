import UIKit
import VisionModels

/// The model of the package: loaded once, with the first picture.
actor Labeller {
    static let shared = Labeller()

    private let models = Result { try Models() }
    private var loading: Task<Classifier, any Error>?

    /// Classes that the model sees in a picture, best first.
    ///
    /// A photo knows how the camera was held, and the model turns it: nothing has to be prepared here.
    func labels(of image: UIImage) async throws -> [Classification] {
        try await model().classify(image)
    }

    /// Classes that the model sees in a frame of the camera.
    func labels(of picture: Picture) async throws -> [Classification] {
        try await model().classify(picture)
    }

    #if UPDATES
    /// Looks for a newer model, which the next picture is for. Returns what came of it; nil without a channel.
    func update() async throws -> UpdateState? {
        let state = try await models.get().update()
        if state?.phase == .ready { loading = nil }
        return state
    }
    #endif

    /// A load that fails is tried again with the next picture.
    private func model() async throws -> Classifier {
        let loading = self.loading ?? Task { [models] in try await models.get().load() }
        self.loading = loading
        do {
            return try await loading.value
        } catch {
            self.loading = nil
            throw error
        }
    }
}
