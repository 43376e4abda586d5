internal import Foundation

/// One SQL file.
struct Script {
    let path: String
    let text: String
    let bytes: [UInt8]

    init(path: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        self.path = path
        bytes = Array(data)
        guard let text = String(data: data, encoding: .utf8) else {
            throw Diagnostics(Location(path: path, line: 1, column: 1), "the file is not text in UTF-8")
        }
        if let zero = bytes.firstIndex(of: 0) {
            throw Diagnostics(Self.location(path, bytes, zero), "the file holds a NUL byte, where SQL would end")
        }
        self.text = text
    }

    /// The file's name without folder and extension: `0002-add-email`.
    var name: String { URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent }

    /// Line and column of a byte offset.
    func location(at offset: Int) -> Location { Self.location(path, bytes, offset) }

    /// The offset of the first byte at or after `offset` that is neither blank nor part of a comment.
    func start(after offset: Int) -> Int {
        var index = offset
        while index < bytes.count {
            if [UInt8(ascii: " "), 9, 10, 12, 13, UInt8(ascii: ";")].contains(bytes[index]) {
                index += 1
            } else if bytes[index...].starts(with: Array("--".utf8)) {
                index = bytes[index...].firstIndex(of: 10) ?? bytes.count
            } else if bytes[index...].starts(with: Array("/*".utf8)) {
                index += 2
                while index < bytes.count, !bytes[index...].starts(with: Array("*/".utf8)) { index += 1 }
                index = min(index + 2, bytes.count)
            } else {
                break
            }
        }
        return index
    }

    private static func location(_ path: String, _ bytes: [UInt8], _ offset: Int) -> Location {
        let before = bytes[..<min(offset, bytes.count)]
        let line = before.count { $0 == 10 }
        let start = before.lastIndex(of: 10).map { $0 + 1 } ?? 0
        return Location(path: path, line: line + 1, column: before.count - start + 1)
    }
}
