import SwiftUI

@main
struct ClassifyApp: App {
    var body: some Scene {
        WindowGroup {
            ContentView()
        }
    }
}
