internal import Crypto
internal import Foundation
internal import LiteVaultCapture

/// A JSON document that comes from outside: from a store, a cache, a state file.
///
/// Whoever has a value of such a type may count with its numbers: each was compared with the limits of the format when it
/// was decoded. The same limits hold for what is written, so that nothing is stored that no reader accepts.
package protocol CheckedDocument: Codable {
    /// Bytes that its JSON has at most.
    static var byteLimit: Int { get }
    /// Whether its members are written `in_snake_case`, as those of the repository's documents; both are read.
    static var isSnakeCase: Bool { get }
    /// Compares every number, time and identifier with what the format allows.
    func check() throws(OutOfLimits)
}

extension CheckedDocument {
    package static var isSnakeCase: Bool { true }
}

/// A member of a document that is not what the format allows.
package struct OutOfLimits: Error, CustomStringConvertible {
    /// Which member, and what is wrong with it.
    package let description: String

    /// - Parameter member: its name in the document.
    package init(_ member: String, _ problem: String) { description = "'\(member)' \(problem)" }
}

/// The way from bytes to values, the same for all documents.
package enum Decoding {
    /// Levels of arrays and objects within each other. No document of the format has more than five.
    private static let depthLimit = 16

    /// The value that `bytes` hold.
    ///
    /// - Parameter path: for the message.
    /// - Throws: `VaultError` `damaged` for more bytes than such a document has, for what is no JSON in UTF-8, and for a
    ///   value outside the limits.
    package static func value<T: CheckedDocument>(_ type: T.Type, from bytes: [UInt8], path: String) throws -> T {
        func damaged(_ message: String, _ cause: (any Error)? = nil) -> VaultError {
            VaultError(.damaged, "is not valid: \(message)", path: path, cause: cause)
        }
        guard bytes.count <= T.byteLimit else { throw damaged("it has more than \(T.byteLimit) bytes") }
        guard isShallow(bytes) else { throw damaged("it is not JSON with at most \(depthLimit) levels") }
        let data = Data(bytes)
        guard String(data: data, encoding: .utf8) != nil else { throw damaged("it is not UTF-8") }
        let value: T
        do {
            value = try decoder.decode(type, from: data)
        } catch {
            throw damaged("it does not have the expected members", error)
        }
        do { try value.check() } catch { throw damaged(error.description, error) }
        return value
    }

    /// The JSON of a value, on one line.
    ///
    /// - Throws: `VaultError` `unsupported` for a value that a reader would refuse.
    package static func bytes<T: CheckedDocument>(_ value: T, path: String?) throws -> [UInt8] {
        do { try value.check() } catch {
            throw VaultError(
                .unsupported, "cannot be written: \(error.description)", path: path,
                remedy: "Check this machine's clock, and the names that were given.", cause: error)
        }
        let encoder = encoder
        if T.isSnakeCase { encoder.keyEncodingStrategy = .convertToSnakeCase }
        let bytes = Array(try encoder.encode(value))
        guard bytes.count <= T.byteLimit else {
            throw VaultError(.unsupported, "cannot be written: it has more than \(T.byteLimit) bytes", path: path)
        }
        return bytes
    }

    /// Whether brackets outside of texts are nested no deeper than the limit.
    private static func isShallow(_ bytes: [UInt8]) -> Bool {
        var depth = 0
        var isText = false
        var isEscaped = false
        for byte in bytes {
            if isText {
                switch byte {
                case _ where isEscaped: isEscaped = false
                case UInt8(ascii: "\\"): isEscaped = true
                case UInt8(ascii: "\""): isText = false
                default: break
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isText = true
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                if depth > depthLimit { return false }
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
        return true
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(Timestamp.text(date))
        }
        return encoder
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            guard let date = Timestamp.date(try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "no time")
            }
            return date
        }
        return decoder
    }
}

// What the documents compare their members with.
extension CheckedDocument {
    /// A number within limits.
    package func require<N: Comparable>(
        _ member: String, _ value: N?, in range: ClosedRange<N>
    ) throws(OutOfLimits) {
        // NaN is not in any range.
        guard let value, !range.contains(value) else { return }
        throw OutOfLimits(member, "is not from \(range.lowerBound) to \(range.upperBound)")
    }

    /// Hexadecimal digits.
    package func require(_ member: String, _ text: String?, digits: Int) throws(OutOfLimits) {
        guard let text, text.utf8.count != digits || [UInt8](hexadecimal: text) == nil else { return }
        throw OutOfLimits(member, "does not have \(digits) hexadecimal digits")
    }

    /// A time of the calendar.
    package func require(_ member: String, time text: String?) throws(OutOfLimits) {
        guard let text, Timestamp.date(text) == nil else { return }
        throw OutOfLimits(member, "is not a time")
    }

    /// Seconds since 1970.
    package func require(_ member: String, seconds value: Double?) throws(OutOfLimits) {
        try require(member, value, in: 0...Timestamp.limit)
    }
}

extension Sequence<Int64> {
    /// The sum of sizes; the largest number where it is larger.
    package var sum: Int64 {
        reduce(0) { sum, next in
            let (result, overflow) = sum.addingReportingOverflow(next)
            return overflow ? .max : result
        }
    }
}

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
    /// - Throws: `VaultError` `damaged`.
    init(_ bytes: [UInt8], name: String) throws {
        var rest = bytes[...]
        guard let line = Self.line(&rest), let seal = Self.line(&rest),
            let hash = Self.value(seal, "sha256").flatMap({ Hash256(hexadecimal: $0) }),
            Hash256(of: Array(bytes[...line.endIndex])) == hash
        else { throw VaultError(.damaged, "is damaged: its hash does not match", path: name) }
        body = Array(bytes[...line.endIndex])
        self.hash = hash
        var after = rest
        if let line = Self.line(&after),
            let code = Self.value(line, "hmac-sha256").flatMap({ [UInt8](hexadecimal: $0) })
        {
            self.code = code
            payload = after
        } else {
            code = nil
            payload = rest
        }
    }

    /// Reads a document that is all there is of its object.
    ///
    /// - Throws: `VaultError` `damaged`.
    init(whole bytes: [UInt8], name: String) throws {
        try self.init(bytes, name: name)
        guard payload.isEmpty else {
            throw VaultError(.damaged, "is damaged: there is data after its seal", path: name)
        }
    }

    /// Bytes that a sealed document of a kind has at most.
    static func limit<T: CheckedDocument>(_ type: T.Type) -> Int { T.byteLimit + 256 }

    /// Seals the JSON of a value.
    ///
    /// - Parameter name: for the message.
    /// - Throws: `VaultError` `unsupported` for what no reader would accept.
    static func seal(
        _ value: some CheckedDocument, key: SymmetricKey?, name: String? = nil
    ) throws -> (bytes: [UInt8], hash: Hash256) {
        let body = try Decoding.bytes(value, path: name) + [UInt8(ascii: "\n")]
        let hash = Hash256(of: body)
        var bytes = body + Array("sha256 \(hash.hexadecimal)\n".utf8)
        if let key {
            bytes += Array("hmac-sha256 \(HMAC<SHA256>.authenticationCode(for: body, using: key).hexadecimal)\n".utf8)
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
    /// - Throws: `VaultError` `damaged` when the document is authentic only without the key that is needed, or is not
    ///   of that type.
    func value<T: CheckedDocument>(_ type: T.Type, key: SymmetricKey?, name: String) throws -> T {
        if let key, !isAuthentic(key) {
            throw VaultError(
                .damaged, "authentication failed: it was not written with this repository's secret", path: name,
                remedy: "Somebody else changed the repository: restore from another one, or investigate what happened.")
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
