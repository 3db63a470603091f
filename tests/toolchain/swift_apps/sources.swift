// One scenario a process: a download, or a model from a source. It prints what came of it.

import Foundation

@testable import SmallNetsKit

/// Prints an object of JSON.
func show(_ values: [String: Any]) {
    let text = try? JSONSerialization.data(withJSONObject: values, options: .sortedKeys)
    print(String(decoding: text ?? Data(), as: UTF8.self))
}

let words = CommandLine.arguments
let variables = ProcessInfo.processInfo.environment
/// How often each of two downloads at once has told how far it is.
let told = Shared<[Int]>([0, 0])

func number(_ name: String) -> Double? {
    variables[name].flatMap(Double.init)
}

/// The case of an error.
func kind(_ error: any Error) -> String {
    error is CancellationError ? "cancelled" : Mirror(reflecting: error).children.first?.label ?? "\(error)"
}

/// Downloads a file at `ADDRESS` with a SHA-256 and a size to a folder, at a pace for tests, and cancels that where it
/// is asked to. Of two at once, the one that is ahead waits: each has a `turn`, and tells how far it is more than thrice.
func fetch(_ address: String, _ folder: String, _ sha256: String, _ sizeBytes: Int, turn: Int? = nil) {
    let place = URL(fileURLWithPath: folder, isDirectory: true)
    var downloads = Downloads(address: URL(string: address)!, folder: place)
    downloads.pace = Pace(
        attempts: 4, leastBytes: 5000, firstPause: number("FIRST_PAUSE") ?? 0.01, stall: number("STALL") ?? 60)
    let resource = Resource(path: "x", sha256: sha256, endsSha256: sha256, sizeBytes: sizeBytes)
    let progress = Shared<[Int]>([])
    let cancellation = Cancellation()
    let loading = Loading(cancellation: cancellation) { found in
        progress.change { $0.append(found.loadedBytes) }
        if let turn {
            told.change { $0[turn] += 1 }
            while told.inTurn({ $0[turn] > 3 && $0[1 - turn] <= 3 }) { usleep(1000) }
        }
        if let bytes = number("CANCEL_BYTES"), found.loadedBytes > Int(bytes) { cancellation.cancel() }
    }
    if let seconds = number("CANCEL_SECONDS") {
        if seconds == 0 { cancellation.cancel() }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { cancellation.cancel() }
    }
    do {
        try downloads.fetch([resource], loading)
        show(["error": "", "progress": progress.inTurn { $0 }])
    } catch {
        show(["error": kind(error), "words": "\(error)", "progress": progress.inTurn { $0 }])
    }
}

func source() -> Source {
    let place = words[3]
    let sha256 = variables["SHA256"]
    switch words[2] {
    case "url": return .url(URL(string: place)!)
    case "folder": return .folder(URL(fileURLWithPath: place))
    case "file": return .file(URL(fileURLWithPath: place), sha256: sha256)
    case "bytes": return .bytes((try? Data(contentsOf: URL(fileURLWithPath: place))) ?? Data(), sha256: sha256)
    case "descriptor":
        let size = number("SIZE").map { Int($0) }
        return .descriptor(open(place, O_RDONLY), offset: Int(number("OFFSET") ?? 0), size: size, sha256: sha256)
    default: return .bundled
    }
}

/// Tells of the load alone.
struct Printer: ModelObserver {
    func onLoad(_ event: LoadEvent) { show(["loaded": event.source.rawValue, "fallbacks": event.fallbacks.count]) }
    func onFailure(_ event: FailureEvent) { show(["failed": "\(event.error)"]) }
}

let options = Options(providers: [.xnnpack, .cpu], threads: 1, observer: Printer())

func answer(of model: Linear) throws -> [Float] {
    var input = Linear.Input()
    for index in input.x.indices { input.x[index] = Float(index) }
    return try model.run(input).y
}

