// Starts the search of the sample app several times, and prints what it finds for the queries.

import Foundation
import NotesKit

/// Opens the model, and prints how often it ran until the search was ready.
func start(_ name: String, _ notes: [Note], _ file: URL) async throws -> NoteSearch {
    let metrics = ModelMetrics()
    let model = try await Embedder.load(options: Options(observer: metrics))
    let search = try await NoteSearch(model: model, notes: notes, file: file)
    print("\(name) runs\t\(metrics.snapshot().values.map(\.runs).reduce(0, +))")
    return search
}

func words(_ found: [FoundNote]) -> String {
    let titles = found.map(\.note.title).joined(separator: "|")
    return "\(titles);\(found.map { "\($0.score)" }.joined(separator: " "))"
}

/// Twenty queries, as somebody types: each ends the search for the one before. Gives the number of those with results.
func typed(_ query: String, _ search: NoteSearch) async throws -> (Int, String) {
    let prefixes = (1..<20).map { String(query.prefix($0)) } + [query]
    var tasks: [Task<[FoundNote], any Error>] = []
    for prefix in prefixes {
        tasks.last?.cancel()
        tasks.append(Task { try await search.nearest(to: prefix) })
    }
    var answers = 0
    for task in tasks {
        if case .success = await task.result { answers += 1 }
    }
    return (answers, words(try await tasks[tasks.count - 1].value))
}

let arguments = CommandLine.arguments
let notes = try JSONDecoder().decode([Note].self, from: Data(contentsOf: URL(fileURLWithPath: arguments[1])))
let file = URL(fileURLWithPath: arguments[2])

for name in ["first", "second"] {
    let search = try await start(name, notes, file)
    for query in arguments.dropFirst(3) {
        print("\(name) \(query)\t\(words(try await search.nearest(to: query)))")
    }
}
let added = try JSONDecoder().decode([Note].self, from: Data(#"[{"title": "New", "text": "One more."}]"#.utf8))
let search = try await start("added", notes + added, file)
let (answers, last) = try await typed(arguments[3], search)
print("answers\t\(answers)")
print("last answer\t\(last)")
print("blank\t\(try await search.nearest(to: " ").count)")
try Data(contentsOf: file).prefix(1000).write(to: file)
_ = try await start("damaged", Array(notes.prefix(2)), file)
