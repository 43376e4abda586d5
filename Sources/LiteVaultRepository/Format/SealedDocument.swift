internal import Crypto
internal import Foundation
internal import LiteVaultCapture

/// A small object that says its own hash: one line of JSON, a line `sha256 HEX`, and in a repository with a secret a line
/// `hmac-sha256 HEX`. Both are of the first line's bytes as they are stored, its newline included.
struct SealedDocument {
    /// The first line with its newline.
    let body: [UInt8]
    /// What is behind the seal; segments have their frames there.
    let payload: ArraySlice<UInt8>
    let hash: Hash256
    /// The authentication code, where there is one.
    private let code: [UInt8]?

    /// Reads a document and compares its hash.
    ///
    /// - Throws: ``BackupError`` `damaged`.
    init(_ bytes: [UInt8], name: String) throws {
        var rest = bytes[...]
        guard let line = Self.line(&rest), let seal = Self.line(&rest),
            let hash = Self.value(seal, "sha256").flatMap({ Hash256(hex: $0) }),
            Hash256(of: Array(bytes[...line.endIndex])) == hash
        else { throw BackupError(.damaged, "is damaged: its hash does not match", path: name) }
        body = Array(bytes[...line.endIndex])
        self.hash = hash
        var after = rest
        if let line = Self.line(&after), let code = Self.value(line, "hmac-sha256").flatMap({ [UInt8](hex: $0) }) {
            self.code = code
            payload = after
        } else {
            code = nil
            payload = rest
        }
    }

    /// Reads a document that is all there is of its object.
    ///
    /// - Throws: ``BackupError`` `damaged`.
    init(whole bytes: [UInt8], name: String) throws {
        try self.init(bytes, name: name)
        guard payload.isEmpty else {
            throw BackupError(.damaged, "is damaged: something follows its seal", path: name)
        }
    }

    /// Bytes that a sealed document of a kind has at most.
    static func limit<T: CheckedDocument>(_ type: T.Type) -> Int { T.byteLimit + 256 }

    /// Seals the JSON of a value.
    ///
    /// - Parameter name: for the message.
    /// - Throws: ``BackupError`` `unsupported` for what no reader would accept.
    static func seal(
        _ value: some CheckedDocument, key: SymmetricKey?, name: String? = nil
    ) throws -> (bytes: [UInt8], hash: Hash256) {
        let body = try Decoding.bytes(value, path: name) + [UInt8(ascii: "\n")]
        let hash = Hash256(of: body)
        var bytes = body + Array("sha256 \(hash.hex)\n".utf8)
        if let key {
            bytes += Array("hmac-sha256 \(HMAC<SHA256>.authenticationCode(for: body, using: key).hex)\n".utf8)
        }
        return (bytes, hash)
    }

    /// Whether it has a code at all.
    var isAuthenticated: Bool { code != nil }

    /// Whether the code was made with `key`.
    func isAuthentic(_ key: SymmetricKey) -> Bool {
        guard let code else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: body, using: key)
    }

    /// The value.
    ///
    /// - Throws: ``BackupError`` `damaged` when the document is authentic only without the key that is needed, or is not
    ///   of that type.
    func value<T: CheckedDocument>(_ type: T.Type, key: SymmetricKey?, name: String) throws -> T {
        if let key, !isAuthentic(key) {
            throw BackupError(
                .damaged, "was not written by somebody who has the repository's secret", path: name,
                remedy: "Somebody else changed the repository: restore from another one, or look at what happened.")
        }
        return try decode(type, name: name)
    }

    func decode<T: CheckedDocument>(_ type: T.Type, name: String) throws -> T {
        try Decoding.value(type, from: body, path: name)
    }

    private static func line(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        defer { rest = rest[(end + 1)...] }
        return rest[..<end]
    }

    private static func value(_ line: ArraySlice<UInt8>, _ name: String) -> String? {
        guard line.count <= 256 else { return nil }
        let text = String(decoding: line, as: UTF8.self)
        return text.hasPrefix(name + " ") ? String(text.dropFirst(name.count + 1)) : nil
    }
}
