import Foundation
import LiteVaultBackup
import LiteVaultSystem
import Testing

/// A store that breaks a rule.
struct WrongStore: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// How the name of a rule that it breaks begins.
    let rule: String
    let open: @Sendable (any ObjectStore) -> any ObjectStore

    init(_ description: String, breaks rule: String, _ change: @escaping @Sendable (inout AlteredStore) -> Void) {
        (testDescription, self.rule) = (description, rule)
        open = { AlteredStore($0, change) }
    }
}

extension WrongStore {
    static let all = content + reading + conditions + visibility + listing + places

    static let content = [
        Self("the last byte is lost", breaks: "an object comes back") {
            $0.put = { try await $0.put($1, bytes: Array($2.dropLast($2.count > 70_000 ? 1 : 0)), condition: $3) }
        },
        Self("empty objects are not stored", breaks: "an object comes back") {
            $0.put = { $2.isEmpty ? ETag("") : try await $0.put($1, bytes: $2, condition: $3) }
        },
        Self("sizes are those of blocks", breaks: "an object comes back") {
            $0.attributes = { store, name in
                try await store.attributes(name).map {
                    ObjectAttributes(name: name, size: ($0.size + 511) / 512 * 512, modified: $0.modified, tag: $0.tag)
                }
            }
        },
        Self("a shorter object keeps the end of the longer one", breaks: "a put without a condition replaces") {
            $0.put = { store, name, bytes, condition in
                let old = try await store.attributes(name) == nil ? [] : store.get(name)
                return try await store.put(name, bytes: bytes + old.dropFirst(bytes.count), condition: condition)
            }
        },
        Self("an object is never replaced without a condition", breaks: "a put without a condition replaces") {
            $0.put = { store, name, bytes, condition in
                if condition == .none, let present = try await store.attributes(name) { return present.tag }
                return try await store.put(name, bytes: bytes, condition: condition)
            }
        },
        Self("a file is taken away", breaks: "a file goes in and comes out") {
            $0.putFile = { store, name, path, condition in
                let tag = try await store.put(name, file: path, condition: condition)
                try? FileManager.default.removeItem(atPath: path)
                return tag
            }
        },
        Self("a file that cannot be read is stored empty", breaks: "a put that fails stores nothing") {
            $0.putFile = { store, name, path, condition in
                let data = FileManager.default.contents(atPath: path) ?? Data()
                return try await store.put(name, bytes: Array(data), condition: condition)
            }
        },
        Self("the object is removed before it is replaced", breaks: "a put that fails stores nothing") {
            $0.putFile = { store, name, path, condition in
                if condition == .none { try await store.remove(name) }
                return try await store.put(name, file: path, condition: condition)
            }
        },
        Self("what is behind 64 MiB is lost", breaks: "a large object") {
            $0.put = { try await $0.put($1, bytes: Array($2.prefix(64 << 20)), condition: $3) }
        },
        Self("large objects are read into memory whatever the limit", breaks: "a large object") {
            $0.get = { try await $0.get($1, upTo: .max) }
        },
        Self("removing a missing object fails", breaks: "removing an object") {
            $0.remove = { store, name in
                guard try await store.attributes(name) != nil else { throw VaultError(.missing, "does not exist") }
                try await store.remove(name)
            }
        },
        Self("removing a name removes those that start with it", breaks: "removing an object") {
            $0.remove = { store, name in
                for object in try await store.list(name) { try await store.remove(object.name) }
            }
        },
        Self("removed objects stay", breaks: "removing an object") { $0.remove = { _, _ in } },
    ]

    static let reading = [
        Self("a missing object is empty", breaks: "an object that does not exist") {
            $0.get = { (try? await $0.get($1)) ?? [] }
        },
        Self("a missing object is a failure of another kind", breaks: "an object that does not exist") {
            $0.getRange = { store, name, range in
                do { return try await store.get(name, range: range) } catch {
                    throw VaultError(.io, "the server answered 404")
                }
            }
        },
        Self("errors are of a type of the store's own", breaks: "an object that does not exist") {
            $0.get = { store, name in
                do { return try await store.get(name) } catch { throw CocoaError(.fileNoSuchFile) }
            }
        },
        Self("a part of a name is an object", breaks: "an object that does not exist") {
            $0.attributes = { store, name in
                if let found = try await store.attributes(name) { return found }
                return try await store.list(name + "/").first.map {
                    ObjectAttributes(name: name, size: 0, modified: $0.modified, tag: ETag(""))
                }
            }
        },
        Self("a failed fetch leaves an empty file", breaks: "an object that does not exist") {
            $0.fetch = { store, name, path in
                if try await store.attributes(name) == nil {
                    _ = FileManager.default.createFile(atPath: path, contents: nil)
                }
                try await store.fetch(name, into: path)
            }
        },
        Self("a range ends with its last byte", breaks: "a range has exactly") {
            $0.getRange = { store, name, range in
                let end = min(range.upperBound + 1, try await store.attributes(name)?.size ?? 0)
                return try await store.get(name, range: range.lowerBound..<max(end, range.upperBound))
            }
        },
        Self("ranges are ignored", breaks: "a range has exactly") {
            $0.getRange = { store, name, _ in try await store.get(name) }
        },
        Self("an empty range is refused", breaks: "a range has exactly") {
            $0.getRange = { store, name, range in
                guard !range.isEmpty else { throw VaultError(.io, "the server answered 416") }
                return try await store.get(name, range: range)
            }
        },
        Self("a range beyond the end is shortened", breaks: "a range beyond the end") {
            $0.getRange = { store, name, range in
                let bytes = try await store.get(name)
                return Array(bytes.dropFirst(Int(range.lowerBound)).prefix(range.count))
            }
        },
        Self("a range beyond the end is filled up", breaks: "a range beyond the end") {
            $0.getRange = { store, name, range in
                let bytes = try await store.get(name).dropFirst(Int(range.lowerBound)).prefix(range.count)
                return Array(bytes) + [UInt8](repeating: 0, count: range.count - bytes.count)
            }
        },
        Self("limits are ignored", breaks: "a larger object than the limit") {
            $0.getUpTo = { store, name, _ in try await store.get(name) }
        },
        Self("limits are for less than their bytes", breaks: "a larger object than the limit") {
            $0.getUpTo = { store, name, limit in try await store.get(name, upTo: limit - 1) }
        },
        Self("an object is truncated at the limit", breaks: "a larger object than the limit") {
            $0.getUpTo = { store, name, limit in Array(try await store.get(name).prefix(limit)) }
        },
        Self("an existing file is overwritten", breaks: "an object is fetched into a new file") {
            $0.fetch = { store, name, path in
                try? FileManager.default.removeItem(atPath: path)
                try await store.fetch(name, into: path)
            }
        },
    ]

