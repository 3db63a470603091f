import Foundation
import XCTest

@testable import ModelsKit

final class VoiceActivityTests: XCTestCase {
    /// A stream of audio: what the model gives for each window, and its last state.
    private func listen(_ model: SileroVad, to audio: [Float]) throws -> (speech: [Float], state: [Float]) {
        var input = SileroVad.Input()
        input.sr = [16000]
        var speech: [Float] = []
        for start in stride(from: 0, to: audio.count, by: 576) {
            input.input = Array(audio[start..<start + 576])
            let output = try model.run(input)
            XCTAssertEqual(output.stateNShape, [2, 1, 128])
            speech.append(output.output[0])
            input.state = output.stateN
        }
        return (speech, input.state)
    }

    func testAStreamGivesTheProbabilitiesAndTheStateOfTheOriginal() throws {
        let found = try listen(SileroVad(options: onCPU), to: values("silero.audio"))
        assertClose(found.speech, try values("silero.output"))
        assertClose(found.state, try values("silero.stateN"))
    }

    func testFiftyStreamsAtOnceDoNotDisturbEachOther() async throws {
        let model = try SileroVad(options: onCPU)
        let audio: [Float] = try values("silero.audio")
        try await withThrowingTaskGroup(of: [Float].self) { group in
            for _ in 0..<50 { group.addTask { try self.listen(model, to: audio).state } }
            for try await state in group { assertClose(state, try values("silero.stateN")) }
        }
    }

    func testAnOutputThatIsPassedAgainIsWrittenWhereItIs() throws {
        let model = try SileroVad(options: onCPU)
        var input = SileroVad.Input()
        input.sr = [16000]
        let audio: [Float] = try values("silero.audio")
        var output = SileroVad.Output()
        let lent = output.output.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        try model.run(input, into: &output)
        let made = output.stateN.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        var speech: [Float] = []
        for start in stride(from: 0, to: audio.count, by: 576) {
            input.input = Array(audio[start..<start + 576])
            try model.run(input, into: &output)
            speech.append(output.output[0])
            input.state = output.stateN.map { $0 }
            XCTAssertEqual(output.output.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }, lent)
            XCTAssertEqual(output.stateN.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }, made)
        }
        assertClose(speech, try values("silero.output"))
    }

    func testAnOutputThatTheAppKeepsACopyOfDoesNotChangeTheCopy() throws {
        let model = try SileroVad(options: onCPU)
        var input = SileroVad.Input()
        input.sr = [16000]
        input.input = Array(try values("silero.audio").prefix(576))
        var output = try model.run(input)
        let copy = output
        let before = output.output.map { $0 }
        input.input = [Float](repeating: 0, count: 576)
        try model.run(input, into: &output)
        XCTAssertEqual(copy.output, before)
        XCTAssertNotEqual(output.output, before)
    }

    func testARefusedRunGivesTheAppItsMemoryBack() throws {
        let model = try SileroVad(options: onCPU)
        var output = SileroVad.Output()
        output.output = [7]
        var input = SileroVad.Input()
        input.state = [1]
        let error = try modelError { try model.run(input, into: &output) }
        XCTAssertEqual(error, .shape(tensor: "state", count: 1, shape: [2, 1, 128]))
        XCTAssertEqual(output.output, [7])
    }

    func testAnOutputOfAnotherSizeIsRefusedAndNamesTheTensor() throws {
        let model = try SileroVad(options: onCPU)
        var output = SileroVad.Output()
        output.output = []
        let error = try modelError { try model.run(SileroVad.Input(), into: &output) }
        XCTAssertEqual(error, .shape(tensor: "output", count: 0, shape: [1, 1]))
    }
}
