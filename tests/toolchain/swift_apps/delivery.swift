// Updates the models of a package as lines on standard input say, and answers each with a line of JSON.

import Foundation

@testable import ModelsKit

@_silgen_name("mobpack_die_at_rename") func dieAtRename(_ number: Int32)
@_silgen_name("mobpack_refuse") func refuse(_ count: Int32, _ words: UnsafePointer<CChar>)

setvbuf(stdout, nil, _IOLBF, 0)

func show(_ values: [String: Any]) {
    let text = try? JSONSerialization.data(withJSONObject: values, options: .sortedKeys)
    print(String(decoding: text ?? Data(), as: UTF8.self))
}

func tell(_ error: any Error) {
    let name = error is CancellationError ? "cancelled" : Mirror(reflecting: error).children.first?.label
    show(["error": name ?? "\(type(of: error))", "message": "\(error)"])
}

/// What the driver has set, and the load has told.
struct Setting: Sendable {
    var conditions = DeviceConditions()
    var limit: Int?
    var pace = Pace(attempts: 2, leastBytes: 1 << 16, firstPause: 0.01, stall: 60)
    var source = SourceKind.bundled
    var failures: [String] = []
    /// Whether the app ends when a model has been opened, and is left before.
    var ends = false
    var leaves = false
}

let setting = Shared(Setting())

struct Watcher: ModelObserver {
    func onLoad(_ event: LoadEvent) {
        setting.change { $0.source = event.source }
        endHere()
    }
    func onFailure(_ event: FailureEvent) { setting.change { $0.failures.append("\(event.error)") } }
}

/// Leaves the app and ends it, where the driver wants that.
func endHere() {
    let (leaves, ends) = setting.inTurn { ($0.leaves, $0.ends) }
    if leaves { Presence.shared.set(isAway: true) }
    if ends { kill(getpid(), SIGKILL) }
}

let metrics = ModelMetrics()
let address = CommandLine.arguments[1]

func updater(_ folder: String) throws -> ModelUpdater {
    let options = UpdateOptions(storageLimit: setting.inTurn { $0.limit }, observer: metrics) {
        setting.inTurn { $0.conditions }
    }
    let pace = setting.inTurn { $0.pace }
    return try ModelUpdater(address: URL(string: address)!, options: options, folder: place(folder), pace: pace)
}

func place(_ folder: String) -> URL {
    URL(fileURLWithPath: folder, isDirectory: true).appendingPathComponent("channel", isDirectory: true)
}

/// An update whose files are spoilt between their download and the trial.
func spoil(_ folder: String) throws {
    let store = try UpdateStore(place(folder))
    let update = Update(
        URL(string: address)!, UpdateOptions(), DeviceConditions(), store, setting.inTurn { $0.pace }, Loading()
    ) { _, state in
        guard state.phase == .trying else { return }
        for name in (try? FileManager.default.contentsOfDirectory(atPath: store.files.path)) ?? [] {
            let size = Part.size(of: store.file(name)) ?? 0
            try? Data(repeating: 1, count: size).write(to: store.file(name))
        }
    }
    try update.run(isForced: true)
}

func states(_ updater: ModelUpdater) -> [String: Any] {
    updater.state.mapValues { state in
        [
            "phase": state.phase.rawValue, "version": state.version, "reason": state.reason,
            "loaded": state.loadedBytes, "total": state.totalBytes
        ] as [String: Any]
    }
}

func sum(of model: Scorer) throws -> Double {
    var input = Scorer.Input()
    for index in input.x.indices { input.x[index] = Float(index) / 64 }
    let sum = try model.run(input).y.reduce(0.0) { $0 + Double($1) }
    return (sum * 1000).rounded() / 1000
}

func load(_ updater: ModelUpdater) async throws -> Scorer {
    setting.change { $0.failures = [] }
    let model = try await Scorer.load(from: updater.source, options: Options(observer: Watcher()))
    let (source, failures) = setting.inTurn { ($0.source, $0.failures) }
    show([
        "version": model.info.version, "source": source == .updater ? "updater" : "bundled",
        "sum": try sum(of: model), "failures": failures, "state": states(updater)
    ])
    return model
}

/// Starts `count` runs of the model at once, perhaps beside an update, and cancels `cancelled` of them.
func runs(_ model: Scorer, _ updater: ModelUpdater, _ count: Int, _ cancelled: Int, isUpdating: Bool) async {
    let update = Task { isUpdating ? try await updater.update(force: true) : nil }
    let running = (0..<count).map { _ in
        Task {
            let began = Date()
            return (try await sum(running: model), Date().timeIntervalSince(began))
        }
    }
    for each in running.prefix(cancelled) { each.cancel() }
    var (sums, answers, errors, slowest) = (Set<Double>(), 0, [String](), 0.0)
    for each in running {
        switch await each.result {
        case .success((let sum, let seconds)):
            sums.insert(sum)
            answers += 1
            slowest = max(slowest, seconds)
        case .failure(let error) where !(error is CancellationError): errors.append("\(error)")
        case .failure: break
        }
    }
    _ = await update.result
    show([
        "sums": Array(sums), "answers": answers, "errors": errors.joined(separator: "; "), "slowest": Int(slowest * 1000)
    ])
}

func sum(running model: Scorer) async throws -> Double {
    var input = Scorer.Input()
    for index in input.x.indices { input.x[index] = Float(index) / 64 }
    let sum = try await model.run(input).y.reduce(0.0) { $0 + Double($1) }
    return (sum * 1000).rounded() / 1000
}

