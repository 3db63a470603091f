import SwiftUI

@main
struct ClassifyApp: App {
    var body: some Scene {
        WindowGroup {
            TabView {
                ContentView().tabItem { Label("Pictures", systemImage: "photo") }
                NotesView().tabItem { Label("Notes", systemImage: "note.text") }
            }
        }
    }
}
