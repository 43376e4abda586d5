internal import Foundation
internal import LiteVaultCore

/// How a property is read from a column: the opposite of `ColumnEncoding`.
enum ColumnDecoding {
    static func value<T: Decodable>(
        of stored: StoredValue, userInfo: [CodingUserInfoKey: Any], at path: [any CodingKey]
    ) throws -> T {
        if let type = T.self as? any Binding.Type {
            guard let value = type.init(stored: stored) as? T else { throw mismatch(T.self, stored, path) }
            return value
        }
        if T.self == Float.self, let value = Double(stored: stored).map({ Float($0) }) as? T { return value }
        if let type = T.self as? any FixedWidthInteger.Type {
            guard case .integer(let number) = stored, let value = type.init(exactly: number) as? T else {
                throw mismatch(T.self, stored, path)
            }
            return value
        }
        do {
            return try T(from: CellDecoder(stored: stored, userInfo: userInfo, codingPath: path))
        } catch let error where error is CellDecoder.HasParts || stored.isText {
            // JSON: a type with parts, or a single value that an older version wrote as JSON, in quotes.
            do { return try json(stored, userInfo, path) } catch let jsonError {
                throw error is CellDecoder.HasParts ? jsonError : error
            }
        }
    }

    private static func json<T: Decodable>(
        _ stored: StoredValue, _ userInfo: [CodingUserInfoKey: Any], _ path: [any CodingKey]
    ) throws -> T {
        guard case .text(let text) = stored else { throw mismatch(T.self, stored, path) }
        let decoder = JSONDecoder()
        for (key, value) in userInfo { decoder.userInfo[key] = assumingSendable(value) }
        return try decoder.decode(T.self, from: Data(text.utf8))
    }

    static func mismatch(_ type: Any.Type, _ stored: StoredValue, _ path: [any CodingKey]) -> DecodingError {
        let context = DecodingError.Context(codingPath: path, debugDescription: "the column holds \(stored.kind)")
        return stored == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }
}

extension StoredValue {
    fileprivate var isText: Bool { if case .text = self { true } else { false } }
}

/// Decodes a value that is stored as a single one.
private struct CellDecoder: Decoder, SingleValueDecodingContainer {
    struct HasParts: Error {}

    let stored: StoredValue
    let userInfo: [CodingUserInfoKey: Any]
    let codingPath: [any CodingKey]

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
    func decodeNil() -> Bool { stored == .null }
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try ColumnDecoding.value(of: stored, userInfo: userInfo, at: codingPath)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw HasParts() }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw HasParts() }
}
