import PhotosUI
import SwiftUI
import UIKit
import VisionModels

/// A picture from the library, and what the model sees in it; or the camera.
struct ContentView: View {
    @State private var picked: PhotosPickerItem?
    @State private var image: UIImage?
    @State private var answer = Answer.none
    @State private var isLive = false

    var body: some View {
        NavigationStack {
            ScrollView {
                VStack(spacing: 24) {
                    if let image {
                        Image(uiImage: image)
                            .resizable()
                            .scaledToFit()
                            .frame(maxHeight: 360)
                            .accessibilityLabel("The picture")
                    }
                    AnswerView(answer: answer)
                    #if UPDATES
                    UpdateButton()
                    #endif
                }
                .padding()
            }
            .navigationTitle("What is it?")
            .toolbar {
                ToolbarItemGroup(placement: .bottomBar) {
                    PhotosPicker(selection: $picked, matching: .images) {
                        Label("Choose a picture", systemImage: "photo.on.rectangle")
                    }
                    Button {
                        isLive = true
                    } label: {
                        Label("Look through the camera", systemImage: "camera")
                    }
                }
            }
        }
        .task(id: picked) { await choose() }
        .task(id: image) { await classify() }
        .fullScreenCover(isPresented: $isLive) {
            LiveView()
        }
    }

    private func choose() async {
        guard let picked else { return }
        do {
            guard let data = try await picked.loadTransferable(type: Data.self), let found = UIImage(data: data) else {
                answer = .failed("This is no picture that the phone can open.")
                return
            }
            image = found
        } catch is CancellationError {
            return  // another one was chosen meanwhile
        } catch {
            answer = .failed(error.localizedDescription)
        }
    }

    private func classify() async {
        guard let image else { return }
        answer = .working
        do {
            answer = .labels(try await Labeller.shared.labels(of: image))
        } catch is CancellationError {
            return
        } catch {
            answer = .failed(error.localizedDescription)
        }
    }
}
