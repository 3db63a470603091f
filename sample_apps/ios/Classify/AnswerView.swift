import SwiftUI
import VisionModels

/// How far the app is with a picture.
enum Answer {
    case none
    case working
    case labels([Classification])
    case failed(String)
}

/// Labels with scores, or why there are none.
struct AnswerView: View {
    let answer: Answer

    var body: some View {
        switch answer {
        case .none:
            Text("Choose a picture, or look through the camera.").foregroundStyle(.secondary)
        case .working:
            ProgressView()
        case .labels(let labels):
            ForEach(labels, id: \.index) { found in
                VStack(alignment: .leading, spacing: 4) {
                    HStack {
                        Text(verbatim: found.label)
                        Spacer()
                        Text(found.score, format: .percent.precision(.fractionLength(1))).monospacedDigit()
                    }
                    ProgressView(value: found.score)
                }
                .accessibilityElement(children: .combine)
            }
        case .failed(let reason):
            Text(verbatim: reason).foregroundStyle(.red)
        }
    }
}
