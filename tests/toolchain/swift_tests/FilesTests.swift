import Foundation
import XCTest

@testable import ModelsKit

/// Models in a folder that the app fills itself.
final class FilesTests: XCTestCase {
    private var folder = URL(fileURLWithPath: "/")
    /// The weights, which lie in a file beside the graph.
    private var file: URL { place(of: "model.ort") }
    private var graph: URL { place(of: "fixed.onnx") }
    private var golden: URL { place(of: "golden.safetensors") }
    private var resources: [Resource] {
        SileroVad.files.files.flatMap { [$0.resource] + $0.weights } + SileroVad.files.samples
    }
    private var records: URL { folder.deletingLastPathComponent().appendingPathComponent("records") }

    override func setUpWithError() throws {
        let temporary = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
        folder = temporary.appendingPathComponent("Models é")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for resource in resources {
            let place = folder.appendingPathComponent(resource.sha256)
            guard !FileManager.default.fileExists(atPath: place.path) else { continue }
            try FileManager.default.copyItem(at: Folder.packaged.url(of: resource), to: place)
        }
    }

    /// Files have their SHA-256 for a name.
    private func place(of name: String) -> URL {
        let path = "silero-vad/\(name)"
        return folder.appendingPathComponent(resources.first { $0.path == path }?.sha256 ?? path)
    }

    override func tearDownWithError() throws {
        try FileManager.default.removeItem(at: folder.deletingLastPathComponent())
    }

    @discardableResult
    private func load(_ verify: Verify = .once) throws -> SileroVad {
        var options = onCPU
        options.verify = verify
        let folder = Folder(url: folder, records: records, hasNames: false)
        return SileroVad(try ModelOpener(model: SileroVad.files, folder: folder, options: options).open())
    }

