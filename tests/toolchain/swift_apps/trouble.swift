// One scenario a process: models on a provider that fails, on a hot device, and without memory.

import Foundation

@testable import SmallNetsKit

@_silgen_name("mobpack_fail") func fail(_ isFailing: Bool)
@_silgen_name("mobpack_fail_with") func failWith(_ message: UnsafePointer<CChar>)
@_silgen_name("mobpack_refuse_to_open") func refuseToOpen(_ isRefusing: Bool)
@_silgen_name("mobpack_wait_to_open") func waitToOpen()
@_silgen_name("mobpack_is_opening") func isOpening() -> Bool
@_silgen_name("mobpack_go_on") func goOn()
@_silgen_name("mobpack_wait") func wait()
@_silgen_name("mobpack_is_waiting") func isWaiting() -> Bool
@_silgen_name("mobpack_allocations") func allocations() -> Int
@_silgen_name("mobpack_open_sessions") func openSessions() -> Int32

/// Keeps what it is told, in words.
final class Events: ModelObserver {
    private let events = Shared<[String]>([])

    func onLoad(_ event: LoadEvent) { keep("load \(event.provider.rawValue)") }

    func onRun(_ event: RunEvent) {
        let failed = event.error == nil ? "" : " failed"
        keep("\(event.isRetry ? "retry" : "run") \(event.provider.rawValue)\(failed)")
    }

    func onRelease(_ event: ReleaseEvent) { keep("release \(event.reason.rawValue)") }

    /// What it was told since the last call.
    func since() -> String {
        events.inTurn { events in
            defer { events = [] }
            return events.joined(separator: ",")
        }
    }

    /// How many events since the last call of ``since()`` begin with a text.
    func count(_ beginning: String) -> Int {
        events.inTurn { events in events.filter { $0.hasPrefix(beginning) }.count }
    }

    private func keep(_ event: String) {
        events.change { $0.append(event) }
    }
}

let events = Events()
let failing = Options(providers: [.xnnpack], observer: events)
let cpu = Options(providers: [.cpu], observer: events)

func show(_ name: String, _ value: Any) {
    print("fact", name, value, separator: "\t")
}

extension Chain {
    var answer: [Float] { get throws { try run(Input(x: (0..<4096).map { Float($0 % 17) })).y } }
}

func usual() throws -> [Float] {
    try Chain(options: Options(providers: [.cpu], policies: .none)).answer
}

