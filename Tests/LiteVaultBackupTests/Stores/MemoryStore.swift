import Foundation
import LiteVaultBackup

/// A store in memory: that of the article "A store of your own".
actor MemoryStore: ObjectStore {
    nonisolated let location: String
    private var objects: [String: (bytes: [UInt8], modified: Date, tag: ETag)] = [:]
    private var versions = 0

    init(_ name: String) { location = "memory:\(name)" }

    func supportsConditionalWrites() -> Bool { true }

    func put(_ name: String, bytes: [UInt8], condition: PutCondition) throws -> ETag {
        try ObjectName.validate(name)
        let holds =
            switch condition {
            case .none: true
            case .absent: objects[name] == nil
            case .unchanged(let tag): objects[name]?.tag == tag
            }
        guard holds else { throw VaultError(.conflict, "another writer was first", path: name) }
        versions += 1
        let tag = ETag(String(versions))
        objects[name] = (bytes, Date(), tag)
        return tag
    }

    func put(_ name: String, file path: String, condition: PutCondition) throws -> ETag {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw VaultError(.noInput, "cannot be read", path: path)
        }
        return try put(name, bytes: Array(data), condition: condition)
    }

    func get(_ name: String) throws -> [UInt8] { try get(name, upTo: 64 << 20) }

    func get(_ name: String, upTo limit: Int) throws -> [UInt8] {
        try ObjectName.validate(name)
        guard let object = objects[name] else { throw VaultError(.missing, "there is no such object", path: name) }
        guard object.bytes.count <= limit else { throw VaultError(.damaged, "is larger than \(limit)", path: name) }
        return object.bytes
    }

    func get(_ name: String, range: Range<Int64>) throws -> [UInt8] {
        let bytes = try get(name, upTo: .max)
        guard range.upperBound <= bytes.count else { throw VaultError(.damaged, "is too short", path: name) }
        return Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
    }

    func fetch(_ name: String, into path: String) throws {
        let data = Data(try get(name, upTo: .max))
        do { try data.write(to: URL(fileURLWithPath: path), options: .withoutOverwriting) } catch {
            throw VaultError(.cannotCreate, "cannot be created", path: path, cause: error)
        }
    }

    func attributes(_ name: String) throws -> ObjectAttributes? {
        try ObjectName.validate(name)
        return objects[name].map {
            ObjectAttributes(name: name, size: Int64($0.bytes.count), modified: $0.modified, tag: $0.tag)
        }
    }

    func list(_ prefix: String) throws -> [ObjectAttributes] {
        let names = objects.keys.filter { $0.hasPrefix(prefix) }
        return try names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.compactMap { try attributes($0) }
    }

    func remove(_ name: String) throws {
        try ObjectName.validate(name)
        objects[name] = nil
    }

    func now() -> Date { Date() }
}
