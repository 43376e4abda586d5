internal import LiteVaultCore
internal import LiteVaultSystem

enum ColumnEncoding {
    /// The value to bind for a property: the property itself if SQLite can store it; the single value it encodes into, such as
    /// the raw value of an enum; otherwise JSON.
    static func binding<T: Encodable>(
        of value: T, userInfo: [CodingUserInfoKey: Any], at path: [any CodingKey]
    ) throws -> (any Binding)? {
        switch value {
        case let value as any Binding: return value.normalized
        case let value as Float: return Double(value)
        case let value as any FixedWidthInteger:
            guard let number = Int64(exactly: value) else {
                throw EncodingError.invalidValue(
                    value, .init(codingPath: path, debugDescription: "SQLite stores signed 64-bit integers"))
            }
            return number
        case let value as Decimal:
            guard let binding = DecimalColumn.binding(of: value) else {
                throw EncodingError.invalidValue(
                    value, .init(codingPath: path, debugDescription: "SQLite stores no NaN"))
            }
            return binding
        #if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
            case let value as Float16: return Double(value)
        #endif
        default:
            let encoder = SingleValueEncoder(userInfo: userInfo, codingPath: path)
            do {
                try value.encode(to: encoder)
                if case .single(let binding) = encoder.result { return binding }
            } catch is SingleValueEncoder.NotASingleValue {}
            return try json(of: value, userInfo: userInfo)
        }
    }

