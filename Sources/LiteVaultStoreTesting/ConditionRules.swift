internal import LiteVaultBackup
internal import LiteVaultSystem

// Conditions keep writers apart.
extension ObjectStoreConformance.Rule {
    static let conditions = [answer, absent, unchanged, anyTag, freshTags, oneCreator, oneReplacer, counter]

    private static let answer = Self(
        "whether conditions are honored is answered the same for every client, and asking changes no object",
        because: "Two writers of one repository must agree on how they keep apart."
    ) { x in
        try await x.store.put("leases/a", bytes: [1], condition: .none)
        let first = try await x.store.supportsConditionalWrites()
        for client in [x.store, x.other, x.other, x.store] {
            try x.expect(try await client.supportsConditionalWrites(), is: first, of: "a later answer")
        }
        try await x.expect("leases/a", has: [1])
    }

    private static let absent = Self(
        "a put with the condition absent creates an object, and conflicts with one that exists",
        because: "A manifest's name is a fence: the writer that stores it first decides (decision 0010)."
    ) { x in
        try await x.requireConditions()
        let path = try x.file("other", [7, 8])
        for (name, client) in [("snapshots/a", x.store), ("snapshots/b", x.other)] {
            try await client.put(name, bytes: [1, 2, 3], condition: .absent)
            for second in [x.store, x.other] {
                try await x.expect(.conflict, of: "a second put with absent") {
                    try await second.put(name, bytes: [4], condition: .absent)
                }
                try await x.expect(.conflict, of: "a second put with absent, of the same bytes") {
                    try await second.put(name, bytes: [1, 2, 3], condition: .absent)
                }
                try await x.expect(.conflict, of: "a put of a file with absent over an object") {
                    try await second.put(name, file: path, condition: .absent)
                }
            }
            try await x.expect(name, has: [1, 2, 3])
            try await client.remove(name)
            try await client.put(name, file: path, condition: .absent)
            try await x.expect(name, has: [7, 8])
        }
    }

    private static let unchanged = Self(
        "a put with the condition unchanged replaces the version with that tag, and conflicts with any other",
        because: "A lease is renewed only by its holder, and repository.json keeps every secret."
    ) { x in
        try await x.requireConditions()
        for name in ["leases/a", "top.json"] {
            let first = try await x.store.put(name, bytes: [1], condition: .absent)
            let second = try await x.other.put(name, bytes: [2], condition: .unchanged(first))
            let path = try x.file("late", [3])
            for late in [x.store, x.other] {
                try await x.expect(.conflict, of: "a put with the tag of an older version") {
                    try await late.put(name, bytes: [3], condition: .unchanged(first))
                }
                try await x.expect(.conflict, of: "a put of a file with the tag of an older version") {
                    try await late.put(name, file: path, condition: .unchanged(first))
                }
            }
            try await x.expect(name, has: [2])
            let third = try await x.store.put(name, file: path, condition: .unchanged(second))
            unlink(path)
            try await x.expect(name, has: [3])
            try await x.other.remove(name)
            try await x.expect(.conflict, of: "a put with the tag of an object that was removed") {
                try await x.store.put(name, bytes: [4], condition: .unchanged(third))
            }
            try await x.expectMissing(name)
        }
    }

    private static let anyTag = Self(
        "the tags of a put, of attributes and of a listing are all good for a condition",
        because: "Leases are found by attributes or a listing, and replaced by these tags."
    ) { x in
        try await x.requireConditions()
        for name in ["leases/a", "verified/a", "top.json"] {
            var tag = try await x.store.put(name, bytes: [0], condition: .absent)
            for round in UInt8(1)...6 {
                let client = round % 2 == 0 ? x.store : x.other
                switch round % 3 {
                case 0: break
                case 1: tag = try await client.attributes(name)?.tag ?? tag
                default: tag = try await client.list(name).first { $0.name == name }?.tag ?? tag
                }
                let (found, place) = (tag, ["a put", "attributes", "a listing"][Int(round % 3)])
                let bytes = [UInt8](repeating: round, count: Int(round))
                do { tag = try await client.put(name, bytes: bytes, condition: .unchanged(found)) } catch {
                    throw Deviation(
                        observed: "a put with the tag of \(place) threw \(Examination.describe(error))",
                        expected: "the object is replaced")
                }
                try await x.expect(.conflict, of: "a put with an older tag, of \(place)") {
                    try await client.put(name, bytes: [99, 99], condition: .unchanged(found))
                }
                try await x.expect(name, has: bytes)
            }
        }
    }

