// Empty: SwiftPM asks for a folder of public headers, and nothing outside of this package includes one of it.
