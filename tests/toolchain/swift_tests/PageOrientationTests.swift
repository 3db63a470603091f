import Foundation
import XCTest

@testable import ModelsKit

/// A source that tells when it is asked for a frame.
private struct Camera: AsyncSequence, Sendable {
    typealias Element = Int
    let frames: AsyncStream<Int>
    let isAsked: AsyncStream<Void>.Continuation

    func makeAsyncIterator() -> Iterator {
        Iterator(frames: frames.makeAsyncIterator(), isAsked: isAsked)
    }

    struct Iterator: AsyncIteratorProtocol {
        var frames: AsyncStream<Int>.Iterator
        let isAsked: AsyncStream<Void>.Continuation

        mutating func next() async -> Int? {
            isAsked.yield()
            return await frames.next()
        }
    }
}

final class PageOrientationTests: XCTestCase {
    private static let pixels = 3 * 224 * 224

    private func input(_ batch: Int = 2) throws -> OrientationModel.Input {
        let pages: [Float] = try values("orientation.x")
        return OrientationModel.Input(x: Array(pages.prefix(batch * Self.pixels)), dynamicDimension0: batch)
    }

    func testABatchOfPagesGivesTheScoresOfTheOriginal() throws {
        let output = try OrientationModel(options: onCPU).run(input())
        XCTAssertEqual(output.fetchName0Shape, [2, 4])
        assertClose(output.fetchName0, try values("orientation.fetch_name_0"))
    }

    func testOnePageGivesTheScoresOfTheOriginal() throws {
        let output = try OrientationModel(options: onCPU).run(input(1))
        XCTAssertEqual(output.fetchName0Shape, [1, 4])
        assertClose(output.fetchName0, Array(try values("orientation.fetch_name_0").prefix(4)))
    }

    func testSeveralThreadsComputeTheSame() throws {
        let output = try OrientationModel(options: Options(providers: [.cpu], threads: 2)).run(input())
        assertClose(output.fetchName0, try values("orientation.fetch_name_0"))
    }

