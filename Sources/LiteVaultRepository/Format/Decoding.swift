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
    /// - Throws: ``BackupError`` `damaged` for more bytes than such a document has, for what is no JSON in UTF-8, and for a
    ///   value outside the limits.
    package static func value<T: CheckedDocument>(_ type: T.Type, from bytes: [UInt8], path: String) throws -> T {
        func damaged(_ message: String, _ cause: (any Error)? = nil) -> BackupError {
            BackupError(.damaged, "does not say what it should: \(message)", path: path, cause: cause)
        }
        guard bytes.count <= T.byteLimit else { throw damaged("it has more than \(T.byteLimit) bytes") }
        guard isShallow(bytes) else { throw damaged("it is no JSON of at most \(depthLimit) levels") }
        let data = Data(bytes)
        guard String(data: data, encoding: .utf8) != nil else { throw damaged("it is no text in UTF-8") }
        let value: T
        do {
            value = try decoder.decode(type, from: data)
        } catch {
            throw damaged("it is no JSON of its kind", error)
        }
        do { try value.check() } catch { throw damaged(error.description, error) }
        return value
    }

    /// The JSON of a value, on one line.
    ///
    /// - Throws: ``BackupError`` `unsupported` for a value that a reader would refuse.
    package static func bytes<T: CheckedDocument>(_ value: T, path: String?) throws -> [UInt8] {
        do { try value.check() } catch {
            throw BackupError(
                .unsupported, "can not be written: \(error.description)", path: path,
                remedy: "Check this machine's clock, and the names that were given.", cause: error)
        }
        let encoder = encoder
        if T.isSnakeCase { encoder.keyEncodingStrategy = .convertToSnakeCase }
        let bytes = Array(try encoder.encode(value))
        guard bytes.count <= T.byteLimit else {
            throw BackupError(.unsupported, "can not be written: it has more than \(T.byteLimit) bytes", path: path)
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
        // A number that is none is in no range either.
        guard let value, !range.contains(value) else { return }
        throw OutOfLimits(member, "is not from \(range.lowerBound) to \(range.upperBound)")
    }

    /// Hexadecimal digits.
    package func require(_ member: String, _ text: String?, digits: Int) throws(OutOfLimits) {
        guard let text, text.utf8.count != digits || [UInt8](hex: text) == nil else { return }
        throw OutOfLimits(member, "has not \(digits) hexadecimal digits")
    }

    /// A time of the calendar.
    package func require(_ member: String, time text: String?) throws(OutOfLimits) {
        guard let text, Timestamp.date(text) == nil else { return }
        throw OutOfLimits(member, "is no time")
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
