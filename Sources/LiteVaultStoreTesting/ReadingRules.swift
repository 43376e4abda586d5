internal import LiteVaultBackup
internal import LiteVaultSystem

// Parts, limits and files.
extension ObjectStoreConformance.Rule {
    static let reading = [missing, ranges, beyondTheEnd, limits, newFile]

    private static let missing = Self(
        "an object that does not exist is missing, not damaged and not empty",
        because: "Retention may remove an object in the middle of a restore: that is not damage."
    ) { x in
        try await x.store.put("data/a/b", bytes: [1], condition: .none)
        // The last two are a part of a name, and a name below an object.
        for name in ["none", "no/such/object", "data/a", "data/a/b/c"] {
            try await x.expectMissing(name)
            try await x.expect(.missing, of: "get(\"\(name)\", upTo:)") { _ = try await x.store.get(name, upTo: 10) }
            try await x.expect(.missing, of: "get(\"\(name)\", range:)") {
                _ = try await x.store.get(name, range: 0..<1)
            }
            try await x.expect(.missing, of: "fetch(\"\(name)\", into:)") {
                try await x.store.fetch(name, into: x.path("none"))
            }
            try await x.expect(.missing, of: "fetch(\"\(name)\", into:upTo:)") {
                try await x.store.fetch(name, into: x.path("none"), upTo: 10)
            }
            try x.expect(access(x.path("none"), F_OK) != 0, "a failed fetch left a file", "none")
        }
        try x.expect(try await x.store.list("no/").isEmpty, "a listing of nothing has names", "none")
    }

    private static let ranges = Self(
        "a range has exactly its bytes, up to the end",
        because: "Blocks are read out of packs by their places."
    ) { x in
        let content = Examination.noise(200_000)
        try await x.store.put("data/r", bytes: content, condition: .none)
        let bounds: [Range<Int64>] = [
            0..<1, 0..<200_000, 1..<2, 4_095..<4_097, 65_535..<65_537, 65_536..<131_072, 199_999..<200_000, 0..<0,
            77..<77,
            200_000..<200_000,
        ]
        for range in bounds {
            try x.expect(
                try await x.other.get("data/r", range: range),
                are: Array(content[Int(range.lowerBound)..<Int(range.upperBound)]), of: "the range \(range)")
        }
        try await x.store.put("data/empty", bytes: [], condition: .none)
        try x.expect(try await x.store.get("data/empty", range: 0..<0), are: [], of: "the range 0..<0 of nothing")
    }

    private static let beyondTheEnd = Self(
        "a range beyond the end is damage, and never a shorter result",
        because: "A truncated pack must not look like one with other blocks."
    ) { x in
        try await x.store.put("data/r", bytes: Examination.noise(10_000), condition: .none)
        try await x.store.put("data/empty", bytes: [], condition: .none)
        for range in [9_000..<10_001, 10_000..<10_001, 20_000..<20_001, 0..<(1 << 20)] as [Range<Int64>] {
            try await x.expect(.damaged, of: "the range \(range) of 10,000 bytes") {
                _ = try await x.store.get("data/r", range: range)
            }
        }
        try await x.expect(.damaged, of: "the range 0..<1 of nothing") {
            _ = try await x.store.get("data/empty", range: 0..<1)
        }
    }

    private static let limits = Self(
        "a larger object than the limit is damage, and no file is left",
        because: "A document in a store that somebody changed must not fill memory or the disk."
    ) { x in
        for size in [0, 1, 5_000, 200_000] {
            let (name, content) = ("data/\(size)", Examination.noise(size, size))
            try await x.store.put(name, bytes: content, condition: .none)
            for limit in [size, size + 1] {
                try x.expect(try await x.store.get(name, upTo: limit), are: content, of: "get(_:upTo: \(limit))")
                try await x.store.fetch(name, into: x.path("copy"), upTo: Int64(limit))
                try x.expect(try x.consume(x.path("copy")), are: content, of: "fetch(_:into:upTo: \(limit))")
            }
            for limit in [size - 1, size / 2] where limit >= 0 && limit < size {
                try await x.expect(.damaged, of: "get of \(size) bytes upTo: \(limit)") {
                    _ = try await x.store.get(name, upTo: limit)
                }
                try await x.expect(.damaged, of: "fetch of \(size) bytes upTo: \(limit)") {
                    try await x.store.fetch(name, into: x.path("copy"), upTo: Int64(limit))
                }
                try x.expect(access(x.path("copy"), F_OK) != 0, "a rejected fetch left a file", "none")
            }
        }
    }

    private static let newFile = Self(
        "an object is fetched into a new file, and an existing one is left alone",
        because: "The destination of a restore may be a database."
    ) { x in
        try await x.store.put("data/a", bytes: [1, 2, 3], condition: .none)
        let path = try x.file("existing", [9])
        try await x.expectError(of: "fetch(_:into:) an existing file") { try await x.store.fetch("data/a", into: path) }
        try await x.expectError(of: "fetch(_:into:upTo:) an existing file") {
            try await x.store.fetch("data/a", into: path, upTo: 10)
        }
        try x.expect(try x.consume(path), are: [9], of: "the existing file")
        try await x.store.fetch("data/a", into: path)
        try x.expect(try x.consume(path), are: [1, 2, 3], of: "the new file")
    }
}
