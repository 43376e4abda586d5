public import LiteVaultCore

/// The rows of a statement, each of which belongs to one of several keys. It cannot be kept.
///
/// Records read them, see `Record.read(_:into:)`.
public final class _GroupedRows {
    @usableFromInline let execution: Execution
    private let groups: KeyGroups?
    private let keyPositions: [Int]
    private let positions: [[Int]]
    private var current: (key: RelationKey, group: Int?)?
    /// For each list of captured columns and each group, the key in these columns of each row.
    private(set) var captured: [[[RelationKey]]]

    /// - Parameters:
    ///   - groups: the keys; nil if all rows belong to a group of their own.
    ///   - keyPositions: the columns, from 0, of the key.
    ///   - positions: the columns, from 0, of other keys, to be captured.
    ///   - captured: those of rows that were read before; empty for each group.
    init(
        _ execution: Execution, of groups: KeyGroups? = nil, at keyPositions: [Int] = [], capturing positions: [[Int]],
        _ captured: [[[RelationKey]]]
    ) {
        self.execution = execution
        self.groups = groups
        self.keyPositions = keyPositions
        self.positions = positions
        self.captured = captured
    }

    /// Steps to the next row. Returns the group that it belongs to; nil after the last one.
    @usableFromInline
    func next() throws -> Int? {
        while try execution.step() {
            guard let group = group() else { continue }
            for index in positions.indices {
                captured[index][group].append(RelationKey(execution, positions[index]))
            }
            return group
        }
        return nil
    }

    private func group() -> Int? {
        guard let groups else { return 0 }
        let key = RelationKey(execution, keyPositions)
        if let current, current.key == key { return current.group }
        let group = groups.group(of: key)
        current = (key, group)
        return group
    }
}

/// Different keys, each with a group of its own, by which rows are found again.
final class KeyGroups {
    /// The keys, in the order of their groups. NULL is equal to nothing, and none of them.
    private(set) var keys: [RelationKey] = []
    /// The group of each given key; nil for NULL.
    private(set) var groups: [Int?] = []
    private var groupOfKey: [RelationKey: Int]
    private lazy var groupOfSimilar = Dictionary(
        groupOfKey.map { ($0.key.folded, $0.value) }, uniquingKeysWith: { $1 })

    /// The groups of the keys of the current round, if there are several.
    private var groupOfRound: [RelationKey: Int]?

    init(_ given: [RelationKey]) {
        groupOfKey = Dictionary(minimumCapacity: given.count)
        keys.reserveCapacity(given.count)
        groups.reserveCapacity(given.count)
        for key in given {
            if key.isNull {
                groups.append(nil)
            } else if let group = groupOfKey[key] {
                groups.append(group)
            } else {
                groups.append(keys.count)
                groupOfKey[key] = keys.count
                keys.append(key)
            }
        }
    }

    /// The group of a row's key, which the engine found by a key that is equal to it under the column's collation.
    func group(of key: RelationKey) -> Int? {
        guard let groupOfRound else { return groupOfKey[key] ?? groupOfSimilar[key.folded] }
        return groupOfRound[key.folded]
    }

    /// Passes the keys to a closure, which finds rows by them and asks for their groups. Keys that some collation of the engine's own
    /// takes for equal come in different calls: under that collation, each of them has the rows of all.
    func forEachRound(_ body: ([RelationKey]) throws -> Void) throws {
        guard keys.contains(where: \.hasText) else { return try body(keys) }
        var rounds: [[Int]] = []
        var counts: [RelationKey: Int] = [:]
        for index in keys.indices {
            let round = counts[keys[index].folded, default: 0]
            counts[keys[index].folded] = round + 1
            if round == rounds.count { rounds.append([]) }
            rounds[round].append(index)
        }
        guard rounds.count > 1 else { return try body(keys) }
        defer { groupOfRound = nil }
        for round in rounds {
            groupOfRound = Dictionary(round.map { (keys[$0].folded, $0) }, uniquingKeysWith: { $1 })
            try body(round.map { keys[$0] })
        }
    }
}

/// The values that connect a row with those of another table.
enum RelationKey: Hashable {
    case integer(Int64)
    /// Compared by its bytes, as the engine does: Swift takes texts that are canonically equal for the same.
    case text(ExactText)
    case real(Double)
    case blob([UInt8])
    case null
    case several([RelationKey])

    private init(_ value: StoredValue) {
        switch value {
        case .integer(let number): self = .integer(number)
        // As the engine compares them: 2.0 is 2.
        case .real(let number): self = Int64(exactly: number).map { .integer($0) } ?? .real(number)
        case .text(let text): self = .text(ExactText(text))
        case .blob(let bytes): self = .blob(bytes)
        case .null: self = .null
        }
    }

    /// The key in some of a row's values.
    init(_ values: [StoredValue], _ positions: [Int]) {
        self = positions.count == 1 ? Self(values[positions[0]]) : .several(positions.map { Self(values[$0]) })
    }

    /// The key in the current row.
    init(_ execution: Execution, _ positions: [Int]) {
        guard positions.count == 1 else {
            self = .several(positions.map { RelationKey(execution, [$0]) })
            return
        }
        let column = ColumnReader(execution, positions[0])
        if let number = column.integer {
            self = .integer(number)
        } else if let text = column.text {
            self = .text(ExactText(text))
        } else {
            self = Self((try? StoredValue.read(from: column)) ?? .null)
        }
    }

    /// Whether a part of it is NULL, which is equal to nothing.
    var isNull: Bool {
        switch self {
        case .null: true
        case .several(let keys): keys.contains(where: \.isNull)
        default: false
        }
    }

    /// Whether a part of it is a text, which another one may be equal to.
    var hasText: Bool {
        switch self {
        case .text: true
        case .several(let keys): keys.contains(where: \.hasText)
        default: false
        }
    }

    /// The same for all keys that some collation of the engine's own takes for equal (NOCASE, RTRIM).
    var folded: RelationKey {
        switch self {
        case .text(let text):
            .text(
                ExactText(
                    String(
                        decoding: text.text.utf8.reversed().drop { $0 == 0x20 }.reversed().map(Self.lowercased),
                        as: UTF8.self)))
        case .several(let keys): .several(keys.map(\.folded))
        default: self
        }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5a).contains(byte) ? byte + 0x20 : byte }

    func append(to values: inout [(any Binding)?]) {
        switch self {
        case .integer(let number): values.append(number)
        case .real(let number): values.append(number)
        case .text(let text): values.append(text.text)
        case .blob(let bytes): values.append(Blob(bytes: bytes))
        case .null: values.append(nil)
        case .several(let keys): for key in keys { key.append(to: &values) }
        }
    }
}