func load() async {
    do {
        let progress = Shared<[[Int]]>([])
        let source = source()
        let model = try await Linear.load(from: source, options: options) { found in
            progress.change { $0.append([found.loadedBytes, found.totalBytes]) }
        }
        if case .descriptor(let descriptor, _, _, _) = source { Foundation.close(descriptor) }
        let test = try model.selfTest()
        show([
            "answer": try answer(of: model).map(Double.init), "file": model.info.file, "sha256": model.info.sha256,
            "size": model.info.sizeBytes, "passed": test.passed, "samples": test.outputs.count,
            "profiled": try model.profile(Linear.Input(), runs: 1).pathExtension, "progress": progress.inTurn { $0 }
        ])
    } catch {
        show(["error": kind(error), "words": "\(error)"])
    }
}

/// Cancels a load as soon as some of it is there.
func cancel() async {
    let task = Shared<Task<Void, any Error>?>(nil)
    let started = Task {
        while task.inTurn({ $0 }) == nil { try await Task.sleep(nanoseconds: 1_000_000) }
        _ = try await Linear.load(from: source(), options: options) { progress in
            if progress.loadedBytes > 0 { task.inTurn { $0 }?.cancel() }
        }
    }
    task.change { $0 = started }
    do { try await started.value } catch { show(["error": kind(error)]) }
}

func blocking() {
    do {
        let model = try Linear(from: source(), options: options)
        show(["answer": try answer(of: model).map(Double.init)])
    } catch {
        show(["error": kind(error)])
    }
}

/// Downloads that are cancelled at any moment: each ends. A server that sends nothing would hold them.
func cancels(_ address: String, _ folder: String) {
    let ended = DispatchGroup()
    let found = Shared<[String: Int]>([:])
    for thread in 0..<8 {
        ended.enter()
        Thread.detachNewThread {
            for number in 0..<25 {
                let cancellation = Cancellation()
                Thread.detachNewThread {
                    usleep(UInt32(number * 40))
                    cancellation.cancel()
                }
                var downloads = Downloads(
                    address: URL(string: address)!, folder: URL(fileURLWithPath: folder, isDirectory: true))
                downloads.pace = Pace(firstPause: 60, stall: 60)
                let sha256 = String(repeating: "\(thread)", count: 60) + "\(1000 + number)"
                let resource = Resource(path: "x", sha256: sha256, endsSha256: sha256, sizeBytes: 8000)
                do {
                    try downloads.fetch([resource], Loading(cancellation: cancellation))
                } catch {
                    found.change { $0[kind(error), default: 0] += 1 }
                }
            }
            ended.leave()
        }
    }
    ended.wait()
    show(found.inTurn { $0 })
}

/// The networks that downloads of a model may use.
func networks() throws {
    func access(_ options: Options) throws -> [Bool] {
        let found = try Linear.files.opener(source(), options).folder.downloads?.access
        return [found?.isConstrainedAllowed ?? false, found?.isExpensiveAllowed ?? false]
    }
    let other = Options(allowsConstrainedNetworkAccess: true, allowsExpensiveNetworkAccess: false)
    let usual = NetworkAccess()
    show([
        "usual": try access(Options()), "other": try access(other),
        "updates": [usual.isConstrainedAllowed, usual.isExpensiveAllowed]
    ])
}

setvbuf(stdout, nil, _IOLBF, 0)
switch words[1] {
case "fetch": fetch(words[2], words[3], words[4], Int(words[5])!)
case "twice":
    let ended = DispatchGroup()
    for turn in 0..<2 {
        ended.enter()
        Thread.detachNewThread {
            fetch(words[2], words[3], words[4], Int(words[5])!, turn: turn)
            ended.leave()
        }
    }
    ended.wait()
case "load": await load()
case "cancel": await cancel()
case "networks": try networks()
case "cancels": cancels(words[2], words[3])
case "remove": try Source.removeDownloads()
case "remove old": try Source.removeOldDownloads()
default: blocking()
}
