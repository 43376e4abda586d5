internal import LiteVaultBackup
internal import LiteVaultSystem

// What is put comes back.
extension ObjectStoreConformance.Rule {
    static let content = [comesBack, replaces, files, failedFile, large, removal]

    private static let comesBack = Self(
        "an object comes back as it was put, whatever its size",
        because: "Every object of a repository is hashed or authenticated."
    ) { x in
        for size in [0, 1, 511, 4_095, 4_096, 4_097, 65_536, 300_000, 1 << 20 | 1] {
            let content = Examination.noise(size, size)
            try await x.store.put("data/\(size)", bytes: content, condition: .none)
            try await x.expect("data/\(size)", has: content)
        }
        try await x.store.put("top", bytes: [1], condition: .none)
        try await x.expect("top", has: [1])
        try await x.expect("data/0", has: [], in: x.other)
    }

    private static let replaces = Self(
        "a put without a condition replaces the object as a whole",
        because: "Records and, in stores without conditions, leases are replaced that way."
    ) { x in
        for size in [5_000, 20, 0, 70_000, 3] {
            let content = Examination.noise(size, size)
            try await x.store.put("verified/a", bytes: content, condition: .none)
            try await x.expect("verified/a", has: content)
            let path = try x.file("replacement", content + [1])
            try await x.store.put("verified/a", file: path, condition: .none)
            unlink(path)
            try await x.expect("verified/a", has: content + [1])
        }
        try await x.expect(x.store.list("verified/").map(\.name), are: ["verified/a"], of: "the listing")
    }

    private static let files = Self(
        "a file goes in and comes out, and may be removed as soon as it was put",
        because: "Packs and segments wait in files to be stored, and are removed then."
    ) { x in
        for (number, size) in [0, 1, 4_097, 3_000_000].enumerated() {
            let content = Examination.noise(size, number)
            let path = try x.file("source", content)
            try await x.store.put("data/absent-\(number)", file: path, condition: .none)
            try await x.store.put("segments/\(number)", file: path, condition: .none)
            try x.expect(try x.consume(path), are: content, of: "the file that was put")
            for name in ["data/absent-\(number)", "segments/\(number)"] {
                try await x.expect(name, has: content)
                try await x.other.fetch(name, into: x.path("copy"))
                try x.expect(try x.consume(x.path("copy")), are: content, of: "the file that \(name) was fetched into")
            }
        }
    }

    private static let failedFile = Self(
        "a put that fails stores nothing, and leaves an existing object as it was",
        because: "A spooled file may be missing or unreadable; what is stored must not suffer."
    ) { x in
        try await x.store.put("data/a", bytes: [1, 2, 3], condition: .none)
        for name in ["data/a", "data/b"] {
            try await x.expectError(of: "put of a file that does not exist") {
                try await x.store.put(name, file: x.path("no-such-file"), condition: .none)
            }
        }
        try await x.expect("data/a", has: [1, 2, 3])
        try await x.expectMissing("data/b")
    }

    private static let large = Self(
        "a large object is stored from a file, read in parts and fetched",
        because: "A pack has 32 MiB, a joined segment up to 4 GiB."
    ) { x in
        let size = x.settings.largeObject
        let content = LargeContent(size: size)
        try content.write(to: x.path("large"))
        try await x.store.put("data/large", file: x.path("large"), condition: .none)
        unlink(x.path("large"))
        try x.expect(
            try await x.other.attributes("data/large")?.size ?? -1, is: size, of: "the size in the attributes")
        let step = max(1, size / 7)
        for start in stride(from: Int64(0), to: size, by: Int(step)) {
            let range = start..<min(size, start + 70_000)
            try x.expect(
                try await x.other.get("data/large", range: range), are: content.bytes(range), of: "the range \(range)")
        }
        try await x.other.fetch("data/large", into: x.path("fetched"))
        if let place = try content.difference(x.path("fetched")) {
            throw Deviation(observed: "the fetched file differs in the MiB at \(place)", expected: "what was put")
        }
        unlink(x.path("fetched"))
        try await x.expect(.damaged, of: "get(_:upTo:) of a larger object") {
            _ = try await x.store.get("data/large", upTo: Int(size) - 1)
        }
        if size > 64 << 20 {
            try await x.expect(.damaged, of: "get(_:) of more than 64 MiB") { _ = try await x.store.get("data/large") }
        }
    }

    private static let removal = Self(
        "removing an object removes that one, and one that does not exist is ignored",
        because: "Pruning that was interrupted removes again what is gone."
    ) { x in
        for name in ["data/a", "data/a-1", "data/a.b", "data/aa", "tree/a/b"] {
            try await x.store.put(name, bytes: [1], condition: .none)
        }
        for name in ["data/a", "data/a", "no/such/object", "tree/a"] { try await x.store.remove(name) }
        try await x.expectMissing("data/a")
        try await x.expect(
            x.store.list("").map(\.name).filter { $0.hasPrefix("data/") || $0.hasPrefix("tree/") },
            are: ["data/a-1", "data/a.b", "data/aa", "tree/a/b"], of: "the listing")
        try await x.store.put("data/a", bytes: [2, 3], condition: .none)
        try await x.expect("data/a", has: [2, 3], in: x.other)
    }
}

/// The content of a large object, of which any part can be made again.
private struct LargeContent {
    let size: Int64
    private static let pieceBytes = 1 << 20
    private let noise = Examination.noise(pieceBytes, 3)

    private func piece(_ number: Int64) -> [UInt8] {
        let whole = withUnsafeBytes(of: number.littleEndian) { Array($0) } + noise.dropFirst(8)
        return Array(whole.prefix(Int(min(Int64(Self.pieceBytes), size - number * Int64(Self.pieceBytes)))))
    }

    private var pieces: Range<Int64> { 0..<(size + Int64(Self.pieceBytes) - 1) / Int64(Self.pieceBytes) }

    func bytes(_ range: Range<Int64>) -> [UInt8] {
        let first = range.lowerBound / Int64(Self.pieceBytes)
        let last = (range.upperBound - 1) / Int64(Self.pieceBytes)
        let all = (first...last).flatMap { piece($0) }
        return Array(all.dropFirst(Int(range.lowerBound - first * Int64(Self.pieceBytes))).prefix(range.count))
    }

    func write(to path: String) throws {
        let file = try LocalFile(creating: path)
        for number in pieces { try file.write(piece(number), at: number * Int64(Self.pieceBytes)) }
    }

    /// The number of the first piece that is different in a file; nil if none is.
    func difference(_ path: String) throws -> Int64? {
        let file = try LocalFile(reading: path)
        guard try file.size() == size else { return min(try file.size(), size) / Int64(Self.pieceBytes) }
        return try pieces.first { number in
            let expected = piece(number)
            return try file.read(at: number * Int64(Self.pieceBytes), count: expected.count) != expected
        }
    }
}