    static let conditions = [
        Self("the answer is another one each time", breaks: "whether conditions are honored") {
            let count = Locked(0)
            $0.conditional = { _ in
                count.withLock {
                    $0 += 1
                    return $0 % 2 == 0
                }
            }
        },
        Self("absent is ignored", breaks: "a put with the condition absent") {
            $0.put = { try await $0.put($1, bytes: $2, condition: $3 == .absent ? .none : $3) }
        },
        Self("absent is ignored for files", breaks: "a put with the condition absent") {
            $0.putFile = { try await $0.put($1, file: $2, condition: $3 == .absent ? .none : $3) }
        },
        Self("the same bytes do not conflict", breaks: "a put with the condition absent") {
            $0.put = { store, name, bytes, condition in
                if condition == .absent, let present = try await store.attributes(name),
                    try await store.get(name) == bytes
                {
                    return present.tag
                }
                return try await store.put(name, bytes: bytes, condition: condition)
            }
        },
        Self("an existing object is reported by another code", breaks: "a put with the condition absent") {
            $0.put = { store, name, bytes, condition in
                do { return try await store.put(name, bytes: bytes, condition: condition) } catch {
                    throw VaultError(.io, "the server answered 412")
                }
            }
        },
        Self("the last writer wins", breaks: "a put with the condition unchanged") {
            $0.put = { store, name, bytes, condition in
                if case .unchanged = condition { return try await store.put(name, bytes: bytes, condition: .none) }
                return try await store.put(name, bytes: bytes, condition: condition)
            }
        },
        Self("a removed object counts as unchanged", breaks: "a put with the condition unchanged") {
            $0.put = { store, name, bytes, condition in
                let isGone = try await store.attributes(name) == nil
                return try await store.put(name, bytes: bytes, condition: isGone ? .none : condition)
            }
        },
        Self("tags of listings are of another kind", breaks: "the tags of a put") {
            $0.list = { store, prefix in
                try await store.list(prefix).map {
                    ObjectAttributes(
                        name: $0.name, size: $0.size, modified: $0.modified, tag: ETag("\"\($0.tag.value)\""))
                }
            }
        },
        Self("tags are times in seconds and sizes", breaks: "each change of a small object") {
            @Sendable func weak(_ object: ObjectAttributes) -> ObjectAttributes {
                ObjectAttributes(
                    name: object.name, size: object.size, modified: object.modified,
                    tag: ETag("\(Int(object.modified.timeIntervalSince1970))-\(object.size)"))
            }
            $0.attributes = { try await $0.attributes($1).map(weak) }
            $0.put = { store, name, bytes, condition in
                _ = try await store.put(name, bytes: bytes, condition: condition)
                return try await store.attributes(name).map(weak)?.tag ?? ETag("")
            }
        },
        Self("tags are sums of the bytes", breaks: "each change of a small object") {
            $0.put = { store, name, bytes, condition in
                _ = try await store.put(name, bytes: bytes, condition: condition)
                return ETag(String(bytes.reduce(0) { $0 ^ $1 } & 3))
            }
        },
        Self("conditions are compared, then the object is put", breaks: "of many who create") {
            $0.put = compareThenPut
        },
        Self("conditions are compared, then the object is put", breaks: "of many who replace") {
            $0.put = compareThenPut
        },
        Self("conditions are compared, then the object is put", breaks: "no change is lost") {
            $0.put = compareThenPut
        },
        Self("all fail when two meet", breaks: "of many who create") {
            let meeting = Locked(0)
            $0.put = { store, name, bytes, condition in
                meeting.withLock { $0 += 1 }
                try await Task.sleep(for: .milliseconds(30))
                guard condition == .none || meeting.withLock({ $0 }) == 1 else {
                    throw VaultError(.conflict, "two writers")
                }
                return try await store.put(name, bytes: bytes, condition: condition)
            }
        },
    ]

    @Sendable private static func compareThenPut(
        _ store: any ObjectStore, _ name: String, _ bytes: [UInt8], _ condition: PutCondition
    ) async throws -> ETag {
        let present = try await store.attributes(name)
        let holds =
            switch condition {
            case .none: true
            case .absent: present == nil
            case .unchanged(let tag): present?.tag == tag
            }
        guard holds else { throw VaultError(.conflict, "another writer was first", path: name) }
        try await Task.sleep(for: .milliseconds(5))
        return try await store.put(name, bytes: bytes, condition: .none)
    }
}