/// The threads of the process, once their number has stayed the same for a while: one that has ended is there a little
/// longer.
func threads() -> Int {
    var found = [0]
    while Set(found.suffix(8)).count > 1 || found.count < 8 {
        usleep(20_000)
        found.append((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0)
    }
    return found[found.count - 1]
}

func show(_ name: String, failureOf work: () throws -> Void) {
    do {
        try work()
        show(name, "nothing")
    } catch {
        show(name, error)
    }
}

func provider() throws {
    let usual = try usual()
    let model = try Chain(options: failing)
    show("loaded", events.since())
    show("file", model.info.file)
    fail(true)
    for number in 0..<4 {
        show("right.\(number)", try model.answer == usual)
        show("events.\(number)", events.since())
        show("provider.\(number)", model.provider.rawValue)
    }
    show("fallbacks", model.fallbacks)
    show("file later", model.info.file)
    show("sessions", openSessions())
    MemoryPressure.shared.tell()
    show("right later", try model.answer == usual)
    show("events later", events.since())
    model.close()
    show("closed", events.since())
    show("sessions after close", openSessions())
}

func inARow() throws {
    let model = try Chain(options: failing)
    for isFailing in [true, true, false, true, true] {
        fail(isFailing)
        _ = try model.answer
    }
    show("provider", model.provider.rawValue)
    _ = try model.answer
    show("provider later", model.provider.rawValue)
}

func withoutThePolicy() throws {
    var options = failing
    options.policies.retryOnCPU = false
    let model = try Chain(options: options)
    fail(true)
    show("refused") { _ = try model.answer }
    show("events", events.since())
    show("provider", model.provider.rawValue)
}

func selfTest() throws {
    let model = try Chain(options: failing)
    show("passed", try model.selfTest().passed)
    fail(true)
    _ = events.since()
    show("failed") { _ = try model.selfTest() }
    show("events", events.since())
}

/// Runs that fail on the CPU as well, which is not the provider's fault, and runs that never come to a provider.
func input() throws {
    let model = try PickerModel(options: failing)
    _ = events.since()
    for number in 0..<4 { show("wrong.\(number)") { _ = try model.run(PickerModel.Input(ids: [9])) } }
    show("events", events.since())
    show("shape") { _ = try model.run(PickerModel.Input(ids: [1, 2])) }
    show("events of the shape", events.since())
    show("provider", model.provider.rawValue)
}

func cancelled() async throws {
    let model = try Chain(options: failing)
    let task = try await running(model)
    task.cancel()
    do { _ = try await task.value } catch { show("thrown", error) }
    show("events", events.since())
    show("right", try model.answer == usual())
    show("events later", events.since())
}

func heat() throws {
    let usual = try usual()
    let before = threads()
    // Threads that spin are the model's own, and so can be counted.
    var options = cpu
    options.spinning = true
    let model = try Chain(options: options)
    show("loaded", events.since())
    for (name, isHot) in [("cool", false), ("hot", true), ("cool again", false)] {
        Heat.shared.set(isHot: isHot)
        show("\(name).before the run", events.since())
        show("\(name).right", try model.answer == usual)
        _ = try model.answer
        show("\(name).events", events.since())
        show("\(name).threads", threads() - before)
    }
    model.close()
    Heat.shared.set(isHot: true)
    _ = events.since()
    let hot = try Chain(options: options)
    _ = try hot.answer
    show("loaded hot.events", events.since())
    show("loaded hot.threads", threads() - before)
    hot.close()
    var own = options
    own.threads = 2
    var off = options
    off.policies.fewerThreadsWhenHot = false
    for (name, options) in [("own", own), ("off", off)] {
        let model = try Chain(options: options)
        show("\(name).threads", threads() - before)
        Heat.shared.set(isHot: false)
        _ = events.since()
        _ = try model.answer
        show("\(name).events", events.since())
        Heat.shared.set(isHot: true)
    }
}

func heatWhileItRuns() async throws {
    let model = try Chain(options: failing)
    let task = try await running(model)
    Heat.shared.set(isHot: true)
    _ = try model.answer
    show("beside", events.since())
    task.cancel()
    _ = try? await task.value
    _ = events.since()
    _ = try model.answer
    show("afterwards", events.since())
}

func memory() async throws {
    let usual = try usual()
    let model = try Chain(options: cpu)
    _ = events.since()
    MemoryPressure.shared.tell()
    MemoryPressure.shared.tell()
    show("released", events.since())
    show("sessions", openSessions())
    show("known", "\(model.provider) \(model.info.name) \(model.fallbacks.count) \(model.assignment == nil)")
    show("right", try model.answer == usual)
    show("opened", events.since())
    MemoryPressure.shared.tell()
    show("profile", try model.profile(Chain.Input(), runs: 1).pathExtension)
    show("profiled", events.since())
    MemoryPressure.shared.tell()
    model.close()
    MemoryPressure.shared.tell()
    show("closed", events.since())
    try await whileItRuns()
    show("after close") { _ = try model.answer }
    var off = cpu
    off.policies.releaseOnMemoryPressure = false
    let kept = try Chain(options: off)
    _ = events.since()
    MemoryPressure.shared.tell()
    show("without the policy", events.since())
    kept.close()
    var dropped: Chain? = try Chain(options: cpu)
    _ = try dropped?.answer
    _ = events.since()
    dropped = nil
    show("dropped", events.since())
    show("listeners", MemoryPressure.shared.listeners.inTurn { $0.count })
}

/// A run of the provider's that goes on until it is cancelled.
func running(_ model: Chain) async throws -> Task<Chain.Output, any Error> {
    _ = events.since()
    wait()
    let task = Task { try await model.run(Chain.Input()) }
    while !isWaiting() { try await Task.sleep(nanoseconds: 1_000_000) }
    return task
}

func whileItRuns() async throws {
    let model = try Chain(options: failing)
    let task = try await running(model)
    MemoryPressure.shared.tell()
    show("while it runs", events.since())
    task.cancel()
    _ = try? await task.value
    MemoryPressure.shared.tell()
    show("afterwards", events.since())
}

func closedWhileItRuns() async throws {
    let model = try Chain(options: failing)
    let task = try await running(model)
    let closing = Task.detached { model.close() }
    try await Task.sleep(nanoseconds: 100_000_000)
    show("while it runs", "\(openSessions())\(events.since())")
    task.cancel()
    do { _ = try await task.value } catch { show("thrown", error) }
    await closing.value
    show("sessions", openSessions())
}

func state() throws {
    let model = try Counter(options: cpu)
    for number in 1...3 {
        show("count.\(number)", try model.predict().count)
        MemoryPressure.shared.tell()
    }
    show("events", events.since())
}

/// One file of the app's own, in memory that only the model has.
func bytes(_ file: String) throws {
    let model = try Chain(from: .bytes(Data(contentsOf: URL(fileURLWithPath: file))), options: cpu)
    let answer = try model.answer
    MemoryPressure.shared.tell()
    show("right", try model.answer == answer)
    show("events", events.since())
}

/// Files that change, or go, while the model is released.
func changed(_ folder: String) throws {
    let folder = URL(fileURLWithPath: folder)
    let model = try Chain(from: .folder(folder), options: cpu)
    let file = folder.appendingPathComponent(model.info.sha256)
    let content = try Data(contentsOf: file)
    MemoryPressure.shared.tell()
    try Data(repeating: 0, count: content.count).write(to: file)
    show("changed") { _ = try model.answer }
    try FileManager.default.removeItem(at: file)
    show("gone") { _ = try model.answer }
    try content.write(to: file)
    show("back") { _ = try model.answer }
}

/// What runs cost where nothing goes wrong and nobody looks.
func cost() throws {
    for (name, policies) in [("with", Policies()), ("without", .none)] {
        let model = try Chain(options: Options(providers: [.xnnpack], policies: policies))
        let input = Chain.Input()
        var output = Chain.Output()
        for _ in 0..<3 { try model.run(input, into: &output) }
        let before = allocations()
        for _ in 0..<100 { try model.run(input, into: &output) }
        show("allocations \(name)", allocations() - before)
    }
}

/// A model from a server, whose files are removed before it fails.
func server(_ address: String) async throws {
    guard let url = URL(string: address) else { return }
    let model = try await Chain.load(from: .url(url), options: failing)
    try Source.removeDownloads()
    fail(true)
    show("right", try model.answer == usual())
    MemoryPressure.shared.tell()
    fail(false)
    show("right later", try model.answer == usual())
    show("events", events.since())
}

/// The same where the server is gone as well.
func offline(_ address: String) async throws {
    guard let url = URL(string: address) else { return }
    let model = try await Chain.load(from: .url(url), options: failing)
    try Source.removeDownloads()
    MemoryPressure.shared.tell()
    show("right", try model.answer == usual())
    show("closed") {
        model.close()
        _ = try model.answer
    }
    show("other") { _ = try Chain(from: .url(url), options: failing) }
}

/// A model whose file for the CPU is on a server that does not answer: the provider fails, and the run waits for it.
func stalled(_ address: String) async throws {
    guard let url = URL(string: address) else { return }
    var files = Chain.files
    files.files = files.files.filter { !$0.providers.contains(.cpu) }
    let nowhere = Resource(
        path: "chain/other.ort", sha256: String(repeating: "0", count: 64), endsSha256: "0", sizeBytes: 8000)
    let other = ModelFile(providers: [.cpu], resource: nowhere)
    files.files.append(other)
    let session = try files.open(from: .url(url), failing)
    fail(true)
    let values = [Float](repeating: 1, count: 4096)
    let run = Task {
        try await session.queued { cancellation in
            _ = try session.run([Fed("x", values, [64, 64])], [], until: cancellation)
        }
    }
    let part = try Folder.downloads().appendingPathComponent("\(nowhere.sha256).part").path
    while !FileManager.default.fileExists(atPath: part) { try await Task.sleep(nanoseconds: 1_000_000) }
    session.close()
    show("sessions", openSessions())
    run.cancel()
    do { try await run.value } catch { show("thrown", error) }
}

/// A run that is cancelled while its model is opened again.
func cancelledOpening() async throws {
    let model = try Chain(options: failing)
    MemoryPressure.shared.tell()
    waitToOpen()
    let task = Task { try await model.run(Chain.Input()) }
    while !isOpening() { try await Task.sleep(nanoseconds: 1_000_000) }
    task.cancel()
    do { _ = try await task.value } catch { show("thrown", error) }
    show("sessions", openSessions())
    let closing = Task.detached { model.close() }
    await closing.value
    goOn()
    show("after close") { _ = try model.answer }
    while isOpening() { try await Task.sleep(nanoseconds: 1_000_000) }
    _ = try? await model.run(Chain.Input())
    show("sessions later", openSessions())
}

/// Heat that comes and goes within the least time, and heat in which no session can be opened.
func dwell() throws {
    let usual = try usual()
    let model = try Chain(options: failing)
    _ = try model.answer
    _ = events.since()
    Heat.shared.set(leastDuration: 3600)
    for isHot in [true, false, true, false, true] {
        Heat.shared.set(isHot: isHot)
        _ = try model.answer
    }
    show("events", events.since())
    Heat.shared.set(leastDuration: 0)
    Heat.shared.set(isHot: false)
    refuseToOpen(true)
    show("right", try model.answer == usual)
    _ = try model.answer
    show("refused", events.since())
    refuseToOpen(false)
    show("threads", Provider.allCases.filter(\.hasThreads).map(\.rawValue))
}

/// What becomes of the session on the CPU.
func spare() throws {
    let model = try PickerModel(options: failing)
    let before = openSessions()
    _ = try? model.run(PickerModel.Input(ids: [9]))
    show("after a bad input", openSessions() - before)
    fail(true)
    _ = try model.run(PickerModel.Input(ids: [1]))
    show("while the provider fails", openSessions() - before)
    fail(false)
    _ = try model.run(PickerModel.Input(ids: [1]))
    show("when it runs again", openSessions() - before)
    fail(true)
    show("both") { _ = try model.run(PickerModel.Input(ids: [9])) }
}

/// Metrics of a run that was cancelled, and of one that was repeated.
func metrics() async throws {
    let metrics = ModelMetrics()
    let model = try Chain(options: Options(providers: [.xnnpack], observer: metrics))
    let task = try await running(model)
    task.cancel()
    _ = try? await task.value
    fail(true)
    _ = try model.answer
    guard let found = metrics.snapshot()["chain"] else { return }
    show("counts", [found.runs, found.errors, found.retries, found.queueDuration.count, found.runDuration.count])
}

/// A failed allocation, of a run and of a load.
func outOfMemory() throws {
    failWith("std::bad_alloc")
    let model = try Chain(options: failing)
    fail(true)
    show("right", try model.answer == usual())
    var options = failing
    options.policies.retryOnCPU = false
    let alone = try Chain(options: options)
    for (name, work) in [
        ("run", { _ = try alone.answer }),
        ("load", {
            refuseToOpen(true)
            _ = try Chain(options: cpu)
        })
    ] as [(String, () throws -> Void)] {
        do { try work() } catch { show(name, "\(Mirror(reflecting: error).children.first?.label ?? "") \(error)") }
    }
}

/// Whether anything of a load stays as long as its model.
func progress(_ address: String) async throws {
    guard let url = URL(string: address) else { return }
    final class Screen: Sendable {
        let seen = Shared(0)
    }
    weak var screen: Screen?
    func load() async throws -> Chain {
        let shown = Screen()
        screen = shown
        return try await Chain.load(from: .url(url), options: cpu) { _ in shown.seen.change { $0 += 1 } }
    }
    let model = try await load()
    for _ in 0..<600_000 where screen != nil { try await Task.sleep(nanoseconds: 1_000_000) }
    show("screen", screen == nil)
    _ = try model.answer
}

/// Runs on several threads while everything goes wrong all the time.
func everything() throws {
    let usual = try usual()
    let model = try Chain(options: failing)
    let isOver = Shared(false)
    let wrong = Shared(0)
    let made = Shared(0)
    let done = DispatchGroup()
    done.enter()
    Thread.detachNewThread {
        var number = 0
        while !isOver.inTurn({ $0 }) {
            number += 1
            Heat.shared.set(isHot: number % 3 == 0)
            fail(number % 2 == 0)
            MemoryPressure.shared.tell()
            usleep(500)
        }
        done.leave()
    }
    let enough = ["release memory": 10, "retry CPU": 2, "load": 10]
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
        for _ in 0..<500 {
            for _ in 0..<100 where (try? model.answer) != usual { wrong.change { $0 += 1 } }
            made.change { $0 += 100 }
            if enough.allSatisfy({ events.count($0) > $1 }) { return }
        }
    }
    isOver.change { $0 = true }
    done.wait()
    model.close()
    show("wrong", wrong.inTurn { $0 })
    show("made", made.inTurn { $0 })
    for kind in ["run ", "release memory", "release thermal", "retry CPU", "load"] { show(kind, events.count(kind)) }
    show("sessions", openSessions())
}

setvbuf(stdout, nil, _IOLBF, 0)
Heat.shared.set(leastDuration: 0)
switch CommandLine.arguments[1] {
case "provider": try provider()
case "in a row": try inARow()
case "without the policy": try withoutThePolicy()
case "self-test": try selfTest()
case "input": try input()
case "cancelled": try await cancelled()
case "heat": try heat()
case "heat while it runs": try await heatWhileItRuns()
case "memory": try await memory()
case "closed while it runs": try await closedWhileItRuns()
case "state": try state()
case "bytes": try bytes(CommandLine.arguments[2])
case "changed": try changed(CommandLine.arguments[2])
case "server": try await server(CommandLine.arguments[2])
case "cost": try cost()
case "offline": try await offline(CommandLine.arguments[2])
case "stalled": try await stalled(CommandLine.arguments[2])
case "cancelled opening": try await cancelledOpening()
case "dwell": try dwell()
case "spare": try spare()
case "metrics": try await metrics()
case "out of memory": try outOfMemory()
case "progress": try await progress(CommandLine.arguments[2])
default: try everything()
}
