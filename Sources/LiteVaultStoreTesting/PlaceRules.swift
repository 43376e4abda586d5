internal import LiteVaultBackup
internal import LiteVaultSystem

// The place, its clock, and what is local of it.
extension ObjectStoreConformance.Rule {
    static let places = [clock, times, renewed, identity, localPath, spool]

    private static let clock = Self(
        "the clock advances, never runs backwards, and is the same for every client",
        because: "A lease that was not renewed for 10 minutes by this clock may be taken over."
    ) { x in
        var last = try await x.store.now()
        let first = last
        // Whole seconds are good enough.
        for client in [x.other, x.store, x.other, x.store] {
            let now = try await client.now()
            try x.expect(now >= last - 1, "the clock fell back by \(last.timeIntervalSince(now)) s", "a later time")
            last = max(last, now)
        }
        guard try await x.wait({ try await x.store.now() > first }) else {
            throw Deviation(observed: "the clock stands still", expected: "later times")
        }
        let (before, between, after) = (try await x.store.now(), try await x.other.now(), try await x.store.now())
        try x.expect(
            between >= before - 2 && between <= after + 2,
            "the clocks of two clients differ by \(between.timeIntervalSince(before)) s", "one clock")
    }

    private static let times = Self(
        "an object has the time at which it was stored, by the store's clock",
        because: "Pruning spares what was stored after it began, and ages of leases are measured by it."
    ) { x in
        let path = try x.file("old", [1])
        // It waited for an hour to be stored.
        var waited = [timespec(), timespec()]
        waited = waited.map { _ in timespec(tv_sec: time(nil) - 3_600, tv_nsec: 0) }
        try x.expect(
            utimensat(AT_FDCWD, path, waited, 0) == 0, "the time of a file cannot be set", "a writable directory")
        let before = try await x.store.now()
        try await x.store.put("data/a", bytes: [1], condition: .none)
        try await x.store.put("data/b", file: path, condition: .none)
        if try await x.store.supportsConditionalWrites() {
            try await x.store.put("data/c", file: path, condition: .absent)
            try await x.store.put("leases/a", bytes: [1], condition: .absent)
        }
        let after = try await x.store.now()
        for object in try await x.other.list("data/") + x.other.list("leases/a") {
            // Whole seconds, and another clock tick, are good enough.
            try x.expect(
                object.modified >= before - 2 && object.modified <= after + 2,
                "\(object.name) has a time \(object.modified.timeIntervalSince(before)) s after it was stored",
                "a time between two answers of the clock")
        }
    }

    private static let renewed = Self(
        "an object that is replaced by the same bytes has the time of that",
        because: "A lease that is renewed with the same content is not an old one."
    ) { x in
        try await x.store.put("leases/a", bytes: [1, 2, 3], condition: .none)
        guard let first = try await x.store.attributes("leases/a")?.modified else {
            throw Deviation(observed: "there are no attributes", expected: "those of the object")
        }
        guard try await x.wait({ try await x.store.now() >= first + 2 }) else {
            throw Deviation(observed: "the clock does not pass the time of an object", expected: "later times")
        }
        try await x.store.put("leases/a", bytes: [1, 2, 3], condition: .none)
        let second = try await x.other.attributes("leases/a")?.modified ?? first
        try x.expect(second > first, "the time is still that of the first put", "a later one")
    }

    private static let identity = Self(
        "a store has a location for messages, and an identity that no other place has",
        because: "What a machine remembers about a repository is found by it."
    ) { x in
        let elsewhere = try await x.open("conformance-" + UUID().uuidString.lowercased())
        try x.expect(!x.store.location.isEmpty, "the location is empty", "a text that says where the store is")
        try x.expect(x.store.location, is: x.other.location, of: "the location of one client")
        try x.expect(x.store.identity, is: x.other.identity, of: "the identity of one client")
        try x.expect(
            x.store.identity != elsewhere.identity, "another place has the same identity, \(elsewhere.identity)",
            "one of its own")
        try await x.store.put("data/a", bytes: [1], condition: .none)
        try x.expect(
            try await elsewhere.attributes("data/a") == nil, "another place has the same objects", "none of these")
    }

    private static let localPath = Self(
        "the local path of an object is a file with its bytes",
        because: "Packs of a local repository are read in place, without a copy."
    ) { x in
        guard x.store.localPath("data/a") != nil else {
            throw NotApplicable(reason: "the store says that it is remote")
        }
        for (name, size) in [("data/a", 100_000), ("tree/b/c", 10), ("top.json", 0)] {
            for round in 1...2 {
                let content = Examination.noise(size * round, round)
                try await x.store.put(name, bytes: content, condition: .none)
                guard let path = x.other.localPath(name) else {
                    throw Deviation(observed: "\(name) has no local path", expected: "one, as other objects have")
                }
                try x.expect(
                    try LocalFile(reading: path).contents(upTo: .max), are: content,
                    of: "the file at localPath(\(name))")
            }
        }
    }

    private static let spool = Self(
        "files can be made in the spool directory and stored from there, and are not objects themselves",
        because: "Packs are written there, so that a store on the same file system need not copy them."
    ) { x in
        guard let directory = try x.store.spoolDirectory() else {
            throw NotApplicable(reason: "the store says that any directory will do")
        }
        let path = directory + "/conformance-file"
        do {
            try LocalFile(creating: path).write([1, 2, 3], at: 0)
        } catch {
            throw Deviation(
                observed: "no file can be created in \(directory): \(Examination.describe(error))",
                expected: "an existing directory")
        }
        defer { unlink(path) }
        try x.expect(
            try await x.store.list("").allSatisfy { !$0.name.hasSuffix("conformance-file") },
            "a spooled file is listed", "no such object")
        try await x.store.put("data/a", file: path, condition: .none)
        unlink(path)
        try await x.expect("data/a", has: [1, 2, 3])
    }
}
