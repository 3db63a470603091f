#if UPDATES
import SwiftUI
import VisionModels

/// Looks for a newer model, and says what came of it.
struct UpdateButton: View {
    @State private var isUpdating = false
    @State private var news = ""

    var body: some View {
        VStack(spacing: 8) {
            Button {
                isUpdating = true
            } label: {
                Label("Look for a newer model", systemImage: "arrow.triangle.2.circlepath")
            }
            .disabled(isUpdating)
            Text(verbatim: news).foregroundStyle(.secondary)
        }
        .task(id: isUpdating) { await update() }
    }

    private func update() async {
        guard isUpdating else { return }
        do {
            news = words(of: try await Labeller.shared.update())
        } catch is CancellationError {
            return  // the screen was left: what has come is kept for the next time
        } catch {
            news = error.localizedDescription
        }
        isUpdating = false
    }

    private func words(of state: UpdateState?) -> String {
        guard let state else { return "The app's Info.plist has no address of a channel." }
        return switch state.phase {
        case .ready: "The next picture is for model \(state.version)."
        case .upToDate: "Model \(state.version) is the newest."
        default: "\(state.phase.rawValue): \(state.reason)"
        }
    }
}
#endif
