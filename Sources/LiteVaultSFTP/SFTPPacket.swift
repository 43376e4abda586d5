internal import LiteVaultSystem

/// The numbers of the SSH File Transfer Protocol, version 3 (draft-ietf-secsh-filexfer-02).
package enum SFTPKind {
    package static let initialize: UInt8 = 1
    package static let version: UInt8 = 2
    package static let open: UInt8 = 3
    package static let close: UInt8 = 4
    package static let read: UInt8 = 5
    package static let write: UInt8 = 6
    package static let linkStatus: UInt8 = 7
    package static let fileStatus: UInt8 = 8
    package static let openDirectory: UInt8 = 11
    package static let readDirectory: UInt8 = 12
    package static let remove: UInt8 = 13
    package static let makeDirectory: UInt8 = 14
    package static let removeDirectory: UInt8 = 15
    package static let status: UInt8 = 17
    package static let rename: UInt8 = 18
    package static let extended: UInt8 = 200
    package static let answerStatus: UInt8 = 101
    package static let answerHandle: UInt8 = 102
    package static let answerData: UInt8 = 103
    package static let answerNames: UInt8 = 104
    package static let answerAttributes: UInt8 = 105
    package static let answerExtended: UInt8 = 201
}

/// Bytes of a packet: what a server sent is not what the protocol allows there.
package struct SFTPMalformed: Error, Equatable {}

/// What a server answers instead of a result.
package struct SFTPStatus: Error, Sendable, Equatable {
    package static let ok: UInt32 = 0
    package static let end: UInt32 = 1
    package static let missing: UInt32 = 2
    package static let denied: UInt32 = 3
    package static let failure: UInt32 = 4
    package static let unsupported: UInt32 = 8

    package let code: UInt32
    /// The server's text, without control characters, 200 characters at most.
    package let message: String

    /// The text, or what the code means where the server sends none.
    package var text: String {
        if !message.isEmpty { return message }
        switch code {
        case Self.end: return "end of file"
        case Self.missing: return "no such file"
        case Self.denied: return "permission denied"
        case Self.unsupported: return "operation unsupported"
        default: return "failure \(code)"
        }
    }
}

/// The attributes of a file on a server, as far as it sent them.
package struct SFTPAttributes: Sendable, Equatable {
    package var size: UInt64?
    package var permissions: UInt32?
    /// In seconds since 1970.
    package var modified: UInt32?

    /// The kind of the file in its permissions; nil if they were not sent.
    private var kind: UInt32? { permissions.map { $0 & 0o170000 } }
    package var isDirectory: Bool { kind == 0o040000 }
    package var isLink: Bool { kind == 0o120000 }
    /// Whether it may be a regular file.
    package var isRegular: Bool { kind == 0o100000 || kind == nil || kind == 0 }
}

/// Builds the bytes of a packet.
package struct SFTPWriter {
    /// The packet without its length.
    private var body: [UInt8]

    package init(_ kind: UInt8, reserving count: Int = 64) {
        body = []
        body.reserveCapacity(count + 32)
        body += [0, 0, 0, 0, kind]
    }

    package mutating func add(_ number: UInt32) { withUnsafeBytes(of: number.bigEndian) { body += $0 } }
    package mutating func add(_ number: UInt64) { withUnsafeBytes(of: number.bigEndian) { body += $0 } }

    package mutating func add(_ bytes: [UInt8]) {
        add(UInt32(truncatingIfNeeded: bytes.count))
        body += bytes
    }

    package mutating func add(_ text: String) { add(Array(text.utf8)) }

    /// Attributes with permissions alone.
    package mutating func add(permissions: UInt32) {
        add(UInt32(4))
        add(permissions)
    }

    /// The whole packet.
    package var bytes: [UInt8] {
        var all = body
        let length = UInt32(truncatingIfNeeded: body.count - 4).bigEndian
        withUnsafeBytes(of: length) { for (index, byte) in $0.enumerated() { all[index] = byte } }
        return all
    }
}