    private static func json<T: Encodable>(of value: T, userInfo: [CodingUserInfoKey: Any]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys  // equal values are equal texts
        for (key, value) in userInfo { encoder.userInfo[key] = assumingSendable(value) }
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

extension Binding {
    /// The value as the type it is stored as. A date stays one: the connection knows how it stores them.
    fileprivate var normalized: any Binding {
        switch self {
        case let value as String: JSONText.unambiguous(value)
        case let value as Data: value.datatypeValue
        case let value as UUID: value.datatypeValue
        case let value as URL: value.datatypeValue
        case let value as [UInt8]: Blob(bytes: value)
        default: self
        }
    }
}

/// Text that SQLite.swift wrote as JSON: it encodes a type of one value, such as a `RawRepresentable` struct, as a JSON fragment.
enum JSONText {
    /// The text that a JSON string stands for; nil if the text is not one.
    static func string(_ text: String) -> String? {
        guard text.utf8.count >= 2, text.utf8.first == UInt8(ascii: "\""), text.utf8.last == UInt8(ascii: "\"") else {
            return nil
        }
        return try? JSONDecoder().decode(String.self, from: Data(text.utf8))
    }

    /// The text itself, or as a JSON string if it would be read as one.
    static func unambiguous(_ text: String) -> String {
        guard string(text) != nil, let json = try? JSONEncoder().encode(text) else { return text }
        return String(decoding: json, as: UTF8.self)
    }
}

/// Determines whether a value encodes into a single value.
private final class SingleValueEncoder: Encoder, SingleValueEncodingContainer {
    struct NotASingleValue: Error {}
    enum Result {
        case nothing
        case single((any Binding)?)
    }

    let userInfo: [CodingUserInfoKey: Any]
    let codingPath: [any CodingKey]
    var result = Result.nothing

    init(userInfo: [CodingUserInfoKey: Any], codingPath: [any CodingKey]) {
        self.userInfo = userInfo
        self.codingPath = codingPath
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
    func encodeNil() throws { result = .single(nil) }
    func encode<T: Encodable>(_ value: T) throws {
        result = .single(try ColumnEncoding.binding(of: value, userInfo: userInfo, at: codingPath))
    }

    // A value with parts becomes JSON: these containers throw on first use, which ends the attempt.
    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        refusing.container(keyedBy: type)
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { refusing.unkeyedContainer() }
    private var refusing: RefusingEncoder { RefusingEncoder { _, _ in NotASingleValue() } }
}

/// Decodes a property from the value of a column: the opposite of `ColumnEncoding`.
enum ColumnDecoding {
    static func value<T: Decodable>(
        of stored: StoredValue, dates: DateStorage, userInfo: [CodingUserInfoKey: Any], at path: [any CodingKey]
    ) throws -> T {
        let isOther = others.withLock { $0.contains(ObjectIdentifier(T.self)) }
        guard !isOther else { return try other(stored, dates, userInfo, path) }
        switch native(T.self, stored, dates) {
        case .value(let value): return value
        case .mismatch:
            // A generic property: SQLite.swift encodes its number or Bool as JSON text. A date would be seconds since 2001, and a
            // `Decimal` would be rounded.
            let mayBeJSON = stored.isText && T.self != Date.self && T.self != Decimal.self
            if mayBeJSON, let value: T = try? json(stored, userInfo, path) { return value }
            throw mismatch(T.self, stored, path)
        case .other:
            others.withLock { _ = $0.insert(ObjectIdentifier(T.self)) }
            return try other(stored, dates, userInfo, path)
        }
    }

    /// Types that are not stored as they are, such as enums: to find that out takes longer than to read a value.
    private static let others = Locked<Set<ObjectIdentifier>>([])

    /// A value of such a type, by its own `init(from:)`.
    private static func other<T: Decodable>(
        _ stored: StoredValue, _ dates: DateStorage, _ userInfo: [CodingUserInfoKey: Any], _ path: [any CodingKey]
    ) throws -> T {
        do {
            return try T(from: CellDecoder(stored: stored, dates: dates, userInfo: userInfo, codingPath: path))
        } catch let error where error is CellDecoder.NotASingleValue || stored.isText {
            // JSON: a type with parts, or a single value that SQLite.swift wrote.
            do { return try json(stored, userInfo, path) } catch let jsonError {
                throw error is CellDecoder.NotASingleValue ? jsonError : error
            }
        }
    }

    private enum Native<T> {
        case value(T)
        case mismatch
        /// The type is not one of these.
        case other
    }

    /// A value of a type that is stored as a number, text or bytes. It is never read by its own `init(from:)`: that of `Float`
    /// requests a `Float`.
    private static func native<T>(_ type: T.Type, _ stored: StoredValue, _ dates: DateStorage) -> Native<T> {
        let value: Any?
        if let type = T.self as? any Binding.Type {
            if T.self == Date.self {
                value = dates.date(of: stored)
            } else if T.self == String.self, case .text(let text) = stored {
                value = JSONText.string(text) ?? text
            } else {
                value = type.init(stored: stored)
            }
        } else if let type = T.self as? any FixedWidthInteger.Type {
            if case .integer(let number) = stored { value = type.init(exactly: number) } else { value = nil }
        } else if let type = shortFloatingPoint(T.self) {
            value = Double(stored: stored).flatMap { floatingPoint($0, type) }
        } else if T.self == Decimal.self {
            value = DecimalColumn.value(of: stored)
        } else {
            return .other
        }
        guard let value = value as? T else { return .mismatch }
        return .value(value)
    }

    /// Compares two types, which costs less than asking for a conformance.
    private static func shortFloatingPoint(_ type: Any.Type) -> (any BinaryFloatingPoint.Type)? {
        if type == Float.self { return Float.self }
        #if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
            if type == Float16.self { return Float16.self }
        #endif
        return nil
    }

    /// A number rounded to a type of less precision; nil if it is out of range there.
    private static func floatingPoint<F: BinaryFloatingPoint>(_ number: Double, _ type: F.Type) -> Any? {
        let value = F(number)
        return value.isFinite || !number.isFinite ? value : nil
    }

    private static func json<T: Decodable>(
        _ stored: StoredValue, _ userInfo: [CodingUserInfoKey: Any], _ path: [any CodingKey]
    ) throws -> T {
        guard case .text(let text) = stored else { throw mismatch(T.self, stored, path) }
        let decoder = JSONDecoder()
        for (key, value) in userInfo { decoder.userInfo[key] = assumingSendable(value) }
        do { return try decoder.decode(T.self, from: Data(text.utf8)) } catch let error as DecodingError {
            throw error.inside(path)
        }
    }

    static func mismatch(_ type: Any.Type, _ stored: StoredValue, _ path: [any CodingKey]) -> DecodingError {
        let name = path.last.map { " '\($0.stringValue)'" } ?? ""
        let context = DecodingError.Context(
            codingPath: path, debugDescription: "the column\(name) contains \(stored.kind)")
        return stored == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }
}

extension StoredValue {
    fileprivate var isText: Bool { if case .text = self { true } else { false } }
}

extension DecodingError {
    /// The error with a path that begins with the column: a decoder of JSON knows only the path inside its text.
    fileprivate func inside(_ column: [any CodingKey]) -> DecodingError {
        func moved(_ context: Context) -> Context {
            Context(
                codingPath: column + context.codingPath, debugDescription: context.debugDescription,
                underlyingError: context.underlyingError)
        }
        return switch self {
        case .typeMismatch(let type, let context): .typeMismatch(type, moved(context))
        case .valueNotFound(let type, let context): .valueNotFound(type, moved(context))
        case .keyNotFound(let key, let context): .keyNotFound(key, moved(context))
        case .dataCorrupted(let context): .dataCorrupted(moved(context))
        @unknown default: self
        }
    }
}

/// Decodes a type from a single stored value. An object: as a decoder and as a container, a struct would be copied to the heap each time.
private final class CellDecoder: Decoder, SingleValueDecodingContainer {
    struct NotASingleValue: Error {}

    let stored: StoredValue
    let dates: DateStorage
    let userInfo: [CodingUserInfoKey: Any]
    let codingPath: [any CodingKey]

    init(stored: StoredValue, dates: DateStorage, userInfo: [CodingUserInfoKey: Any], codingPath: [any CodingKey]) {
        (self.stored, self.dates, self.userInfo, self.codingPath) = (stored, dates, userInfo, codingPath)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
    func decodeNil() -> Bool { stored == .null }

    // The raw values of enums, without a look at what else the type could be.
    func decode(_ type: String.Type) throws -> String {
        if case .text(let text) = stored { return JSONText.string(text) ?? text }
        return try other()
    }
    func decode(_ type: Int.Type) throws -> Int {
        if case .integer(let number) = stored, let value = Int(exactly: number) { return value }
        return try other()
    }
    func decode(_ type: Int64.Type) throws -> Int64 {
        if case .integer(let number) = stored { return number }
        return try other()
    }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try other() }

    private func other<T: Decodable>() throws -> T {
        try ColumnDecoding.value(of: stored, dates: dates, userInfo: userInfo, at: codingPath)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw NotASingleValue()
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NotASingleValue() }
}
