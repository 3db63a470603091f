import ModelsKit

let asked: [(String, Options)] = [
    ("usual", Options()),
    ("off", Options(tuned: false)),
    ("own order", Options(providers: [.coreML])),
]
for (name, options) in asked {
    let model = try Chain(options: options)
    print("\(name): fell back from \(model.fallbacks.map(\.provider.rawValue).joined(separator: ", "))")
}
let plain = try Plain()
print("the CPU alone: fell back from \(plain.fallbacks.map(\.provider.rawValue).joined(separator: ", "))")
