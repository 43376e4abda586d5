internal import Foundation

/// A directory of a test's own, which is removed with the object.
///
/// It is empty at first, and only its owner may read it. Paths are absolute. `TMPDIR` says on which file system it is.
public final class Scratch: Sendable {
    public let directory: String

    /// Stops the test program if the directory cannot be made.
    public init() {
        directory = FileManager.default.temporaryDirectory.path + "/litevault-" + UUID().uuidString
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            preconditionFailure("no directory for a test: \(error)")
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    public func path(_ name: String) -> String { directory + "/" + name }

    /// The names of everything in the directory, hidden files included, sorted.
    public func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory).sorted() }

    public func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: url(name))) }

    /// The content of a file, as UTF-8.
    public func text(_ name: String) throws -> String { String(decoding: try Data(contentsOf: url(name)), as: UTF8.self) }

    /// Makes or replaces a file, and returns its path.
    @discardableResult
    public func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
        try write(text.utf8, to: name, mode: mode)
    }

    /// Makes or replaces a file, and returns its path.
    @discardableResult
    public func write(_ bytes: some Sequence<UInt8>, to name: String, mode: Int = 0o600) throws -> String {
        try Data(bytes).write(to: url(name))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
        return path(name)
    }

    private func url(_ name: String) -> URL { URL(fileURLWithPath: path(name)) }
}
