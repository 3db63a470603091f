// Loads a model with a proof of the provider that lies, and prints a line of facts for each load: `BEHAVIOUR {...}`. The
// arguments are behaviours. With the variable BACKGROUND a behaviour is loaded until it is proved.

import Foundation
import ProvedKit

final class Told: ModelObserver, @unchecked Sendable {
    var reasons: [String] = []

    func onLoad(_ event: LoadEvent) { reasons = event.fallbacks.map(\.reason) }
}

let isInBackground = ProcessInfo.processInfo.environment["BACKGROUND"] != nil
let input = Products.Input(x: Products.Input().x.indices.map { Float($0 % 7) })
let right = try Products(options: Options(providers: [.cpu])).run(input).y

func isProved(_ behaviour: String) async throws -> Bool {
    let told = Told()
    // A busy machine is slow, and whoever hangs is so for ever.
    let proof = Proof(limit: behaviour == "hang" ? 3 : 60, inBackground: isInBackground)
    let options = Options(
        providers: [.liar], proof: proof,
        providerOptions: [.liar: ["behaviour": behaviour]], observer: told)
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
    let line = String(decoding: try JSONSerialization.data(withJSONObject: facts), as: UTF8.self)
    print(behaviour, line, separator: "\t")
    fflush(stdout)
    return model.provider == .liar
}

for behaviour in CommandLine.arguments.dropFirst() {
    while try await !isProved(behaviour) && isInBackground {}
}
