internal import Foundation

/// The columns that the coding keys of a type stand for.
///
/// The keys of an enum are one byte, and whatever is encoded has the same ones: the name of each is asked for once, and an
/// INSERT finds its statement by the columns' identities.
final class KeyColumns: Sendable {
    private let nodes: [SQLNode?]

    private init(_ nodes: [SQLNode?]) { self.nodes = nodes }

    /// The column of a key.
    @inline(__always)
    func column<Key: CodingKey>(_ key: Key) -> SQLNode {
        guard MemoryLayout<Key>.size == 1 else { return .identifier(key.stringValue) }
        return nodes[Int(unsafeBitCast(key, to: UInt8.self))] ?? Self.add(key)
    }

    private static let lock = NSLock()
    /// By the type of the keys. Under the lock.
    nonisolated(unsafe) private static var known: [ObjectIdentifier: KeyColumns] = [:]
    private static let none = KeyColumns([])

    /// What is known of the keys of a type.
    static func of<Key: CodingKey>(_ type: Key.Type) -> KeyColumns {
        guard MemoryLayout<Key>.size == 1 else { return none }
        lock.lock()
        defer { lock.unlock() }
        if let columns = known[ObjectIdentifier(type)] { return columns }
        let columns = KeyColumns([SQLNode?](repeating: nil, count: 256))
        known[ObjectIdentifier(type)] = columns
        return columns
    }

    /// Notes the column of a key. Who has the columns already sees it the next time.
    @inline(never)
    private static func add<Key: CodingKey>(_ key: Key) -> SQLNode {
        let byte = Int(unsafeBitCast(key, to: UInt8.self))
        let made = SQLNode.identifier(key.stringValue)
        lock.lock()
        defer { lock.unlock() }
        var nodes = known[ObjectIdentifier(Key.self)]?.nodes ?? [SQLNode?](repeating: nil, count: 256)
        if let node = nodes[byte] { return node }
        nodes[byte] = made
        known[ObjectIdentifier(Key.self)] = KeyColumns(nodes)
        return made
    }
}
