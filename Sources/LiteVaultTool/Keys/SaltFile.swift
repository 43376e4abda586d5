internal import DurableFile
internal import Foundation

/// The file that keeps the salt of a database with a plaintext header. The salt is no secret, but without it the key
/// opens nothing: it is kept like the database itself.
struct SaltFile {
    /// Bytes of a salt.
    static let length = 16

    let path: String

    /// 16 bytes that nobody chose.
    static func makeSalt() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// Reads 32 hexadecimal digits, or exactly 16 bytes.
    ///
    /// - Throws: `no-input` when it can not be read, `usage` when it holds something else.
    func read() throws(Failure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(
                .noInput, "the salt file could not be read: \(String(cString: strerror(errno)))", path: path)
        }
        defer { close(descriptor) }
        let buffer = SecretBuffer()
        do { try buffer.fill(from: descriptor) } catch { throw Failure(.noInput, "this is no salt file", path: path) }
        if buffer.count == Self.length { return buffer.withBytes { [UInt8]($0) } }
        buffer.dropTrailingNewline()
        guard let salt = try? buffer.withHexadecimal({ bytes in Array(bytes) }), salt.count == Self.length else {
            throw Failure(
                .usage, "this is no salt file", path: path, remedy: "It must hold 32 hexadecimal digits or 16 bytes.")
        }
        return salt
    }

    /// Writes the salt durably, before the database that needs it appears.
    ///
    /// - Throws: `cannot-create` when the file exists; nothing is left behind.
    func write(_ salt: [UInt8]) throws {
        let digits = salt.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined() + "\n"
        do {
            let file = try ReplacementFile(destination: path)
            let descriptor = open(file.path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Failure(.inputOutput, "the salt could not be written", path: path) }
            let bytes = Array(digits.utf8)
            let written = Foundation.write(descriptor, bytes, bytes.count)
            close(descriptor)
            guard written == bytes.count else {
                throw Failure(errno == ENOSPC ? .noSpace : .inputOutput, "the salt could not be written", path: path)
            }
            try file.publish()
        } catch let error as DurableFileError where error.alreadyExists {
            throw Failure(
                .cannotCreate, "the salt file exists", path: path,
                remedy: "It may be needed by another database: name a new file.")
        }
    }

    /// Removes the salt of a database that did not come to be.
    func remove() { unlink(path) }
}
