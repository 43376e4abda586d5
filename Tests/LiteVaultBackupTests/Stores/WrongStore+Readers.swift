import Foundation
import LiteVaultBackup
import LiteVaultSystem

/// What readers see that they must not see, and what is wrong about a place.
extension WrongStore {
    static let visibility = [
        Self("reads are cached by each client", breaks: "what one client did") {
            let cache = Locked([String: [UInt8]]())
            $0.get = { store, name in
                if let known = cache.withLock({ $0[name] }) { return known }
                let bytes = try await store.get(name)
                cache.withLock { $0[name] = bytes }
                return bytes
            }
        },
        Self("listings are as the last one should have been", breaks: "what one client did") {
            let last = Locked([ObjectAttributes]())
            $0.list = { store, prefix in
                let now = try await store.list("")
                return last.withLock { last in
                    defer { last = now }
                    return last.filter { $0.name.hasPrefix(prefix) }
                }
            }
        },
        Self("removed objects stay in listings", breaks: "what one client did") {
            let seen = Locked([String: ObjectAttributes]())
            $0.list = { store, prefix in
                let found = try await store.list(prefix)
                return seen.withLock { seen in
                    for object in found { seen[object.name] = object }
                    return seen.values.filter { $0.name.hasPrefix(prefix) }.sorted { $0.name < $1.name }
                }
            }
        },
        Self("objects are written in two steps", breaks: "a reader sees an object") { $0.put = inTwoSteps },
        Self("files are written in two steps", breaks: "a new object appears") { $0.put = inTwoSteps },
        Self("objects are removed while they are replaced", breaks: "a reader sees an object") {
            $0.put = { store, name, bytes, condition in
                try await store.remove(name)
                try await Task.sleep(for: .milliseconds(5))
                return try await store.put(name, bytes: bytes, condition: .none)
            }
        },
        Self("leases are leftovers", breaks: "removing leftovers") {
            $0.leftovers = { store in
                try await store.remove("leases/a")
                return 0
            }
        },
        Self("objects are counted as leftovers", breaks: "removing leftovers") {
            $0.leftovers = { try await $0.list("").count }
        },
        Self("a cancelled call does not end", breaks: "a call ends when") {
            $0.list = { store, prefix in
                if prefix.isEmpty {
                    try? await Task.sleep(for: .milliseconds(300))
                    if Task.isCancelled { await Task { try? await Task.sleep(for: .seconds(3_600)) }.value }
                }
                return try await store.list(prefix)
            }
        },
        Self("a cancelled put leaves a part", breaks: "a call ends when") {
            $0.put = { store, name, bytes, condition in
                do { try await Task.sleep(for: .milliseconds(100)) } catch {
                    return try await store.put(name, bytes: Array(bytes.dropLast()), condition: .none)
                }
                return try await store.put(name, bytes: bytes, condition: condition)
            }
        },
    ]

    @Sendable private static func inTwoSteps(
        _ store: any ObjectStore, _ name: String, _ bytes: [UInt8], _ condition: PutCondition
    ) async throws -> ETag {
        _ = try await store.put(name, bytes: Array(bytes.prefix(bytes.count / 2)), condition: condition)
        try await Task.sleep(for: .milliseconds(5))
        return try await store.put(name, bytes: bytes, condition: .none)
    }

