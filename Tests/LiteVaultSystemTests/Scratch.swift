internal import Foundation
internal import Testing

/// A directory of its own for one test, removed with it.
final class Scratch {
    let path: String

    init() throws {
        let base = ProcessInfo.processInfo.environment["LITEVAULT_TEST_DIRECTORY"] ?? NSTemporaryDirectory()
        path = base + "/durable-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }

    @discardableResult
    func write(_ name: String, _ text: String = "content") throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }

    func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: file(name))), as: UTF8.self)
    }

    /// Everything in the directory, hidden files included.
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
}

/// Appends to a file without the library's help, the way SQLite would write to the temporary.
func fill(_ path: String, _ text: String) throws {
    let handle = try #require(FileHandle(forWritingAtPath: path))
    try handle.write(contentsOf: Data(text.utf8))
    try handle.close()
}
