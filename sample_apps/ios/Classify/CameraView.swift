import AVFoundation
import SwiftUI
import UIKit
import VisionModels

/// Shows what the camera on the back sees, and gives its frames away.
struct CameraView: UIViewControllerRepresentable {
    let frames: AsyncStream<Picture>.Continuation

    func makeUIViewController(context: Context) -> CameraController {
        CameraController(Camera(frames))
    }

    func updateUIViewController(_ controller: CameraController, context: Context) {}
}

/// The screen of a camera, which runs while the screen is there.
final class CameraController: UIViewController {
    private let camera: Camera
    private let preview: AVCaptureVideoPreviewLayer

    init(_ camera: Camera) {
        self.camera = camera
        preview = AVCaptureVideoPreviewLayer(session: camera.session)
        super.init(nibName: nil, bundle: nil)
    }

    required init?(coder: NSCoder) {
        nil
    }

    override func viewDidLoad() {
        super.viewDidLoad()
        preview.videoGravity = .resizeAspectFill
        view.layer.addSublayer(preview)
    }

    override func viewWillAppear(_ animated: Bool) {
        super.viewWillAppear(animated)
        camera.start()
    }

    override func viewDidDisappear(_ animated: Bool) {
        super.viewDidDisappear(animated)
        camera.stop()
    }

    override func viewDidLayoutSubviews() {
        super.viewDidLayoutSubviews()
        preview.frame = view.bounds
        let turned = view.window?.windowScene?.interfaceOrientation ?? .portrait
        preview.connection?.videoOrientation = AVCaptureVideoOrientation(rawValue: turned.rawValue) ?? .portrait
        camera.hold(turned)
    }
}
