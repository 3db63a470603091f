import Foundation
import XCTest

@testable import ModelsKit

/// Models in a folder that the app fills itself.
final class FilesTests: XCTestCase {
    private var folder = URL(fileURLWithPath: "/")
    /// The weights, which lie in a file beside the graph.
    private var file: URL { folder.appendingPathComponent("silero-vad/model.ort") }
    private var graph: URL { folder.appendingPathComponent("silero-vad/fixed.onnx") }
    private var golden: URL { folder.appendingPathComponent("silero-vad/golden.safetensors") }

    override func setUpWithError() throws {
        let temporary = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
        folder = temporary.appendingPathComponent("Models é")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let packaged = Folder.packaged.url.appendingPathComponent("silero-vad")
        try FileManager.default.copyItem(at: packaged, to: folder.appendingPathComponent("silero-vad"))
    }

    override func tearDownWithError() throws {
        try FileManager.default.removeItem(at: folder.deletingLastPathComponent())
    }

    private func load() throws -> SileroVad { try SileroVad(contentsOf: folder, options: onCPU) }

    /// Writes other bytes to a file, of which it keeps `count`.
    private func alter(_ file: URL, at place: Int? = nil, keeping count: Int? = nil) throws {
        var bytes = try Data(contentsOf: file)
        if let place { bytes[place] ^= 1 }
        try bytes.prefix(count ?? bytes.count).write(to: file)
    }

    private func assertCorrupted(_ file: URL, _ body: () throws -> Void) throws {
        let error = try modelError(body)
        guard case .corrupted(let path, let found, let expected) = error else { return XCTFail("\(error)") }
        XCTAssertEqual(path, file.path)
        XCTAssertNotEqual(found, expected)
        XCTAssertEqual([found.count, expected.count], [64, 64])
        XCTAssertTrue("\(error)".contains("\(file.path) has sha256 \(found)"), "\(error)")
    }

    func testAFolderThatWasDownloadedIsAsGoodAsThePackagesOwn() throws {
        let model = try load()
        XCTAssertEqual(model.info, try SileroVad(options: onCPU).info)
        let test = try model.selfTest()
        XCTAssertTrue(test.passed, "\(test)")
        XCTAssertEqual(test.outputs.count % 2, 0)
        XCTAssertFalse(test.outputs.isEmpty)
    }

    func testItLoadsAwayFromTheCallersThread() async throws {
        let model = try await SileroVad.load(contentsOf: folder, options: onCPU)
        XCTAssertEqual(model.provider, .cpu)
    }

    func testAModelWithAnotherBitIsRefused() throws {
        let size = try Data(contentsOf: file).count
        for place in [0, size / 2, size - 1] {
            try alter(file, at: place)
            try assertCorrupted(file) { _ = try load() }
            try alter(file, at: place)
        }
        _ = try load()
    }

    func testAModelThatWasAlteredAfterItWasLoadedOnceIsRefused() throws {
        _ = try load()
        try alter(file, at: 4000)
        try assertCorrupted(file) { _ = try load() }
    }

    func testAModelThatIsCutShortIsRefused() throws {
        try alter(file, keeping: 100_000)
        try assertCorrupted(file) { _ = try load() }
    }

    func testAGraphWithAnotherBitIsRefused() throws {
        try alter(graph, at: 500)
        try assertCorrupted(graph) { _ = try load() }
    }

    func testAGraphThatIsMissingIsNamed() throws {
        try FileManager.default.removeItem(at: graph)
        XCTAssertEqual(try modelError { _ = try load() }, .missing(path: graph.path))
    }

    func testAModelThatIsEmptyIsRefused() throws {
        try alter(file, keeping: 0)
        try assertCorrupted(file) { _ = try load() }
    }

    func testAModelThatIsMissingIsNamed() throws {
        try FileManager.default.removeItem(at: file)
        XCTAssertEqual(try modelError { _ = try load() }, .missing(path: file.path))
    }

    func testAFolderThatIsMissingIsNamed() throws {
        let nowhere = folder.appendingPathComponent("nowhere")
        let error = try modelError { _ = try SileroVad(contentsOf: nowhere, options: onCPU) }
        guard case .missing(let path) = error else { return XCTFail("\(error)") }
        XCTAssertTrue(path.hasPrefix(nowhere.appendingPathComponent("silero-vad").path), path)
        XCTAssertTrue("\(error)".contains("is missing"), "\(error)")
    }

    func testGoldenVectorsWithAnotherBitAreRefused() throws {
        try alter(golden, at: 3000)
        let model = try load()
        try assertCorrupted(golden) { _ = try model.selfTest() }
    }

    func testGoldenVectorsThatAreCutShortAreRefused() throws {
        try alter(golden, keeping: 1000)
        let model = try load()
        try assertCorrupted(golden) { _ = try model.selfTest() }
    }

    func testGoldenVectorsThatAreMissingAreNamed() throws {
        try FileManager.default.removeItem(at: golden)
        let model = try load()
        XCTAssertEqual(try modelError { _ = try model.selfTest() }, .missing(path: golden.path))
    }
}
