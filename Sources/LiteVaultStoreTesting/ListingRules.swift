internal import LiteVaultBackup
internal import LiteVaultSystem

// Names, and listings of them.
extension ObjectStoreConformance.Rule {
    static let listing = [prefixes, attributes, part, thousands, validNames, invalidNames]

    /// Names whose order is another one for most ways to compare them but byte by byte, and as parts of a path. None is an object and the
    /// directory of another one at the same time.
    private static let tricky = [
        "p-q/1", "p/-", "p/0", "p/1", "p/10", "p/2", "p/A", "p/Z", "p/_", "p/a-1", "p/a.1", "p/a/1", "p/a/2", "p/a/b/c",
        "p/a0", "p/a_", "p/aa", "p/b", "p0/1", "pp",
    ]

    private static let prefixes = Self(
        "all names that start with a prefix are listed, in the order of their bytes",
        because: "The last name of a listing is the newest snapshot or segment."
    ) { x in
        for name in tricky.reversed() { try await x.store.put(name, bytes: Array(name.utf8), condition: .none) }
        for prefix in [
            "", "p", "p/", "p/a", "p/a/", "p/a/b", "p/a/b/", "p/a/b/c", "p/a-", "p-", "p0/", "pp", "pp/", "q", "p/9",
        ] {
            let found = try await x.other.list(prefix).map(\.name)
            // The store's own objects may be there, too.
            try x.expect(
                prefix.isEmpty ? found.filter { $0.hasPrefix("p") } : found,
                are: tricky.filter { $0.hasPrefix(prefix) }, of: "list(\"\(prefix)\")")
            let all = try await x.other.list(prefix).map(\.name)
            try x.expect(
                zip(all, all.dropFirst()).allSatisfy { $0.utf8.lexicographicallyPrecedes($1.utf8) },
                "list(\"\(prefix)\") is not sorted", "the order of the names' bytes")
        }
    }

    private static let attributes = Self(
        "a listing has the sizes and times that the attributes of the objects have",
        because: "What is missing or truncated is found by one listing, without a request for each object."
    ) { x in
        for size in [0, 1, 5_000, 100_000] {
            try await x.store.put("data/\(size)", bytes: Examination.noise(size), condition: .none)
        }
        for object in try await x.other.list("data/") {
            guard let present = try await x.store.attributes(object.name) else {
                throw Deviation(observed: "\(object.name) is listed and has no attributes", expected: "both or none")
            }
            try x.expect(object.size, is: present.size, of: "the listed size of \(object.name)")
            let difference = abs(object.modified.timeIntervalSince(present.modified))
            // Listings of S3 have milliseconds, answers to HEAD whole seconds.
            try x.expect(difference < 1.001, "the times of \(object.name) differ by \(difference) s", "the same time")
        }
    }

