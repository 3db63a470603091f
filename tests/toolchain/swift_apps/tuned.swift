import ModelsKit

func say(_ name: String, _ info: Info, _ fallbacks: [Fallback], _ test: SelfTest) {
    let others = fallbacks.map(\.provider.rawValue).joined(separator: ", ")
    print("\(name): \(info.file), fell back from \(others): \(test.passed ? "passed" : "failed")")
}

let asked: [(String, Options)] = [
    ("usual", Options()),
    ("off", Options(tuned: false)),
    ("own order", Options(providers: [.coreML])),
    ("own threads", Options(threads: 1)),
]
for (name, options) in asked {
    let model = try Chain(options: options)
    say(name, model.info, model.fallbacks, try model.selfTest())
}
let plain = try Plain()
say("the CPU alone", plain.info, plain.fallbacks, try plain.selfTest())