/// Reads the bytes of a packet. Every length is compared with the bytes that are left.
package struct SFTPReader {
    private let bytes: [UInt8]
    private var offset: Int

    package init(_ bytes: [UInt8], from offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
    }

    package var isAtEnd: Bool { offset >= bytes.count }

    package mutating func byte() throws(SFTPMalformed) -> UInt8 {
        guard offset < bytes.count else { throw SFTPMalformed() }
        defer { offset += 1 }
        return bytes[offset]
    }

    package mutating func number() throws(SFTPMalformed) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 { value = value << 8 | UInt32(try byte()) }
        return value
    }

    package mutating func long() throws(SFTPMalformed) -> UInt64 {
        UInt64(try number()) << 32 | UInt64(try number())
    }

    package mutating func string() throws(SFTPMalformed) -> [UInt8] {
        let count = Int(try number())
        guard count <= bytes.count - offset else { throw SFTPMalformed() }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    /// Text that may be shown: from a server, so without control characters, and cut.
    package mutating func text(upTo limit: Int = 200) throws(SFTPMalformed) -> String {
        let text = String(decoding: try string().prefix(limit * 4), as: UTF8.self)
        return String(
            text.map { $0.isNewline || $0.asciiValue.map { $0 < 32 || $0 == 127 } ?? false ? " " : $0 }.prefix(limit))
    }

    package mutating func attributes() throws(SFTPMalformed) -> SFTPAttributes {
        let flags = try number()
        var found = SFTPAttributes()
        if flags & 1 != 0 { found.size = try long() }
        if flags & 2 != 0 { _ = try long() }
        if flags & 4 != 0 { found.permissions = try number() }
        if flags & 8 != 0 {
            _ = try number()
            found.modified = try number()
        }
        if flags & 0x8000_0000 != 0 {
            // Each takes at least eight bytes, so that a large number ends with the packet.
            for _ in 0..<(try number()) {
                _ = try string()
                _ = try string()
            }
        }
        return found
    }
}

/// What a server sent: a packet without its length.
package struct SFTPAnswer: Sendable {
    package let kind: UInt8
    /// What follows the request's number.
    private let bytes: [UInt8]

    package init(kind: UInt8, bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }

    /// A reader behind the request's number.
    package var reader: SFTPReader { SFTPReader(bytes) }

    package func status() throws(SFTPMalformed) -> SFTPStatus? {
        guard kind == SFTPKind.answerStatus else { return nil }
        var reader = reader
        let code = try reader.number()
        // Servers of old drafts send the number alone.
        return SFTPStatus(code: code, message: reader.isAtEnd ? "" : try reader.text())
    }

    /// Checks that the request succeeded.
    ///
    /// - Throws: the ``SFTPStatus`` if it did not, ``SFTPMalformed`` for an answer of another kind.
    package func succeeded() throws {
        guard let status = try status() else { throw SFTPMalformed() }
        guard status.code == SFTPStatus.ok else { throw status }
    }

    /// Checks that the answer has a result of that kind.
    ///
    /// - Throws: the ``SFTPStatus`` if the request failed, ``SFTPMalformed`` for an answer of another kind.
    package func expecting(_ expected: UInt8) throws -> SFTPReader {
        if kind == expected { return reader }
        if let status = try status() {
            guard status.code != SFTPStatus.ok else { throw SFTPMalformed() }
            throw status
        }
        throw SFTPMalformed()
    }

    /// The names of an answer to a request for a directory's entries.
    package func names() throws -> [SFTPName] {
        var reader = try expecting(SFTPKind.answerNames)
        var names: [SFTPName] = []
        for _ in 0..<(try reader.number()) {
            let name = String(decoding: try reader.string(), as: UTF8.self)
            _ = try reader.string()
            names.append(SFTPName(name: name, attributes: try reader.attributes()))
        }
        return names
    }
}

/// An entry of a directory.
package struct SFTPName: Sendable {
    package let name: String
    package let attributes: SFTPAttributes
}

/// Cuts a stream of bytes into packets.
package struct SFTPSplitter {
    /// The longest packet that is accepted, in bytes: several times what a server sends to requests of ours.
    package static let limit = 1 << 20
    private var pending: [UInt8] = []
    private var start = 0

    package init() {}

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if start > 0, start == pending.count || start > Self.limit {
            pending.removeFirst(start)
            start = 0
        }
        pending += bytes
    }

    /// The next whole packet, without its length; nil until it has arrived.
    ///
    /// - Throws: ``SFTPMalformed`` if its length is zero or above the limit: the stream is not of this protocol.
    package mutating func next() throws(SFTPMalformed) -> [UInt8]? {
        let available = pending.count - start
        guard available >= 4 else { return nil }
        var length = 0
        for index in 0..<4 { length = length << 8 | Int(pending[start + index]) }
        guard length > 0, length <= Self.limit else { throw SFTPMalformed() }
        guard available >= 4 + length else { return nil }
        defer { start += 4 + length }
        return Array(pending[start + 4..<start + 4 + length])
    }

    /// The first bytes that have not been taken, as text for messages: what a login script printed, for instance.
    package var rest: String {
        let text = String(decoding: pending[start...].prefix(80), as: UTF8.self)
        return String(text.map { $0.asciiValue.map { $0 < 32 || $0 == 127 } ?? false ? " " : $0 })
    }
}
