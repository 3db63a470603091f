import AVFoundation
import ImageIO
import UIKit
import VisionModels

/// The camera on the back. Its frames stay as it makes them, luma and chroma: the model converts and turns them.
///
/// All that changes belongs to `queue`.
final class Camera: NSObject, AVCaptureVideoDataOutputSampleBufferDelegate, @unchecked Sendable {
    let session = AVCaptureSession()
    private let queue = DispatchQueue(label: "camera")
    private let frames: AsyncStream<Picture>.Continuation
    private var orientation = CGImagePropertyOrientation.right

    init(_ frames: AsyncStream<Picture>.Continuation) {
        self.frames = frames
        super.init()
    }

    func start() {
        queue.async {
            if self.session.inputs.isEmpty { self.connect() }
            self.session.startRunning()
        }
    }

    func stop() {
        queue.async { self.session.stopRunning() }
    }

    /// The phone is held so: the camera's rows run along the phone's long side.
    func hold(_ turned: UIInterfaceOrientation) {
        let orientation: CGImagePropertyOrientation =
            switch turned {
            case .landscapeRight: .up
            case .landscapeLeft: .down
            case .portraitUpsideDown: .left
            default: .right
            }
        queue.async { self.orientation = orientation }
    }

    func captureOutput(
        _ output: AVCaptureOutput, didOutput sampleBuffer: CMSampleBuffer, from connection: AVCaptureConnection
    ) {
        guard let pixels = CMSampleBufferGetImageBuffer(sampleBuffer),
            let picture = try? Picture(pixels, orientation: orientation)
        else { return }
        frames.yield(picture)
    }

    /// The model looks at 224 pixels: small frames are enough. A simulator has no camera, and shows nothing.
    private func connect() {
        guard let device = AVCaptureDevice.default(.builtInWideAngleCamera, for: .video, position: .back),
            let input = try? AVCaptureDeviceInput(device: device)
        else { return }
        let output = AVCaptureVideoDataOutput()
        output.alwaysDiscardsLateVideoFrames = true
        output.setSampleBufferDelegate(self, queue: queue)
        session.beginConfiguration()
        session.sessionPreset = .vga640x480
        if session.canAddInput(input) { session.addInput(input) }
        if session.canAddOutput(output) { session.addOutput(output) }
        session.commitConfiguration()
    }
}
