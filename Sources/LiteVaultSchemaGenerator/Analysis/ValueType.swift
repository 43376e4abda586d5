internal import LiteVaultQuoting

/// The type of a value: how SQLite stores it, and what it is in Swift.
struct ValueType: Hashable, Sendable {
    enum Storage: Sendable {
        case integer, real, text, blob
        /// An integer or a real, as columns of type NUMERIC hold.
        case numeric
        case any
    }

    let storage: Storage
    /// The name of the Swift type, without `?`.
    let swift: String

    init(_ storage: Storage, _ swift: String) {
        self.storage = storage
        self.swift = swift
    }

    static let integer = ValueType(.integer, "Int64")
    static let real = ValueType(.real, "Double")
    static let text = ValueType(.text, "String")
    static let blob = ValueType(.blob, "Data")
    static let boolean = ValueType(.integer, "Bool")
    /// A number of rows.
    static let count = ValueType(.integer, "Int")

    /// The type of a `CAST` (https://sqlite.org/datatype3.html#determination_of_column_affinity).
    init(cast type: String) {
        self =
            switch SQLAffinity(type) {
            case .integer: .integer
            case .text: .text
            case .blob: .blob
            case .real, .numeric: .real
            }
    }

    var isNumber: Bool { storage == .integer || storage == .real || storage == .numeric }
}

/// What is known of an expression's value.
struct Typing: Sendable {
    /// What it is. `nothing` has only NULL.
    enum Content: Sendable {
        case value(ValueType)
        case nothing
        /// Why its type cannot be known.
        case unknown(String)
    }

    var content: Content
    var canBeNull: Bool
    /// The column that it is.
    var origin: Origin?
    /// A literal 0 or 1, which is a boolean among booleans.
    var isFlag = false

    struct Origin: Hashable, Sendable {
        let table: String
        let column: String
    }

    init(_ content: Content, canBeNull: Bool, origin: Origin? = nil) {
        self.content = content
        self.canBeNull = canBeNull
        self.origin = origin
    }

    init(_ type: ValueType, canBeNull: Bool) { self.init(.value(type), canBeNull: canBeNull) }

    /// What an operator makes of operands, NULL if one of them is.
    init(_ type: ValueType, of operands: [Typing]) { self.init(type, canBeNull: operands.contains(where: \.canBeNull)) }

    static func unknown(_ why: String, canBeNull: Bool = true) -> Typing { Typing(.unknown(why), canBeNull: canBeNull) }

    var type: ValueType? { if case .value(let type) = content { type } else { nil } }

    var orNull: Typing { Typing(content, canBeNull: true, origin: origin) }

    /// One of several values: the branches of a CASE, the arguments of `coalesce`, the rows of a UNION.
    func merged(with other: Typing) -> Typing {
        var result = Typing(Self.merge(self, other), canBeNull: canBeNull || other.canBeNull)
        result.isFlag = isFlag && other.isFlag
        if origin == other.origin { result.origin = origin }
        return result
    }

    private static func merge(_ one: Typing, _ other: Typing) -> Content {
        switch (one.content, other.content) {
        case (.unknown, _): return one.content
        case (_, .unknown): return other.content
        case (.nothing, _): return other.content
        case (_, .nothing): return one.content
        case (.value(let first), .value(let second)):
            if first == second { return one.content }
            if first == .boolean, other.isFlag { return one.content }
            if second == .boolean, one.isFlag { return other.content }
            let plain: [ValueType] = [.integer, .boolean, .count]
            if plain.contains(first), plain.contains(second) { return .value(.integer) }
            if first.swift == second.swift { return .value(ValueType(.any, first.swift)) }
            if plain.contains(first) && second.swift == "Double" || first.swift == "Double" && plain.contains(second) {
                return .value(.real)
            }
            return .unknown("it is \(first.swift) or \(second.swift)")
        }
    }
}

struct ResultColumn: Sendable {
    /// Its alias, or the name of the column that it is; nil for other expressions.
    let name: String?
    var typing: Typing
    /// Where it is in the text, in bytes.
    let offset: Int
}
