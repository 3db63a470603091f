import Foundation
import XCTest

@testable import ModelsKit

final class SentenceEmbeddingTests: XCTestCase {
    private func input() throws -> Minilm.Input {
        Minilm.Input(
            inputIds: try values("minilm.input_ids"),
            attentionMask: try values("minilm.attention_mask"),
            tokenTypeIds: try values("minilm.token_type_ids"),
            batch: 2,
            sequence: 9
        )
    }

    func testTwoSentencesGiveTheStatesOfTheOriginal() throws {
        let output = try Minilm(options: onCPU).run(input())
        XCTAssertEqual(output.lastHiddenStateShape, [2, 9, 384])
        assertClose(output.lastHiddenState, try values("minilm.last_hidden_state"))
    }

    func testFiftyTasksAtOnceGiveTheSame() async throws {
        let model = try Minilm(options: onCPU)
        let input = try input()
        let expected: [Float] = try values("minilm.last_hidden_state")
        try await withThrowingTaskGroup(of: [Float].self) { group in
            for _ in 0..<50 { group.addTask { try now { try model.run(input) }.lastHiddenState } }
            for try await states in group { assertClose(states, expected) }
        }
    }

    func testAnOutputThatIsPassedAgainFollowsTheSizeOfTheInput() throws {
        let model = try Minilm(options: onCPU)
        var output = Minilm.Output()
        try model.run(Minilm.Input(batch: 1, sequence: 30), into: &output)
        XCTAssertEqual(output.lastHiddenState.count, 30 * 384)
        try model.run(input(), into: &output)
        XCTAssertEqual(output.lastHiddenStateShape, [2, 9, 384])
        assertClose(output.lastHiddenState, try values("minilm.last_hidden_state"))
    }

    func testInputsThatDisagreeAreRefusedAndNameTheTensor() throws {
        var input = try input()
        input.tokenTypeIds.removeLast()
        let model = try Minilm(options: onCPU)
        let error = try modelError { _ = try model.run(input) }
        XCTAssertEqual(error, .shape(tensor: "token_type_ids", count: 17, shape: [2, 9]))
    }

    func testAValueThatTheModelRefusesIsAnErrorAndTheModelStillWorks() throws {
        let model = try Minilm(options: onCPU)
        var wrong = try input()
        wrong.inputIds[3] = 1 << 40
        let error = try modelError { _ = try model.run(wrong) }
        guard case .runtime(let message, let code) = error else { return XCTFail("\(error)") }
        XCTAssertTrue(message.contains("Gather"), message)
        XCTAssertGreaterThan(code, 0)
        assertClose(try model.run(input()).lastHiddenState, try values("minilm.last_hidden_state"))
    }
}