    private static let freshTags = Self(
        "each change of a small object changes its tag, also within one second and at the same size",
        because: "A lease is renewed and taken over within milliseconds, and its size hardly changes."
    ) { x in
        // As large as what repositories replace.
        for (name, size) in [("leases/a", 1), ("verified/a", 20_000), ("forgotten/a", 2_000), ("top.json", 20_000)] {
            var seen: Set<ETag> = []
            for round in 0..<24 {
                let client = round % 2 == 0 ? x.store : x.other
                let bytes = (size < 8 ? [] : Examination.noise(size - 1, round)) + [UInt8(round)]
                let tag = try await client.put(name, bytes: bytes, condition: .none)
                try x.expect(
                    seen.insert(tag).inserted, "version \(round) of \(size) bytes has the tag of an earlier one",
                    "a tag of its own")
                try x.expect(
                    try await client.attributes(name)?.tag, is: tag, of: "the tag in the attributes of what was put")
            }
        }
    }

    private static let oneCreator = Self(
        "of many who create an object at the same time exactly one succeeds, and the object is its",
        because: "A suspended writer and the next one may store the same manifest or segment."
    ) { x in
        try await x.requireConditions()
        for round in 0..<6 {
            let name = "snapshots/\(round)"
            try await race(x, name) { client, number in
                if number % 2 == 0 {
                    try await client.put(name, bytes: [UInt8(number)], condition: .absent)
                } else {
                    let path = try x.file("race-\(round)-\(number)", [UInt8(number)])
                    try await client.put(name, file: path, condition: .absent)
                }
            }
        }
    }

    private static let oneReplacer = Self(
        "of many who replace one version at the same time exactly one succeeds, and the object is its",
        because: "Of two who take an expired lease, one must lose."
    ) { x in
        try await x.requireConditions()
        for round in 0..<6 {
            let name = "leases/\(round % 2)"
            let tag = try await x.store.put(name, bytes: [UInt8(100 + round)], condition: .none)
            try await race(x, name) { client, number in
                try await client.put(name, bytes: [UInt8(number)], condition: .unchanged(tag))
            }
        }
    }

    /// Lets eight writers of two clients put, and expects one of them to succeed and the others to conflict.
    private static func race(
        _ x: Examination, _ name: String,
        _ put: @escaping @Sendable (_ client: any ObjectStore, _ number: Int) async throws -> Void
    ) async throws {
        let winners = try await concurrently(Array(1...8), width: 8) { number -> UInt8? in
            do {
                try await put(number <= 4 ? x.store : x.other, number)
                return UInt8(number)
            } catch let error as VaultError where error.code == .conflict {
                return nil
            } catch {
                throw Deviation(
                    observed: "a writer got \(Examination.describe(error))",
                    expected: "success, or a VaultError with code conflict")
            }
        }.compactMap(\.self)
        try x.expect(winners.count == 1, "\(winners.count) of 8 writers succeeded", "one")
        try await x.expect(name, has: winners)
    }

    private static let counter = Self(
        "no change is lost when several read, change and replace one object",
        because: "Two machines may add a secret to one repository.json at the same time."
    ) { x in
        try await x.requireConditions()
        try await x.store.put("counter.json", bytes: [0], condition: .absent)
        let (writers, rounds) = (4, 6)
        _ = try await concurrently(Array(0..<writers), width: writers) { number in
            let client = number % 2 == 0 ? x.store : x.other
            for _ in 0..<rounds { try await increment("counter.json", client) }
        }
        let count = try await x.store.get("counter.json").count
        try x.expect(count, is: writers * rounds + 1, of: "the length after \(writers * rounds) additions of a byte")
    }

    /// Adds a byte to an object, however often another writer is faster.
    private static func increment(_ name: String, _ client: any ObjectStore) async throws {
        for _ in 0..<10_000 {
            guard let tag = try await client.attributes(name)?.tag else { break }
            do {
                try await client.put(name, bytes: try await client.get(name) + [1], condition: .unchanged(tag))
                return
            } catch let error as VaultError where error.code == .conflict { continue }
        }
        throw Deviation(observed: "a writer conflicts without end", expected: "one of several succeeds each time")
    }
}