    /// What the records say, by their names.
    private func notes() throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: records.path)
        return try Dictionary(uniqueKeysWithValues: names.map { name in
            (name, try Data(contentsOf: records.appendingPathComponent(name)))
        })
    }

    /// The times of a file as records have them.
    private func times(_ file: URL) -> String {
        var about = stat()
        XCTAssertEqual(stat(file.path, &about), 0)
        let (modified, changed) = (about.st_mtim, about.st_ctim)
        return "\(modified.tv_sec).\(modified.tv_nsec) \(changed.tv_sec).\(changed.tv_nsec)"
    }

    /// Changes a byte as failing storage does, which leaves the times of a file: as they cannot be set, records are told.
    private func rot(_ file: URL, at place: Int) throws {
        let before = times(file)
        let handle = try FileHandle(forUpdating: file)
        try handle.seek(toOffset: UInt64(place))
        let byte = try XCTUnwrap(handle.read(upToCount: 1)?.first)
        try handle.seek(toOffset: UInt64(place))
        try handle.write(contentsOf: Data([byte ^ 1]))
        try handle.close()
        XCTAssertNotEqual(times(file), before)
        var told = 0
        for (name, content) in try notes() {
            let text = String(decoding: content, as: UTF8.self)
            guard text.hasSuffix(file.path) else { continue }
            told += 1
            let altered = text.replacingOccurrences(of: before, with: times(file))
            XCTAssertNotEqual(altered, text)
            try Data(altered.utf8).write(to: records.appendingPathComponent(name))
        }
        XCTAssertEqual(told, 1)
    }

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
        for output in test.outputs {
            XCTAssertEqual([output.tolerance, output.absoluteTolerance], [1e-3, 1e-5])
            XCTAssertLessThanOrEqual(output.maxAbsError, 1e-5 + 1e-3 * output.scale)
            XCTAssertEqual(output.maxRelError, output.maxAbsError / output.scale)
            XCTAssertTrue("\(output)".contains(", allowed 1.0e-05 + 1.0e-03 x "), "\(output)")
        }
    }

    func testADeviceThatGivesInfinityEverywhereHasLostWhatIsCompared() throws {
        let scores: [Float] = [0.9, .infinity, .infinity, 0.8, .infinity, .infinity]
        let bytes = scores.withUnsafeBytes { NSData(bytes: $0.baseAddress, length: $0.count) }
        let sample = GoldenSample(inputs: [], outputs: [GoldenTensor("table", 0, bytes.length, [2, 3])])
        func tested(_ found: [Float]) -> OutputTest {
            let allowed = Allowed(output: "table", rtol: 1e-3, mismatches: 4)
            let test = SampleTest(0, sample, bytes, [allowed])
            test.compare("table", found)
            return test.finished()[0]
        }
        XCTAssertTrue(tested([0.9, 1, 2, 0.8, 3, 4]).passed)
        XCTAssertEqual(tested(Array(repeating: .infinity, count: 6)).mismatchCount, 6)
        XCTAssertFalse(tested(Array(repeating: .infinity, count: 6)).passed)
    }

    func testItLoadsAwayFromTheCallersThread() async throws {
        let model = try await SileroVad.load(from: .folder(folder), options: onCPU)
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

    func testAByteInTheMiddleThatRotsIsFoundByAlwaysAlone() throws {
        try load()
        let size = try Data(contentsOf: file).count
        XCTAssertGreaterThan(size, 3 * 64 * 1024)
        try rot(file, at: size / 2)
        try load()
        try assertCorrupted(file) { try load(.always) }
        try assertCorrupted(file) { try load() }
    }

    func testAByteOfTheFirstOrLastBlockThatRotsIsAlwaysFound() throws {
        let size = try Data(contentsOf: file).count
        for place in [0, 64 * 1024 - 1, size - 64 * 1024, size - 1] {
            try load()
            try rot(file, at: place)
            try assertCorrupted(file) { try load() }
            try alter(file, at: place)
        }
    }

    func testASmallFileThatRotsIsAlwaysFound() throws {
        try load()
        try rot(graph, at: 500)
        try assertCorrupted(graph) { try load() }
    }

    func testAFileThatTookThePlaceOfAnotherIsReadWhole() throws {
        try load()
        let about = try FileManager.default.attributesOfItem(atPath: file.path)
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count / 2] ^= 1
        try FileManager.default.removeItem(at: file)
        try bytes.write(to: file)
        let date = try XCTUnwrap(about[.modificationDate])
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
        try assertCorrupted(file) { try load() }
    }

    func testARecordThatIsDamagedHasTheFileReadWhole() throws {
        try load()
        let right = try notes()
        XCTAssertEqual(right.count, 2)
        let another = try XCTUnwrap(right.values.first)
        for damage in [Data(), Data((0...255).map(UInt8.init)), another, another.dropLast()] {
            for name in right.keys { try damage.write(to: records.appendingPathComponent(name)) }
            try load()
            XCTAssertEqual(try notes(), right)
        }
        for name in right.keys {
            try FileManager.default.removeItem(at: records.appendingPathComponent(name))
            let inside = records.appendingPathComponent(name).appendingPathComponent("inside")
            try FileManager.default.createDirectory(at: inside, withIntermediateDirectories: true)
        }
        try load()
        try alter(file, at: 100_000)
        try assertCorrupted(file) { try load() }
    }

    func testWhereNoRecordCanBeWrittenFilesAreReadWholeEachTime() throws {
        try Data("a file where a folder should be".utf8).write(to: records)
        try load()
        try load()
        try alter(file, at: 100_000)
        try assertCorrupted(file) { try load() }
    }

    func testThreadsMayLoadForTheFirstTimeAtOnce() throws {
        let loaded = Counter()
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            if (try? load()) != nil { loaded.add() }
        }
        XCTAssertEqual(loaded.value, 4)
        let written = try notes()
        XCTAssertEqual(written.count, 2)
        try load()
        XCTAssertEqual(try notes(), written)
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
        let error = try modelError { _ = try SileroVad(from: .folder(nowhere), options: onCPU) }
        guard case .missing(let path) = error else { return XCTFail("\(error)") }
        XCTAssertTrue(resources.contains { path == nowhere.appendingPathComponent($0.sha256).path }, path)
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
