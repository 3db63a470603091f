import AVFoundation
import SwiftUI
import VisionModels

/// Shows the camera's picture, and what the model sees in it.
struct LiveView: View {
    /// A frame that comes while the model is busy takes the place of the one before.
    @State private var frames = AsyncStream.makeStream(of: Picture.self, bufferingPolicy: .bufferingNewest(1))
    @State private var isAllowed = false
    @State private var answer = Answer.working
    @Environment(\.dismiss) private var dismiss

    var body: some View {
        VStack(spacing: 16) {
            if isAllowed {
                CameraView(frames: frames.continuation).ignoresSafeArea()
            }
            AnswerView(answer: answer)
            Button {
                dismiss()
            } label: {
                Label("Close", systemImage: "xmark")
            }
        }
        .padding()
        .task { await look() }
    }

    private func look() async {
        isAllowed = await AVCaptureDevice.requestAccess(for: .video)
        guard isAllowed else {
            answer = .failed("Allow this app to use the camera in Settings.")
            return
        }
        do {
            for await picture in frames.stream {
                answer = .labels(try await Labeller.shared.labels(of: picture))
            }
        } catch is CancellationError {
            return  // the screen was closed
        } catch {
            answer = .failed(error.localizedDescription)
        }
    }
}
