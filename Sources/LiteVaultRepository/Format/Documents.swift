internal import Crypto
internal import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultSystem

/// A JSON document from outside: a store, a cache or a state file.
///
/// Code may compute with the numbers of a decoded value: each was compared with the limits of the format. The same
/// limits apply to writing, so that nothing is stored that a reader would reject.
package protocol CheckedDocument: Codable {
    /// The maximum size of its JSON in bytes; by default that of a document without a list.
    static var byteLimit: Int { get }
    /// Whether its members are written `in_snake_case`, as in the repository's documents; both forms are read.
    static var isSnakeCase: Bool { get }
    /// Compares every number, time and identifier with the limits of the format.
    func check() throws(OutOfLimits)
}

extension CheckedDocument {
    package static var byteLimit: Int { RepositoryFormat.documentBytes }
    package static var isSnakeCase: Bool { true }
}

/// A member of a document that violates the limits of the format.
package struct OutOfLimits: Error, CustomStringConvertible {
    /// The member, and what is wrong with it.
    package let description: String

    /// - Parameter member: its name in the document.
    package init(_ member: String, _ problem: String) { description = "'\(member)' \(problem)" }
}

/// Decodes and encodes documents, the same way for all of them.
package enum Decoding {
    /// The maximum nesting of arrays and objects. No document of the format has more than five levels.
    private static let depthLimit = 16

    /// Decodes the value in `bytes`.
    ///
    /// - Parameter path: for the message.
    /// - Throws: `VaultError` `damaged` if it exceeds the size limit of such documents, is not JSON in UTF-8, or has
    ///   a value outside the limits.
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

    /// Encodes a value as JSON, on one line.
    ///
    /// - Throws: `VaultError` `unsupported` for a value that a reader would reject.
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

    /// Whether brackets outside of strings are nested no deeper than the limit.
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

// Validates members of documents.
extension CheckedDocument {
    /// Requires a number within limits.
    package func require<N: Comparable>(
        _ member: String, _ value: N?, in range: ClosedRange<N>
    ) throws(OutOfLimits) {
        // NaN is not in any range.
        guard let value, !range.contains(value) else { return }
        throw OutOfLimits(member, "is not from \(range.lowerBound) to \(range.upperBound)")
    }

    package func require(_ member: String, _ text: String?, digits: Int) throws(OutOfLimits) {
        guard let text, text.utf8.count != digits || [UInt8](hexadecimal: text) == nil else { return }
        throw OutOfLimits(member, "does not have \(digits) hexadecimal digits")
    }

    package func require(_ member: String, time text: String?) throws(OutOfLimits) {
        guard let text, Timestamp.date(text) == nil else { return }
        throw OutOfLimits(member, "is not a time")
    }

    /// Requires seconds since 1970.
    package func require(_ member: String, seconds value: Double?) throws(OutOfLimits) {
        try require(member, value, in: 0...Timestamp.limit)
    }

    /// Requires a label: milliseconds since 1970.
    package func require(_ member: String, label value: Int64?) throws(OutOfLimits) {
        try require(member, value, in: SegmentName.times)
    }
}

// Documents in files of this machine.
extension CheckedDocument {
    /// Reads a document; nil if there is no such file.
    ///
    /// - Parameter damage: what to say of a file that is not valid; nil for what is wrong with it.
    /// - Throws: `VaultError` `damaged` if the file is not valid, `io`.
    package static func stored(at path: String, damage: (message: String, remedy: String)? = nil) throws -> Self? {
        do {
            let bytes = try LocalFile(reading: path).contents(upTo: byteLimit)
            return try Decoding.value(Self.self, from: bytes, path: path)
        } catch let error as VaultError where error.code == .missing {
            return nil
        } catch let error as VaultError where error.code == .damaged {
            guard let damage else { throw error }
            throw VaultError(.damaged, damage.message, path: path, remedy: damage.remedy, cause: error)
        }
    }

    /// Stores it durably, in place of an existing file.
    package func store(at path: String) throws {
        try LocalFile.replace(path, with: Decoding.bytes(self, path: path))
    }
}

extension VaultError {
    /// The error for a document that is not the one of its name.
    static func swapped(_ name: String) -> VaultError {
        VaultError(.damaged, "is stored under the wrong name: objects were swapped", path: name)
    }

    /// The error for a repository without a manifest while there are some in `damaged/`.
    ///
    /// - Parameter location: the store's.
    static func setAside(_ location: String) -> VaultError {
        VaultError(
            .damaged, "has snapshots of the repository, which has no others: a repair set them aside",
            path: "\(location)/damaged/snapshots",
            remedy: "Move what is below damaged/snapshots/ and damaged/segments/ back to snapshots/ and segments/, "
                + "with the store's own tools, and repair the repository again. If these snapshots are damaged, or not "
                + "wanted, move them out of the repository.")
    }

    /// The error for an object that a store lists, and does not return. That proves nothing about its content.
    static func notReturned(_ name: String) -> VaultError {
        VaultError(
            .io, "is listed, but the store has no such object", path: name,
            advice: .text(
                "Try again. If it stays so, restore it from a copy of the repository; or remove it from the store, and "
                    + "repair the repository."))
    }
}

extension Sequence<Int64> {
    /// The sum of the sizes; the largest representable number on overflow.
    package var sum: Int64 {
        reduce(0) { sum, next in
            let (result, overflow) = sum.addingReportingOverflow(next)
            return overflow ? .max : result
        }
    }
}

/// A small object that contains its own hash: one line of JSON, a line `sha256 HEX`, and in a repository with a secret
/// a line `hmac-sha256 HEX`. Both cover the stored bytes of the first line, including its newline.
struct SealedDocument {
    /// The first line with its newline.
    let body: [UInt8]
    /// What follows the seal: the frames of a segment.
    let payload: ArraySlice<UInt8>
    let hash: Hash256
    /// The authentication code, if it has one.
    private let code: [UInt8]?

    /// Reads a document and verifies its hash.
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

    /// Reads an object that consists of a document only.
    ///
    /// - Throws: `VaultError` `damaged`.
    init(whole bytes: [UInt8], name: String) throws {
        try self.init(bytes, name: name)
        guard payload.isEmpty else {
            throw VaultError(.damaged, "is damaged: there is data after its seal", path: name)
        }
    }

    /// The maximum size in bytes of a sealed document of a type.
    static func limit<T: CheckedDocument>(_ type: T.Type) -> Int { T.byteLimit + 256 }

    /// Seals the JSON of a value.
    ///
    /// - Parameter name: for the message.
    /// - Throws: `VaultError` `unsupported` for a value that a reader would reject.
    static func seal(
        _ value: some CheckedDocument, key: RepositoryKey?, name: String? = nil
    ) throws -> (bytes: [UInt8], hash: Hash256) {
        let body = try Decoding.bytes(value, path: name) + [UInt8(ascii: "\n")]
        let hash = Hash256(of: body)
        return (sealed(body, hash, key), hash)
    }

    /// The line with its seal, under a key that may be another than before.
    func sealed(by key: RepositoryKey) -> [UInt8] { Self.sealed(body, hash, key) }

    private static func sealed(_ body: [UInt8], _ hash: Hash256, _ key: RepositoryKey?) -> [UInt8] {
        let bytes = body + Array("sha256 \(hash.hexadecimal)\n".utf8)
        guard let key else { return bytes }
        let code = HMAC<SHA256>.authenticationCode(for: body, using: key.current)
        return bytes + Array("hmac-sha256 \(code.hexadecimal)\n".utf8)
    }

    /// Whether it has an authentication code at all.
    var isAuthenticated: Bool { code != nil }

    /// Whether its code was computed with `key`.
    func isAuthentic(_ key: SymmetricKey) -> Bool {
        guard let code else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: body, using: key)
    }

    /// Decodes the value.
    ///
    /// - Throws: `VaultError` `damaged` if the document is not authenticated with the required key, or does not have
    ///   that type.
    func value<T: CheckedDocument>(_ type: T.Type, key: RepositoryKey?, name: String) throws -> T {
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