    static let listing = [
        Self("listings are not sorted", breaks: "all names that start with") {
            $0.list = { try await $0.list($1).sorted { $0.name.hashValue < $1.name.hashValue } }
        },
        Self("listings are sorted by the parts of a path", breaks: "all names that start with") {
            $0.list = {
                try await $0.list($1).sorted {
                    $0.name.split(separator: "/").lexicographicallyPrecedes($1.name.split(separator: "/"))
                }
            }
        },
        Self("listings are sorted as people do", breaks: "all names that start with") {
            $0.list = { try await $0.list($1).sorted { $0.name.lowercased() < $1.name.lowercased() } }
        },
        Self("a prefix is a directory", breaks: "all names that start with") {
            $0.list = { store, prefix in
                let directory = prefix.isEmpty || prefix.hasSuffix("/") ? prefix : prefix + "/"
                return try await store.list("").filter { $0.name.hasPrefix(directory) }
            }
        },
        Self("only one level is listed", breaks: "all names that start with") {
            $0.list = { store, prefix in
                try await store.list(prefix).filter { !$0.name.dropFirst(prefix.count).contains("/") }
            }
        },
        Self("listed sizes are unknown", breaks: "a listing has the sizes") {
            $0.list = {
                try await $0.list($1).map {
                    ObjectAttributes(name: $0.name, size: 0, modified: $0.modified, tag: $0.tag)
                }
            }
        },
        Self("listed times are those of another time zone", breaks: "a listing has the sizes") {
            $0.list = {
                try await $0.list($1).map {
                    ObjectAttributes(name: $0.name, size: $0.size, modified: $0.modified + 3_600, tag: $0.tag)
                }
            }
        },
        Self("a part begins with its first name", breaks: "a part of the names") {
            $0.part = { store, prefix, first, end in
                try await store.list(prefix).filter { object in
                    object.name >= first && end.map { object.name < $0 } ?? true
                }
            }
        },
        Self("a part ends with its last name", breaks: "a part of the names") {
            $0.part = { store, prefix, first, end in
                try await store.list(prefix).filter { object in
                    object.name > first && end.map { object.name <= $0 } ?? true
                }
            }
        },
        Self("a part has names of other prefixes", breaks: "a part of the names") {
            $0.part = { store, _, first, end in try await store.list("", after: first, before: end) }
        },
        Self("a listing ends after 1,000 names", breaks: "thousands of names") {
            $0.list = { Array(try await $0.list($1).prefix(1_000)) }
        },
        Self("a name is on two pages", breaks: "thousands of names") {
            $0.list = {
                let found = try await $0.list($1)
                return found.count > 1_000 ? Array(found[...999] + found[999...]) : found
            }
        },
        Self("a later page is lost", breaks: "thousands of names") {
            $0.part = { Array(try await $0.list($1, after: $2, before: $3).prefix(1_000)) }
        },
        Self("only 3 calls are served at a time", breaks: "thousands of names") {
            let running = Locked(0)
            $0.put = { store, name, bytes, condition in
                defer { running.withLock { $0 -= 1 } }
                guard
                    running.withLock({ count in
                        count += 1
                        return count
                    }) < 4
                else { throw VaultError(.io, "too many requests") }
                try await Task.sleep(for: .milliseconds(2))
                return try await store.put(name, bytes: bytes, condition: condition)
            }
        },
        Self("names have at most 100 bytes", breaks: "every valid name") {
            $0.put = { try await $0.put(String($1.prefix(100)), bytes: $2, condition: $3) }
            $0.get = { try await $0.get(String($1.prefix(100))) }
            $0.attributes = { store, name in
                try await store.attributes(String(name.prefix(100))).map {
                    ObjectAttributes(name: name, size: $0.size, modified: $0.modified, tag: $0.tag)
                }
            }
        },
        Self("names with an ending of its own are hidden", breaks: "every valid name") {
            $0.list = { try await $0.list($1).filter { !$0.name.hasSuffix(".tmp") && !$0.name.hasSuffix(".lock") } }
        },
        Self("any name is taken", breaks: "an invalid name") {
            $0.put = { store, name, bytes, condition in
                try await store.put(
                    String(name.unicodeScalars.map { ObjectName.isValid(String($0)) ? Character($0) : "_" }.prefix(99))
                        + "x",
                    bytes: bytes, condition: condition)
            }
        },
        Self("removing an invalid name is ignored", breaks: "an invalid name") {
            $0.remove = { store, name in if !name.contains("..") { try await store.remove(name) } }
        },
    ]

    static let places = [
        Self("the clock stands still", breaks: "the clock advances") {
            $0.clock = { _ in Date(timeIntervalSince1970: 1) }
        },
        Self("the clock runs backwards", breaks: "the clock advances") {
            let last = Locked(Date(timeIntervalSince1970: 2_000_000_000))
            $0.clock = { _ in
                last.withLock {
                    $0 -= 10
                    return $0
                }
            }
        },
        Self("each client has a clock of its own", breaks: "the clock advances") {
            let difference = Double.random(in: 1_000...1_000_000)
            $0.clock = { try await $0.now() + difference }
        },
        Self("the clock is another one than that of the objects", breaks: "an object has the time") {
            $0.clock = { try await $0.now() + 3_600 }
        },
        Self("a file keeps its time", breaks: "an object has the time") {
            // The tests store files of that age under these names alone.
            $0.list = { store, prefix in
                try await store.list(prefix).map { object in
                    ObjectAttributes(
                        name: object.name, size: object.size,
                        modified: object.name == "data/c" ? object.modified - 3_600 : object.modified, tag: object.tag)
                }
            }
        },
        Self("equal bytes are not stored again", breaks: "an object that is replaced by the same bytes") {
            $0.put = { store, name, bytes, condition in
                if let present = try await store.attributes(name), try await store.get(name) == bytes {
                    return present.tag
                }
                return try await store.put(name, bytes: bytes, condition: condition)
            }
        },
        Self("all places have one identity", breaks: "a store has a location") { $0.named = "the store" },
        Self("a client has an identity of its own", breaks: "a store has a location") { $0.named = UUID().uuidString },
        Self("the local path is that of another file", breaks: "the local path") { $0.local = { _, _ in "/dev/null" } },
        Self("only some objects are local", breaks: "the local path") {
            $0.local = { _, name in
                name == "data/a" ? FileManager.default.temporaryDirectory.path + "/none-\(UUID().uuidString)" : nil
            }
        },
        Self("the spool directory does not exist", breaks: "files can be made in the spool") {
            $0.spool = { _ in "/no/such/directory" }
        },
    ]
}
