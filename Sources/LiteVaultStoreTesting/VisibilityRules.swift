internal import LiteVaultBackup
internal import LiteVaultSystem

// What readers see of writers.
extension ObjectStoreConformance.Rule {
    static let visibility = [consistent, whole, wholeFile, leftovers, cancelled]

    private static let consistent = Self(
        "what one client did is seen at once by all others, in listings, too",
        because: "Pruning lists leases to find the writers that still work, and removes what nobody needs."
    ) { x in
        for round in 0..<12 {
            let (name, content) = ("leases/\(round % 3)", Examination.noise(100 + round, round))
            let (writer, reader) = round % 2 == 0 ? (x.store, x.other) : (x.other, x.store)
            func listed() async throws -> ObjectAttributes? {
                try await reader.list("leases/").first { $0.name == name }
            }
            try await writer.put(name, bytes: [], condition: .none)
            try await x.expect(name, has: [], in: reader)
            try await writer.put(name, bytes: content, condition: .none)
            try await x.expect(name, has: content, in: reader)
            let present = try await reader.attributes(name)
            try x.expect(try await listed()?.size, is: present?.size, of: "the listed size of a replaced object")
            try x.expect(
                try await reader.get(name, range: 1..<50), are: Array(content[1..<50]),
                of: "a range of a replaced object")
            if round < 9 { continue }
            try await writer.remove(name)
            try await x.expectMissing(name, in: reader)
            try x.expect(try await listed() == nil, "a listing has a removed object", "no such object")
        }
    }

    private static let whole = Self(
        "a reader sees an object as it was before or after it was replaced, and never a part of it",
        because: "Leases, repository.json and records are read while others replace them."
    ) { x in
        let versions = [30_000, 300_000, 1, 1_000_000].map { Examination.noise($0, $0) }
        try await x.store.put("verified/a", bytes: versions[0], condition: .none)
        let isDone = Locked(false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { isDone.withLock { $0 = true } }
                for round in 1...24 {
                    try await x.store.put("verified/a", bytes: versions[round % versions.count], condition: .none)
                }
            }
            for (number, client) in [x.store, x.other, x.other].enumerated() {
                group.addTask {
                    let copy = x.path("copy-\(number)")
                    repeat {
                        var seen = [try await client.get("verified/a")]
                        try await client.fetch("verified/a", into: copy)
                        seen.append(try x.consume(copy))
                        for bytes in seen where !versions.contains(bytes) {
                            throw Deviation(
                                observed: "a reader got \(bytes.count) bytes that nobody put",
                                expected: "one of the versions")
                        }
                        let size = try await client.attributes("verified/a")?.size ?? -1
                        try x.expect(
                            versions.contains { $0.count == size }, "a reader saw a size of \(size)",
                            "that of one of the versions")
                    } while !isDone.withLock { $0 }
                }
            }
            try await group.waitForAll()
        }
    }

    private static let wholeFile = Self(
        "a new object appears when it is complete, and not before",
        because: "What a listing shows is restored from, also while a pack is being stored."
    ) { x in
        let content = Examination.noise(12_000_000)
        let isDone = Locked(false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { isDone.withLock { $0 = true } }
                for round in 0..<3 {
                    let path = try x.file("new-\(round)", content)
                    try await x.store.put("data/\(round)", file: path, condition: .none)
                    unlink(path)
                }
            }
            group.addTask {
                repeat {
                    for object in try await x.other.list("data/") where object.size != Int64(content.count) {
                        throw Deviation(
                            observed: "a listing has an object of \(object.size) bytes", expected: "all of its bytes")
                    }
                    for round in 0..<3 {
                        if let size = try await x.other.attributes("data/\(round)")?.size {
                            try x.expect(size, is: Int64(content.count), of: "the size of a new object")
                        }
                        do {
                            let end = try await x.other.get("data/\(round)", range: 11_999_900..<12_000_000)
                            try x.expect(end, are: Array(content.suffix(100)), of: "the end of a new object")
                        } catch let error as VaultError where error.code == .missing {}
                    }
                } while !isDone.withLock { $0 }
            }
            try await group.waitForAll()
        }
        try x.expect(try await x.other.list("data/").count, is: 3, of: "the number of objects")
    }

    private static let leftovers = Self(
        "removing leftovers removes no object, and nothing that is being stored",
        because: "Pruning calls it while other machines store snapshots."
    ) { x in
        let content = Examination.noise(9_000_000)
        try await x.store.put("leases/a", bytes: [1], condition: .none)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for round in 0..<4 {
                group.addTask {
                    let path = try x.file("file-\(round)", content)
                    try await x.store.put("data/\(round)", file: path, condition: .none)
                    try await x.store.put("tree/\(round)", bytes: Array(content[..<1000]), condition: .none)
                }
            }
            group.addTask {
                for _ in 0..<10 {
                    let count = try await x.other.removeLeftovers()
                    try x.expect(count, is: 0, of: "the number of removed leftovers")
                }
            }
            try await group.waitForAll()
        }
        try await x.expect("leases/a", has: [1])
        for round in 0..<4 {
            try await x.expect("data/\(round)", has: content)
            try await x.expect("tree/\(round)", has: Array(content[..<1000]))
        }
    }

    private static let cancelled = Self(
        "a call ends when its task is cancelled, and leaves an object whole or not at all",
        because: "A backup that is stopped must end, also when the store does not answer."
    ) { x in
        let content = Examination.noise(9_000_000)
        let path = try x.file("large", content)
        try await x.store.put("data/old", bytes: content, condition: .none)
        for (number, delay) in [0, 2, 10, 50].enumerated() {
            let ended = Locked(0)
            let calls: [@Sendable () async throws -> Void] = [
                { try await x.store.put("data/\(number)", file: path, condition: .none) },
                { try await x.store.put("data/old", bytes: content, condition: .none) },
                { _ = try await x.store.get("data/old") },
                { try await x.store.fetch("data/old", into: x.path("fetched-\(number)")) },
                { _ = try await x.store.list("") },
            ]
            // Unstructured, as a call that hangs must not hold up the rule as well.
            let tasks = calls.map { call in
                Task {
                    _ = try? await call()
                    ended.withLock { $0 += 1 }
                }
            }
            try await Task.sleep(nanoseconds: UInt64(delay) * 1_000_000)
            for task in tasks { task.cancel() }
            guard try await x.wait({ ended.withLock { $0 } == calls.count }) else {
                throw Deviation(
                    observed: "\(calls.count - ended.withLock { $0 }) of \(calls.count) cancelled calls did not end",
                    expected: "all end within \(x.settings.patience)")
            }
            let present = try await x.other.list("data/").map(\.name)
            for name in ["data/old", "data/\(number)"] where name == "data/old" || present.contains(name) {
                try x.expect(try await x.other.get(name), are: content, of: "an object after a cancelled put")
            }
        }
        try await x.store.put("data/next", bytes: [1], condition: .none)
        try await x.expect("data/next", has: [1])
    }
}
