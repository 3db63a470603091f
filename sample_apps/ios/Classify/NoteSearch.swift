import Foundation
import NotesKit

/// A note of somebody.
struct Note: Decodable, Sendable {
    let title: String
    let text: String

    /// The words that a search compares.
    var words: String { "\(title). \(text)" }
}

/// A note, and how near it is to a query: the cosine of the two vectors.
struct FoundNote: Identifiable, Sendable {
    let note: Note
    let score: Float

    var id: String { note.title }
}

/// Finds notes by meaning. The model makes a vector of each note, once: a file keeps them.
struct NoteSearch: Sendable {
    private let model: Embedder
    private let notes: [Note]
    private let vectors: [[Float]]

    /// Makes the vectors of those notes that have none in `file`, and keeps them there.
    init(model: Embedder, notes: [Note], file: URL) async throws {
        let kept = KeptVectors.read(from: file, model: model.info.sha256)
        var vectors: [[Float]] = []
        for note in notes {
            if let vector = kept[note.words] {
                vectors.append(vector)
            } else {
                vectors.append(try await model.embed(note.words))
            }
        }
        let all = Dictionary(zip(notes.map(\.words), vectors), uniquingKeysWith: { first, _ in first })
        if all.keys != kept.keys {
            try KeptVectors(model: model.info.sha256, vectors: all).write(to: file)
        }
        self.model = model
        self.notes = notes
        self.vectors = vectors
    }

    /// The `count` notes nearest to `query`, best first; none for a blank query.
    ///
    /// - Throws: CancellationError when the task is cancelled: the model's run ends at its next operator.
    func nearest(to query: String, count: Int = 5) async throws -> [FoundNote] {
        guard query.contains(where: { !$0.isWhitespace }) else { return [] }
        let vector = try await model.embed(query)
        return try Similarity.nearest(vector, in: vectors, count: count).map {
            FoundNote(note: notes[$0.index], score: $0.score)
        }
    }
}

/// The vectors of notes by their words, and the model that made them.
private struct KeptVectors: Codable {
    let model: String
    let vectors: [String: [Float]]

    /// None if there is no file yet, or if another model made them.
    static func read(from file: URL, model: String) -> [String: [Float]] {
        guard let data = try? Data(contentsOf: file),
            let kept = try? JSONDecoder().decode(KeptVectors.self, from: data),
            kept.model == model
        else { return [:] }
        return kept.vectors
    }

    func write(to file: URL) throws {
        try JSONEncoder().encode(self).write(to: file, options: .atomic)
    }
}