    private static let part = Self(
        "a part of the names is listed, from behind one name to before another",
        because: "Of a followed log only the segments that no joined one has are listed (decision 0032)."
    ) { x in
        for name in tricky { try await x.store.put(name, bytes: [1], condition: .none) }
        let bounds: [(String, String?)] = [
            ("p/1", "p/a"), ("p/10", nil), ("p/a", "p/a/2"), ("p/a/", "p/a0"), ("p/a.1", "p/a/b/c"), ("p/", "p/0"),
            ("p/b", nil),
            ("p/9", "p/A"), ("a", nil), ("p/a/1", "p/a/1"), ("z", nil), ("p/Z", "p/"),
        ]
        for prefix in ["p/", "p/a", "p/a/", "p"] {
            for (first, end) in bounds {
                let expected = tricky.filter { name in
                    name.hasPrefix(prefix) && first.utf8.lexicographicallyPrecedes(name.utf8)
                        && end.map { name.utf8.lexicographicallyPrecedes($0.utf8) } ?? true
                }
                try x.expect(
                    try await x.other.list(prefix, after: first, before: end).map(\.name), are: expected,
                    of: "list(\"\(prefix)\", after: \"\(first)\", before: \(end.map { "\"\($0)\"" } ?? "nil"))")
            }
        }
    }

    private static let thousands = Self(
        "thousands of names are listed, each of them once",
        because: "A day of commits leaves 86,400 segments, and stores list in pages of 1,000."
    ) { x in
        let count = x.settings.manyObjects
        let names = (0..<count).map { number in
            let digits = String(number)
            return "segments/" + String(repeating: "0", count: max(0, 8 - digits.count)) + digits
        }
        // Several at a time, as repositories do.
        _ = try await concurrently(names) { try await x.store.put($0, bytes: [1], condition: .none) }
        try x.expect(try await x.other.list("segments/").map(\.name), are: names, of: "the listing")
        for (first, end) in [(0, count - 1), (count / 3, count / 2), (count / 2, count - 2)] where first < end {
            try x.expect(
                try await x.store.list("segments/", after: names[first], before: names[end]).map(\.name),
                are: Array(names[(first + 1)..<end]), of: "the part behind number \(first) and before number \(end)")
        }
        _ = try await concurrently(names) { try await x.other.remove($0) }
        try x.expect(try await x.store.list("segments/").count, is: 0, of: "the number of names after all were removed")
    }

    private static let validNames = Self(
        "every valid name is the name of an object of its own",
        because: "Names are built from identifiers, numbers and hashes."
    ) { x in
        let long = String(repeating: "0123456789", count: 20)
        var names = [
            "a", "-", "_", "a.", "a..b", "a-b_c.d", "0", "repository.json", "doomed.json", "ABCXYZabcxyz", "x.tmp",
            "x.lock",
            "x.json", "a1/b", "a1/b.c/d", "a2/-/_", "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16", long, "d/" + long,
        ]
        // The longest part has 200 bytes, the longest name 512.
        names.append(String(long.reversed()) + "/\(long)/" + String(repeating: "z", count: 108))
        names = names.map { "n/" + $0 }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        for (number, name) in names.enumerated() {
            try await x.store.put(name, bytes: [UInt8(number)], condition: .none)
        }
        for (number, name) in names.enumerated() { try await x.expect(name, has: [UInt8(number)], in: x.other) }
        try x.expect(try await x.other.list("n/").map(\.name), are: names, of: "list(\"n/\")")
    }

    private static let invalidNames = Self(
        "an invalid name is refused by every call",
        because: "A name that somebody wrote into a repository must not reach files outside of it."
    ) { x in
        let names = [
            "", "/", "/a", "a/", "a//b", "..", "../a", "a/../b", "./a", ".hidden", "a/.hidden", "a b", "a\\b", "a:b",
            "a%2fb", "ä",
            "a\u{0}b", "a\nb", "a?b", "a*", String(repeating: "a", count: 201),
            String(repeating: "abcdefg/", count: 65) + "a",
        ]
        let path = try x.file("file", [1])
        for name in names {
            let text = "\"\(name.prefix(30))\""
            try await x.expectError(of: "put(\(text), bytes:)") {
                try await x.store.put(name, bytes: [1], condition: .none)
            }
            try await x.expectError(of: "put(\(text), file:)") {
                try await x.store.put(name, file: path, condition: .none)
            }
            try await x.expectError(of: "get(\(text))") { _ = try await x.store.get(name) }
            try await x.expectError(of: "get(\(text), range:)") { _ = try await x.store.get(name, range: 0..<1) }
            try await x.expectError(of: "attributes(\(text))") { _ = try await x.store.attributes(name) }
            try await x.expectError(of: "fetch(\(text), into:)") {
                try await x.store.fetch(name, into: x.path("fetched"))
            }
            try await x.expectError(of: "remove(\(text))") { try await x.store.remove(name) }
        }
        try x.expect(access(x.path("fetched"), F_OK) != 0, "a refused fetch left a file", "none")
    }
}
