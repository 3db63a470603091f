import NotesKit
import SwiftUI

/// The notes that are nearest in meaning to what somebody types.
struct NotesView: View {
    @State private var query = ""
    @State private var search: NoteSearch?
    @State private var found: [FoundNote] = []
    @State private var problem: String?

    var body: some View {
        NavigationStack {
            List(found) { NoteRow(found: $0) }
                .navigationTitle("Notes")
                .searchable(text: $query, prompt: "Search by meaning")
                .overlay {
                    if let problem {
                        Text(verbatim: problem).foregroundStyle(.red).padding()
                    } else if search == nil {
                        ProgressView()
                    }
                }
        }
        .task { await open() }
        .task(id: query) { await find() }
    }

    private func open() async {
        guard search == nil else { return }
        do {
            guard let file = Bundle.main.url(forResource: "notes", withExtension: "json") else { return }
            let notes = try JSONDecoder().decode([Note].self, from: Data(contentsOf: file))
            let vectors = URL.cachesDirectory.appending(path: "note-vectors.json")
            search = try await NoteSearch(model: Embedder.load(), notes: notes, file: vectors)
        } catch is CancellationError {
            return  // the screen was left: it starts again when somebody returns
        } catch {
            problem = error.localizedDescription
        }
        await find()
    }

    /// A new query ends the task for the one before.
    private func find() async {
        guard let search else { return }
        do {
            found = try await search.nearest(to: query)
        } catch is CancellationError {
            return
        } catch {
            problem = error.localizedDescription
        }
    }
}

/// A note that was found, with its score.
private struct NoteRow: View {
    let found: FoundNote

    var body: some View {
        VStack(alignment: .leading, spacing: 4) {
            HStack {
                Text(verbatim: found.note.title).font(.headline)
                Spacer()
                Text(found.score, format: .number.precision(.fractionLength(2))).monospacedDigit()
            }
            Text(verbatim: found.note.text)
        }
        .accessibilityElement(children: .combine)
    }
}
