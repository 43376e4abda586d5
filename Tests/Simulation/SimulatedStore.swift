import Foundation
import LiteVaultBackup
import LiteVaultSystem

/// An object store in memory that may fail as the test says. Its clock is that of the simulated host.
final class SimulatedStore: ObjectStore {
    /// What happens to a request that stores something.
    enum Fault: Sendable {
        /// It is carried out, and the answer is lost.
        case lostAnswer
        /// It is not carried out.
        case lostRequest
        /// It is not carried out: there is no room.
        case full
    }

    private struct Content {
        private(set) var objects: [String: (bytes: [UInt8], modified: Date, tag: ETag)] = [:]
        /// The names in order. They are ASCII, which `<` compares as bytes.
        private var names: [String] = []
        var versions = 0
        var faults: [Fault] = []

        mutating func set(_ name: String, _ object: (bytes: [UInt8], modified: Date, tag: ETag)) {
            if objects.updateValue(object, forKey: name) == nil { names.insert(name, at: place(of: name)) }
        }

        mutating func remove(_ name: String) {
            if objects.removeValue(forKey: name) != nil { names.remove(at: place(of: name)) }
        }

        mutating func removeAll() { (objects, names) = ([:], []) }

        func names(with prefix: String) -> ArraySlice<String> {
            names[place(of: prefix)...].prefix { $0.utf8.starts(with: prefix.utf8) }
        }

        func attributes(of name: String) -> ObjectAttributes? {
            objects[name].map {
                ObjectAttributes(name: name, size: Int64($0.bytes.count), modified: $0.modified, tag: $0.tag)
            }
        }

        /// Where a name is, or would be.
        private func place(of name: String) -> Int {
            var (low, high) = (0, names.count)
            while low < high {
                let middle = (low + high) / 2
                if names[middle] < name { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }

    let location: String
    private let clock: SimulatedClock
    private let isConditional: Bool
    private let content = Locked(Content())
    private let hook = Locked<(@Sendable () async throws -> Void)?>(nil)

    init(_ clock: SimulatedClock, isConditional: Bool = true, name: String = "simulation") {
        location = "memory:" + name
        (self.clock, self.isConditional) = (clock, isConditional)
    }

    /// Makes the next request that stores a segment or snapshot fail.
    func fail(_ fault: Fault) { content.withLock { $0.faults.append(fault) } }

    /// Calls a body once, before the next pack of data is stored; nil if nothing is to happen any more.
    func onUpload(_ body: (@Sendable () async throws -> Void)?) { hook.withLock { $0 = body } }

    /// No request fails from now on.
    func recover() { content.withLock { $0.faults = [] } }

    /// Replaces what is stored, for histories that older versions have left.
    func replace(_ objects: [String: [UInt8]]) {
        let now = Date(milliseconds: clock.shown)
        content.withLock { content in
            content.removeAll()
            for (name, bytes) in objects { content.set(name, (bytes, now, ETag("1"))) }
        }
    }

    /// All that is stored.
    var objects: [String: [UInt8]] { content.withLock { $0.objects.mapValues(\.bytes) } }

    func supportsConditionalWrites() async throws -> Bool { isConditional }

    func put(_ name: String, bytes: [UInt8], condition: PutCondition) async throws -> ETag {
        try ObjectName.validate(name)
        if name.hasPrefix("data/") {
            let body = hook.withLock { hook in
                defer { hook = nil }
                return hook
            }
            try await body?()
        }
        let now = Date(milliseconds: clock.shown)
        return try content.withLock { content in
            var fault: Fault?
            if name.hasPrefix("segments/") || name.hasPrefix("snapshots/"), !content.faults.isEmpty {
                fault = content.faults.removeFirst()
            }
            if case .lostRequest = fault { throw VaultError(.io, "no answer", path: name) }
            if case .full = fault { throw VaultError(.noSpace, "there is no room", path: name) }
            let holds =
                switch condition {
                case .none: true
                case .absent: content.objects[name] == nil
                case .unchanged(let tag): content.objects[name]?.tag == tag
                }
            guard holds else { throw VaultError(.conflict, "another writer was first", path: name) }
            content.versions += 1
            let tag = ETag(String(content.versions))
            content.set(name, (bytes, now, tag))
            if case .lostAnswer = fault { throw VaultError(.io, "no answer", path: name) }
            return tag
        }
    }

    func put(_ name: String, file path: String, condition: PutCondition) async throws -> ETag {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw VaultError(.noInput, "cannot be read", path: path)
        }
        return try await put(name, bytes: Array(data), condition: condition)
    }

    func get(_ name: String) async throws -> [UInt8] { try await get(name, upTo: 64 << 20) }

    func get(_ name: String, upTo limit: Int) async throws -> [UInt8] {
        try ObjectName.validate(name)
        guard let object = content.withLock({ $0.objects[name] }) else {
            throw VaultError(.missing, "there is no such object", path: name)
        }
        guard object.bytes.count <= limit else { throw VaultError(.damaged, "is larger than \(limit)", path: name) }
        return object.bytes
    }

    func get(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        let bytes = try await get(name, upTo: .max)
        guard range.upperBound <= bytes.count else { throw VaultError(.damaged, "is too short", path: name) }
        return Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
    }

    func fetch(_ name: String, into path: String) async throws {
        let data = Data(try await get(name, upTo: .max))
        do { try data.write(to: URL(fileURLWithPath: path), options: .withoutOverwriting) } catch {
            throw VaultError(.cannotCreate, "cannot be created", path: path, cause: error)
        }
    }

    func attributes(_ name: String) async throws -> ObjectAttributes? {
        try ObjectName.validate(name)
        return content.withLock { $0.attributes(of: name) }
    }

    func list(_ prefix: String) async throws -> [ObjectAttributes] {
        content.withLock { content in
            content.names(with: prefix).compactMap { content.attributes(of: $0) }
        }
    }

    func remove(_ name: String) async throws {
        try ObjectName.validate(name)
        content.withLock { $0.remove(name) }
    }

    func now() async throws -> Date { Date(milliseconds: clock.shown) }
}