    func testFiftyTasksEachGetTheAnswerToTheirOwnPage() async throws {
        let model = try OrientationModel(options: onCPU)
        let pages: [Float] = try values("orientation.x")
        let expected: [Float] = try values("orientation.fetch_name_0")
        let answers = try await withThrowingTaskGroup(of: (Int, [Float]).self) { group in
            for number in 0..<50 {
                group.addTask {
                    let page = Array(pages.dropFirst(number % 2 * Self.pixels).prefix(Self.pixels))
                    let input = OrientationModel.Input(x: page, dynamicDimension0: 1)
                    return (number % 2, try now { try model.run(input) }.fetchName0)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        XCTAssertEqual(answers.count, 50)
        XCTAssertNotEqual(Array(expected.prefix(4)), Array(expected.suffix(4)))
        for (page, scores) in answers { assertClose(scores, Array(expected[page * 4..<page * 4 + 4])) }
    }

    func testRunsAreUnderWayAtTheSameTime() throws {
        let model = try OrientationModel(options: onCPU)
        let input = try input(1)
        let inside = Counter()
        let overlaps = Counter()
        let ended = DispatchGroup()
        for _ in 0..<4 {
            ended.enter()
            Thread.detachNewThread {
                for round in 0..<200 where round < 8 || overlaps.value == 0 {
                    let before = inside.value
                    _ = try? model.run(input)
                    inside.add()
                    if inside.value > before + 1 { overlaps.add() }
                }
                ended.leave()
            }
        }
        ended.wait()
        XCTAssertGreaterThanOrEqual(inside.value, 32)
        XCTAssertGreaterThan(overlaps.value, 0)
    }

    func testAnAsyncRunGivesTheSame() async throws {
        let model = try await OrientationModel.load(options: onCPU)
        assertClose(try await model.run(input()).fetchName0, try values("orientation.fetch_name_0"))
    }

    func testATaskThatWasCancelledDoesNotRun() async throws {
        let model = try OrientationModel(options: onCPU)
        let input = try input()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await asyncError { _ = try await model.run(input) }
        }
        let error = await task.value
        XCTAssertTrue(error is CancellationError, "\(String(describing: error))")
    }

    func testCancellingEndsARunThatIsUnderWay() async throws {
        let ends = Ends()
        let model = try OrientationModel(options: watched(by: ends))
        let many = try manyPages()
        try await untilMet { wait in
            let task = Task { await asyncError { _ = try await model.run(many) } }
            try await Task.sleep(nanoseconds: wait)
            task.cancel()
            let error = await task.value
            XCTAssertTrue(error == nil || error is CancellationError, "\(String(describing: error))")
            return ends.since() == ["ended early"] && error != nil
        }
        assertClose(try await model.run(input(1)).fetchName0, Array(try values("orientation.fetch_name_0").prefix(4)))
    }

    func testACancelledTaskLeavesTheOthersAlone() async throws {
        let model = try OrientationModel(options: onCPU)
        let input = try input()
        let tasks = (0..<6).map { _ in Task { try await model.run(input).fetchName0 } }
        tasks[3].cancel()
        for (number, task) in tasks.enumerated() where number != 3 {
            assertClose(try await task.value, try values("orientation.fetch_name_0"))
        }
    }

    private func manyPages() throws -> OrientationModel.Input {
        let page = try input(1)
        return OrientationModel.Input(x: (0..<24).flatMap { _ in page.x }, dynamicDimension0: 24)
    }

    private func watched(by observer: any ModelObserver, queue: Int = 64) -> Options {
        var options = onCPU
        (options.observer, options.queue) = (observer, queue)
        return options
    }

    func testATaskThatIsCancelledWhileItWaitsForItsTurnEndsAtOnce() async throws {
        let ends = Ends()
        let model = try OrientationModel(options: watched(by: ends))
        let (page, many) = (try input(1), try manyPages())
        try await untilMet { wait in
            let ended = Counter()
            let first = Task {
                defer { ended.add() }
                return try await model.run(many).fetchName0Shape
            }
            try await Task.sleep(nanoseconds: wait)
            let second = Task { await asyncError { _ = try await model.run(page) } }
            try await Task.sleep(nanoseconds: wait)
            second.cancel()
            let error = await second.value
            let isFirstUnderWay = ended.value == 0
            XCTAssertTrue(error == nil || error is CancellationError, "\(String(describing: error))")
            let shape = try await first.value
            XCTAssertEqual(shape, [24, 4])
            return ends.since() == ["whole"] && isFirstUnderWay
        }
    }

    func testACallBeyondTheQueueIsRefusedAtOnceAndLaterOnesAreNot() async throws {
        let model = try OrientationModel(options: watched(by: Ends(), queue: 2))
        let (page, many) = (try input(1), try manyPages())
        try await untilMet { wait in
            let first = Task { try await model.run(many).fetchName0Shape }
            try await Task.sleep(nanoseconds: wait)
            let second = Task { try await model.run(page).fetchName0Shape }
            try await Task.sleep(nanoseconds: wait)
            let refused = await asyncError { _ = try await model.run(page) }
            let shapes = [try? await first.value, try? await second.value]
            guard let refused, !shapes.contains(nil) else { return false }
            XCTAssertEqual(refused as? ModelError, .busy(model: "OrientationModel"))
            XCTAssertEqual(shapes, [[24, 4], [1, 4]])
            return true
        }
        let later = try await model.run(page).fetchName0Shape
        XCTAssertEqual(later, [1, 4])
    }

    func testACancelledCallGivesItsPlaceBack() async throws {
        let model = try OrientationModel(options: watched(by: Ends(), queue: 2))
        let (page, many) = (try input(1), try manyPages())
        try await untilMet { wait in
            let first = Task { try await model.run(many).fetchName0Shape }
            try await Task.sleep(nanoseconds: wait)
            let second = Task { await asyncError { _ = try await model.run(page) } }
            try await Task.sleep(nanoseconds: wait)
            second.cancel()
            let error = await second.value
            let third = try await model.run(page).fetchName0Shape
            XCTAssertEqual(third, [1, 4])
            _ = try await first.value
            return error is CancellationError
        }
    }

    func testAQueueOfNoneIsRefused() {
        var options = onCPU
        options.queue = 0
        XCTAssertThrowsError(try OrientationModel(options: options)) { XCTAssertEqual($0 as? ModelError, .queue(0)) }
    }

    func testFramesThatComeWhileTheModelIsBusyAreDroppedButTheLatest() async throws {
        let model = try OrientationModel(options: onCPU)
        let page = try input(1)
        let (frames, shutter) = AsyncStream.makeStream(of: Int.self)
        let (asked, isAsked) = AsyncStream.makeStream(of: Void.self)
        let camera = Camera(frames: frames, isAsked: isAsked)
        let (started, start) = AsyncStream.makeStream(of: Int.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let watching = Task {
            var seen: [Int] = []
            for try await number in model.frames(
                camera,
                { model, number in
                    start.yield(number)
                    var gate = released.makeAsyncIterator()
                    await gate.next()
                    _ = try await model.run(page)
                    return number
                })
            {
                seen.append(number)
            }
            return seen
        }
        var starts = started.makeAsyncIterator()
        shutter.yield(1)
        let first = await starts.next()
        XCTAssertEqual(first, 1)
        for number in 2...5 { shutter.yield(number) }
        var asks = asked.makeAsyncIterator()
        for _ in 1...6 { _ = await asks.next() }  // the last one after frame 5
        release.yield()
        let second = await starts.next()
        XCTAssertEqual(second, 5)
        release.yield()
        shutter.finish()
        let seen = try await watching.value
        XCTAssertEqual(seen, [1, 5])
    }

    func testFramesThrowWhatTheModelAndTheSourceThrow() async throws {
        let model = try OrientationModel(options: onCPU)
        let wrong = OrientationModel.Input(x: [1], dynamicDimension0: 1)
        let inputs = AsyncStream { feed in
            feed.yield(wrong)
            feed.finish()
        }
        let fault = await asyncError { for try await _ in model.frames(inputs, { try await $0.run($1) }) {} }
        XCTAssertTrue(fault is ModelError, "\(String(describing: fault))")
        let broken = AsyncThrowingStream<OrientationModel.Input, any Error> { $0.finish(throwing: CocoaError(.fileReadUnknown)) }
        let failure = await asyncError { for try await _ in model.frames(broken, { try await $0.run($1) }) {} }
        XCTAssertTrue(failure is CocoaError, "\(String(describing: failure))")
    }

    func testALoopThatEndsLetsGoOfItsSource() async throws {
        let model = try OrientationModel(options: onCPU)
        let page = try input(1)
        let ended = Counter()
        let camera = AsyncStream<OrientationModel.Input> { feed in
            feed.onTermination = { _ in ended.add() }
            feed.yield(page)
        }
        for try await _ in model.frames(camera, { try await $0.run($1) }) { break }
        for _ in 0..<3000 where ended.value == 0 { try await Task.sleep(nanoseconds: 20_000_000) }
        XCTAssertEqual(ended.value, 1)
    }

    func testLoadingInACancelledTaskIsRefused() async throws {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await asyncError { _ = try await OrientationModel.load(options: onCPU) }
        }
        let error = await task.value
        XCTAssertTrue(error is CancellationError, "\(String(describing: error))")
    }

    func testClosingWaitsForRunsAndRefusesLaterOnes() throws {
        let model = try OrientationModel(options: onCPU)
        let input = try input(1)
        let (finished, refused) = (Counter(), Counter())
        let threads = DispatchGroup()
        for _ in 0..<3 {
            DispatchQueue.global().async(group: threads) {
                while true {
                    do {
                        _ = try model.run(input)
                        finished.add()
                    } catch {
                        if error as? ModelError == .closed(model: "OrientationModel") { refused.add() }
                        return
                    }
                }
            }
        }
        while finished.value < 6 { Thread.sleep(forTimeInterval: 0.001) }
        model.close()
        let atClose = finished.value
        XCTAssertEqual(threads.wait(timeout: .now() + 120), .success)
        // A run that had ended may not have been counted when close() returned: one for each thread.
        XCTAssertLessThanOrEqual(finished.value, atClose + 3)
        XCTAssertEqual(refused.value, 3)
    }

    func testAClosedModelRefusesWork() async throws {
        let model = try OrientationModel(options: onCPU)
        let input = try input(1)
        model.close()
        let closed = ModelError.closed(model: "OrientationModel")
        XCTAssertEqual(try modelError { _ = try model.run(input) }, closed)
        XCTAssertEqual(try modelError { try model.warmUp(input) }, closed)
        XCTAssertEqual(try modelError { _ = try model.selfTest() }, closed)
        var output = OrientationModel.Output()
        XCTAssertEqual(try modelError { try model.run(input, into: &output) }, closed)
        let error = await asyncError { _ = try await model.run(input) }
        XCTAssertEqual(error as? ModelError, closed)
        XCTAssertEqual("\(closed)", "OrientationModel is closed")
    }

    func testClosingTwiceDoesNothing() throws {
        let model = try OrientationModel(options: onCPU)
        model.close()
        model.close()
        XCTAssertEqual(model.info.name, "orientation")
    }

    func testOneValueTooFewIsRefusedAndNamesTheTensor() throws {
        try refuse([Float](repeating: 0, count: Self.pixels - 1), 1)
    }

    func testOneValueTooManyIsRefusedAndNamesTheTensor() throws {
        try refuse([Float](repeating: 0, count: Self.pixels + 1), 1)
    }

    func testAnotherBatchThanThatOfTheValuesIsRefused() throws {
        try refuse([Float](repeating: 0, count: Self.pixels), 2)
    }

    func testANegativeSizeIsRefused() throws {
        try refuse([Float](repeating: 0, count: Self.pixels), -1)
    }

    func testASizeBeyondAllMemoryIsRefused() throws {
        try refuse([], .max)
    }

    private func refuse(_ pixels: [Float], _ batch: Int) throws {
        let model = try OrientationModel(options: onCPU)
        let error = try modelError { _ = try model.run(OrientationModel.Input(x: pixels, dynamicDimension0: batch)) }
        XCTAssertEqual(error, .shape(tensor: "x", count: pixels.count, shape: [batch, 3, 224, 224]))
        XCTAssertTrue("\(error)".contains("`x`") && "\(error)".contains("\(batch), 3, 224, 224"), "\(error)")
    }

    func testInfoSaysWhichFileOfWhichModelRunsOnWhichRuntime() throws {
        let info = try OrientationModel(options: onCPU).info
        XCTAssertEqual([info.name, info.version], ["orientation", "1.2.3"])
        let files: [String: String] = try texts("orientation.files")
        XCTAssertEqual(info.sha256, files[info.file])
        XCTAssertEqual("\(info.sizeBytes)", files["size of \(info.file)"])
        XCTAssertTrue(info.onnxRuntimeVersion.hasPrefix("1."), info.onnxRuntimeVersion)
    }

    /// As packages open it that ship nothing but ORT format, from memory that the file is mapped to.
    func testAModelInORTFormatGivesTheScoresOfTheOriginal() throws {
        let files = try texts("orientation.files")
        let path = "orientation/model.ort"
        let sizeBytes = try XCTUnwrap(Int(files["size of \(path)"] ?? ""))
        let resource = Resource(path: path, sha256: files[path] ?? "", endsSha256: "", sizeBytes: sizeBytes)
        let file = ModelFile(providers: [.cpu], resource: resource)
        let (inputs, outputs) = (OrientationModel.files.inputs, OrientationModel.files.outputs)
        let model = ModelFiles(
            OrientationModel.self, name: "pages", version: "1", inputs: inputs, outputs: outputs, files: [file])
        let session = try ModelOpener(model: model, folder: .packaged, options: onCPU).open()
        let results = try session.run([Fed("x", try values("orientation.x", as: Float.self), [2, 3, 224, 224])], [])
        var (scores, shape): ([Float], [Int]) = ([], [])
        try results.read(0, into: &scores, shape: &shape)
        XCTAssertEqual(shape, [2, 4])
        assertClose(scores, try values("orientation.fetch_name_0"))
        session.close()
        XCTAssertEqual(try modelError { _ = try session.run([], []) }, .closed(model: "OrientationModel"))
    }

    func testOnlyTheCPUIsUsedWhenItIsAskedForAlone() throws {
        let model = try OrientationModel(options: onCPU)
        XCTAssertEqual(model.provider, .cpu)
        XCTAssertEqual(model.fallbacks, [])
    }

    func testProvidersThatAreMissingFallBackToTheCPUAndSayWhy() throws {
        let model = try OrientationModel()
        XCTAssertEqual(model.provider, .cpu)
        XCTAssertEqual(model.fallbacks.map(\.provider), [.coreML, .xnnpack])
        for fallback in model.fallbacks {
            print(fallback)
            let name = fallback.provider.rawValue
            XCTAssertTrue(fallback.reason.lowercased().contains(name.lowercased()), fallback.reason)
            XCTAssertTrue(fallback.reason.contains("not supported in this build"), fallback.reason)
        }
        assertClose(try model.run(input()).fetchName0, try values("orientation.fetch_name_0"))
    }

    func testAProviderThatIsAskedForTwiceIsTriedOnce() throws {
        let model = try OrientationModel(options: Options(providers: [.xnnpack, .xnnpack, .cpu, .coreML]))
        XCTAssertEqual(model.fallbacks.map(\.provider), [.xnnpack])
        XCTAssertEqual(model.provider, .cpu)
    }

    func testFewerThreadsThanNoneAreRefused() throws {
        XCTAssertEqual(try modelError { _ = try OrientationModel(options: Options(threads: -1)) }, .threads(-1))
    }

    func testMoreThreadsThanAnyDeviceHasAreRefused() throws {
        for count in [257, .max] {
            XCTAssertEqual(try modelError { _ = try OrientationModel(options: Options(threads: count)) }, .threads(count))
        }
    }

    func testZerosOfANegativeSizeAreNoneAndRefused() throws {
        try refuse(OrientationModel.Input(dynamicDimension0: -1).x, -1)
    }

    func testZerosBeyondAllMemoryAreNoneAndRefused() throws {
        for batch in [1 << 40, .max] { try refuse(OrientationModel.Input(dynamicDimension0: batch).x, batch) }
    }

    func testZerosOfASizeThatMemoryHasRoomForAreThere() {
        XCTAssertEqual(OrientationModel.Input(dynamicDimension0: 2).x, [Float](repeating: 0, count: 2 * Self.pixels))
        XCTAssertEqual(OrientationModel.Input(dynamicDimension0: 0).x, [])
    }

    func testWarmingUpLessThanOnceDoesNothing() throws {
        let model = try OrientationModel(options: onCPU)
        for runs in [0, -1, .min] { try model.warmUp(OrientationModel.Input(x: [1], dynamicDimension0: 1), runs: runs) }
    }

    func testASelfTestWithNothingToTestHasNeitherPassedNorFailed() throws {
        let none = SelfTest(model: "m", file: "f", provider: .cpu, outputs: [])
        XCTAssertFalse(none.passed || none.failed)
        XCTAssertEqual("\(none)", "Self-test of m on CPU (f): nothing to test")
        let tester = SelfTester(golden: [], folder: .packaged, options: onCPU)
        XCTAssertFalse(try tester.test(try OrientationModel(options: onCPU).info, .cpu) { _ in }.passed)
    }

    func testWarmingUpRunsTheModel() throws {
        let model = try OrientationModel(options: onCPU)
        let error = try modelError { try model.warmUp(OrientationModel.Input(x: [1], dynamicDimension0: 1), runs: 1) }
        XCTAssertEqual(error, .shape(tensor: "x", count: 1, shape: [1, 3, 224, 224]))
        try model.warmUp()
    }
}
