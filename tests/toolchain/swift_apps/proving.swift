// Loads a model with a proof of the provider that lies, and prints a line of facts for each load: `BEHAVIOUR {...}`. The
// arguments are behaviours. With the variable BACKGROUND a behaviour is loaded until it is proved; the variable HOW names
// loads that come first, which print a line, too.

import Foundation
import ProvedKit

final class Told: ModelObserver, @unchecked Sendable {
    var reasons: [String] = []

    func onLoad(_ event: LoadEvent) { reasons = event.fallbacks.map(\.reason) }
}

let isInBackground = ProcessInfo.processInfo.environment["BACKGROUND"] != nil
let input = Products.Input(x: Products.Input().x.indices.map { Float($0 % 7) })
let right = try Products(options: Options(providers: [.cpu])).run(input).y

func optionsFor(_ behaviour: String, limit: Double = 60, _ observer: Told? = nil) -> Options {
    let proof = Proof(limit: limit, inBackground: isInBackground)
    return Options(
        providers: [.liar], proof: proof,
        providerOptions: [.liar: ["behaviour": behaviour]], observer: observer)
}

func say(_ behaviour: String, _ facts: [String: Any]) throws {
    let line = String(decoding: try JSONSerialization.data(withJSONObject: facts), as: UTF8.self)
    print(behaviour, line, separator: "\t")
    fflush(stdout)
}

func isProved(_ behaviour: String) async throws -> Bool {
    let told = Told()
    // A busy machine is slow, and whoever hangs is so for ever.
    let options = optionsFor(behaviour, limit: behaviour == "hang" ? 3 : 60, told)
    let model = try await Products.load(options: options)
    defer { model.close() }
    let found = try await model.run(input).y
    let proofs: [[String: Any]] = model.info.proofs.map {
        [
            "isProved": $0.isProved, "reason": $0.reason,
            "isMeasured": $0.seconds != nil && $0.cpuSeconds != nil
        ]
    }
    let facts: [String: Any] = [
        "provider": model.provider.rawValue.lowercased(), "proofs": proofs,
        "fallbacks": model.fallbacks.map(\.reason), "told": told.reasons,
        "isRight": zip(found, right).allSatisfy { abs($0 - $1) <= 1e-4 * abs($1) }
    ]
    try say(behaviour, facts)
    return model.provider == .liar
}

/// Verdicts of loads that begin at once, each once: with their times, which no two proofs share.
func together(_ options: Options) async throws -> [String: Any] {
    let found = try await withThrowingTaskGroup(of: String.self) { loads in
        for _ in 0..<4 {
            loads.addTask {
                let model = try await Products.load(options: options)
                defer { model.close() }
                let proof = model.info.proofs[0]
                return "\(proof) \(proof.seconds ?? 0) \(proof.cpuSeconds ?? 0)"
            }
        }
        return try await loads.reduce(into: Set<String>()) { $0.insert($1) }
    }
    return ["verdicts": found.sorted()]
}

/// Cancels a load as soon as its proof is on record.
func cancelled(_ options: Options) async throws -> [String: Any] {
    let load = Task { try await Products.load(options: options).close() }
    while !record().contains("trying") { try await Task.sleep(nanoseconds: 10_000_000) }
    load.cancel()
    do {
        try await load.value
        return ["end": "loaded"]
    } catch {
        return ["end": "\(error)", "record": record()]
    }
}

func record() -> String {
    let folder = ProcessInfo.processInfo.environment["XDG_DATA_HOME"] ?? ""
    let all = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    let found = all.first { $0.hasSuffix("/products.json") }
    return found.flatMap { try? String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) } ?? ""
}

/// A file of the app's own has no samples in the package.
func ownFile(_ options: Options) async throws -> [String: Any] {
    let own = URL(fileURLWithPath: ProcessInfo.processInfo.environment["MODEL"] ?? "")
    let model = try await Products.load(from: .file(own), options: options)
    defer { model.close() }
    return ["provider": model.provider.rawValue.lowercased(), "proofs": model.info.proofs.map(\.reason)]
}

let first = CommandLine.arguments.dropFirst().first ?? ""
switch ProcessInfo.processInfo.environment["HOW"] {
case "together": try say("together", try await together(optionsFor(first)))
case "cancelled": try say("cancelled", try await cancelled(optionsFor(first)))
case "own file": try say("own file", try await ownFile(optionsFor(first)))
default: break
}
for behaviour in CommandLine.arguments.dropFirst() {
    while try await !isProved(behaviour) && isInBackground {}
}
// A proof behind an earlier load may be under way: its thread would use what the process frees when it ends as usual.
_exit(0)
