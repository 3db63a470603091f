// One scenario a process: what an observer is told, prints.

import CSmallNetsKit
import Foundation

@testable import SmallNetsKit

@_silgen_name("mobpack_clock_reads") func clockReads() -> Int32

@_silgen_name("dispatch_queue_get_label") func label(_ queue: OpaquePointer?) -> UnsafePointer<CChar>

/// Prints an object of JSON.
func show(_ values: [String: Any]) {
    let text = try? JSONSerialization.data(withJSONObject: values, options: .sortedKeys)
    print(String(decoding: text ?? Data(), as: UTF8.self))
}

/// The queue whose thread this is: a model's has its name.
func thread() -> String {
    Thread.isMainThread ? "main" : String(cString: label(nil))
}

/// Prints what it is told.
struct Printer: ModelObserver {
    func onLoad(_ event: LoadEvent) {
        show([
            "event": "load", "model": event.model, "version": event.version, "provider": event.provider.rawValue,
            "fallbacks": event.fallbacks.map(\.description), "source": event.source.rawValue,
            "size": event.sizeBytes, "duration": event.duration, "memory": event.memoryBytes ?? -1,
            "thread": thread()
        ])
    }

    func onRun(_ event: RunEvent) {
        show([
            "event": "run", "model": event.model, "provider": event.provider.rawValue, "queued": event.queued,
            "duration": event.duration, "error": event.error.map { "\($0)" } ?? "", "retry": event.isRetry,
            "thread": thread()
        ])
    }

    func onFailure(_ event: FailureEvent) {
        show(["event": "failure", "model": event.model, "error": "\(event.error)", "duration": event.duration])
    }

    func onRelease(_ event: ReleaseEvent) {
        show(["event": "release", "model": event.model, "reason": event.reason.rawValue])
    }
}

/// Knows no method of the protocol.
struct Silent: ModelObserver {}

let observed = Options(providers: [.xnnpack, .cpu], threads: 1, observer: Printer())

func loads() throws {
    let model = try Chain(options: observed)
    model.close()
    model.close()
    _ = try Chain(options: observed)
    let nowhere = URL(fileURLWithPath: "/nowhere")
    do { _ = try Chain(from: .folder(nowhere), options: observed) } catch { show(["thrown": "\(error)"]) }
}

func runs() async throws {
    let model = try Chain(options: observed)
    blocking(model)
    async let first = model.run(Chain.Input())
    async let second = model.run(Chain.Input())
    async let third = model.run(Chain.Input())
    _ = try await (first, second, third)
    let picker = try PickerModel(options: observed)
    do { try pick(picker, [9]) } catch { show(["thrown": "\(error)"]) }
    model.close()
    do { blocking(model) }
}

func blocking(_ model: Chain) {
    do { _ = try model.run(Chain.Input()) } catch { show(["thrown": "\(error)"]) }
}

func pick(_ model: PickerModel, _ places: [Int64]) throws {
    _ = try model.run(PickerModel.Input(ids: places))
}

/// What the metrics say of runs whose durations are in a file: of successes, waiting times ten times as long, failures.
func percentiles(_ file: String) throws {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    let durations: [Double] = bytes.withUnsafeBytes { Array($0.bindMemory(to: Double.self)) }
    let metrics = ModelMetrics()
    DispatchQueue.concurrentPerform(iterations: 4) { part in
        for duration in durations[(part * durations.count / 4)..<((part + 1) * durations.count / 4)] {
            metrics.onRun(run(of: "one", duration, queued: duration * 10))
        }
    }
    metrics.onRun(run(of: "other", 2, error: ModelError.closed(model: "Other"), isRetry: true))
    for (_, snapshot) in metrics.snapshot() { show(shown(snapshot).merging(["file": file]) { own, _ in own }) }
}

func run(
    of model: String, _ duration: Double, queued: Double = 0, error: (any Error)? = nil, isRetry: Bool = false
) -> RunEvent {
    RunEvent(model: model, provider: .cpu, queued: queued, duration: duration, error: error, isRetry: isRetry)
}

func shown(_ snapshot: ModelSnapshot) -> [String: Any] {
    var values: [String: Any] = snapshot.attributes().mapValues { value in
        switch value {
        case .number(let number): return number
        case .text(let text): return text
        }
    }
    values["run"] = [snapshot.runDuration.min, snapshot.runDuration.max, snapshot.runDuration.mean]
    values["queue"] = [snapshot.queueDuration.min, snapshot.queueDuration.max, snapshot.queueDuration.mean]
    values["counts"] = [snapshot.runDuration.count, snapshot.queueDuration.count, snapshot.loads, snapshot.failures]
    return values
}

func metrics() throws {
    let metrics = ModelMetrics()
    let options = Options(providers: [.xnnpack, .cpu], threads: 1, observer: metrics)
    let (chain, picker) = (try Chain(options: options), try PickerModel(options: options))
    for _ in 0..<4 { blocking(chain) }
    try? pick(picker, [9])
    _ = try? PickerModel(from: .folder(URL(fileURLWithPath: "/nowhere")), options: options)
    for (_, snapshot) in metrics.snapshot() { show(shown(snapshot)) }
}

func clocks() throws {
    for observer in [nil, Silent()] as [(any ModelObserver)?] {
        let before = clockReads()
        let model = try Chain(options: Options(providers: [.cpu], observer: observer))
        blocking(model)
        model.close()
        print("reads", clockReads() - before)
    }
}

func profile() throws {
    let model = try Chain(options: observed)
    print("trace", try model.profile(Chain.Input(), runs: 3).path)
    blocking(model)
    model.close()
    do { _ = try model.profile(Chain.Input()) } catch { show(["thrown": "\(error)"]) }
}

setvbuf(stdout, nil, _IOLBF, 0)
switch CommandLine.arguments[1] {
case "loads": try loads()
case "runs": try await runs()
case "percentiles": for file in CommandLine.arguments.dropFirst(2) { try percentiles(file) }
case "metrics": try metrics()
case "clock": try clocks()
default: try profile()
}