/// Applies each delta of `vectors.json` in a folder, and tells which were refused, and with which results.
func apply(_ path: String, _ folder: URL) throws {
    struct Vectors: Decodable {
        struct Applied: Decodable {
            let name: String
            let delta: Data
            let result: Data
        }
        struct Refused: Decodable {
            let reason: String
            let delta: Data
        }
        let source: Data
        let applied: [Applied]
        let refused: [Refused]
    }
    let vectors = try JSONDecoder().decode(Vectors.self, from: try Data(contentsOf: URL(fileURLWithPath: path)))
    let (source, delta, result) = (
        folder.appendingPathComponent("source"), folder.appendingPathComponent("delta"),
        folder.appendingPathComponent("result")
    )
    try vectors.source.write(to: source)
    var (wrong, taken): ([String], [String]) = ([], [])
    for each in vectors.applied {
        try each.delta.write(to: delta)
        try Delta.apply(delta, to: source, result: result, limit: 1 << 20)
        if try Data(contentsOf: result) != each.result { wrong.append(each.name) }
    }
    for each in vectors.refused {
        try each.delta.write(to: delta)
        do {
            try Delta.apply(delta, to: source, result: result, limit: 1 << 20)
            taken.append(each.reason)
        } catch is DeltaRefused {}
    }
    show(["applied": vectors.applied.count, "refused": vectors.refused.count, "wrong": wrong, "taken": taken])
}

func patch(_ words: [String]) throws {
    let urls = words[1...3].map { URL(fileURLWithPath: $0) }
    let began = Date()
    try Delta.apply(urls[1], to: urls[0], result: urls[2], limit: Int(words[4])!)
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    show(["seconds": Date().timeIntervalSince(began), "KiB": usage.ru_maxrss])
}

var folder = CommandLine.arguments[2]
var current = try updater(folder)
var opened: Scorer?
var first: Task<[String], Never>?

@MainActor
func answer(_ words: [String]) async throws {
    switch words[0] {
    case "update":
        try await current.update(force: words.count > 1)
        show(["states": states(current)])
    case "cancel":
        let task = Task { [current] in try await current.update(force: true) }
        for await state in current.states where state.values.contains(where: { $0.loadedBytes > 0 }) { break }
        task.cancel()
        _ = try await task.value
        show(["states": states(current)])
    case "load":
        opened = try await load(current)
    case "test":
        let test = try opened?.selfTest()
        show(["passed": test?.passed ?? false, "outputs": test?.outputs.count ?? 0])
    case "run": show(["sum": try opened.map(sum) ?? 0])
    case "runs":
        await runs(opened!, current, Int(words[1])!, Int(words[2])!, isUpdating: words.count > 3)
    case "pressure":
        MemoryPressure.shared.tell()
        show([:])
    case "heat":
        Heat.shared.set(leastDuration: 0)
        Heat.shared.set(isHot: words[1] == "hot")
        show([:])
    case "close":
        opened?.close()
        opened = nil
        show(["closed": true])
    case "state": show(["states": states(current)])
    case "freeze": try await current.freeze()
    case "unfreeze": try await current.unfreeze()
    case "pin": try await current.pin(words[1], version: words[2])
    case "unpin": try await current.unpin(words[1])
    case "remove": try await current.remove()
    case "metered": setting.change { $0.conditions.isUnmetered = ["yes": false, "no": true][words[1]] }
    case "charging": setting.change { $0.conditions.isCharging = ["yes": true, "no": false][words[1]] }
    case "limit":
        setting.change { $0.limit = Int(words[1]) }
        current = try updater(folder)
    case "patience":
        setting.change { ($0.pace.document, $0.pace.file) = (Double(words[1])! / 1000, Double(words[2])! / 1000) }
        current = try updater(folder)
    case "device":
        opened?.close()
        MemoryPressure.shared.tell()
        (folder, opened) = (words[1], nil)
        setting.change { $0 = Setting() }
        current = try updater(folder)
    case "die": dieAtRename(Int32(words[1])!)
    case "refuse": refuse(Int32(words[1])!, words[2...].joined(separator: " "))
    case "away": Presence.shared.set(isAway: words[1] == "yes")
    case "end": setting.change { ($0.ends, $0.leaves) = (true, words[1] == "left") }
    case "try":
        // As a trial does that ends the app.
        let store = try UpdateStore(place(folder))
        let attempts = Attempts(store: store, model: "scorer", observer: nil)
        try attempts.during(.trying, words[1]) { endHere() }
    case "spoil": try spoil(folder)
    case "states":
        let other = try updater(words[1])
        first = Task {
            for await state in other.states { return state.values.map(\.phase.rawValue) }
            return []
        }
        show(["waits": true])
    case "first": show(["phase": await first?.value.first ?? ""])
    case "bans": show(["bans": metrics.snapshot()["scorer"]?.bans ?? 0])
    case "vectors": try apply(words[1], URL(fileURLWithPath: folder))
    case "patch": try patch(words)
    default: show(["error": "unknown", "message": words[0]])
    }
    let silent = [
        "freeze", "unfreeze", "pin", "unpin", "remove", "metered", "charging", "limit", "patience", "device", "die", "refuse", "away", "end", "spoil"
    ]
    if silent.contains(words[0]) { show(["states": states(current)]) }
}

show(["states": states(current)])
while let line = readLine() {
    do {
        try await answer(line.split(separator: " ").map(String.init))
    } catch {
        tell(error)
    }
}
