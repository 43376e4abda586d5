internal import LiteVaultBackup
internal import LiteVaultSystem

/// A store that is different from what a rule says.
struct Deviation: Error {
    let observed: String
    let expected: String
}

/// A rule does not concern a store.
struct NotApplicable: Error {
    let reason: String
}

/// What a rule has to work with: two clients of an empty place, and a local directory.
struct Examination: Sendable {
    let store: any ObjectStore
    /// A second client of the same place, or the same one if there is one only.
    let other: any ObjectStore
    let directory: String
    let settings: ObjectStoreConformance
    let open: ObjectStoreConformance.Opening

    func path(_ name: String) -> String { directory + "/" + name }

    /// Ends the rule if the store does not honor conditions.
    func requireConditions() async throws {
        guard try await store.supportsConditionalWrites() else {
            throw NotApplicable(reason: "the store says that it does not honor conditions")
        }
    }
}

// What is expected of results.
extension Examination {
    func expect(_ holds: Bool, _ observed: @autoclosure () -> String, _ expected: @autoclosure () -> String) throws {
        guard holds else { throw Deviation(observed: observed(), expected: expected()) }
    }

    func expect<T: Equatable>(_ observed: T, is expected: T, of what: String) throws {
        try expect(observed == expected, "\(what) is \(observed)", "\(expected)")
    }

    /// Expects these bytes. A message says where others begin, instead of showing them.
    func expect(_ bytes: [UInt8], are expected: [UInt8], of what: String) throws {
        guard bytes != expected else { return }
        let place = zip(bytes, expected).enumerated().first { $1.0 != $1.1 }?.offset ?? min(bytes.count, expected.count)
        throw Deviation(
            observed: "\(what) has \(bytes.count) bytes and differs from byte \(place) on",
            expected: "the \(expected.count) bytes that were put")
    }

    /// Expects names in this order. A message shows the first difference.
    func expect(_ names: [String], are expected: [String], of what: String) throws {
        guard names != expected else { return }
        let place = zip(names, expected).enumerated().first { $1.0 != $1.1 }?.offset ?? min(names.count, expected.count)
        func text(_ names: [String]) -> String { place < names.count ? names[place] : "nothing" }
        throw Deviation(
            observed: "\(what) has \(names.count) names, and \(text(names)) at position \(place)",
            expected: "\(expected.count) names, and \(text(expected)) there")
    }

    func expect(
        _ code: VaultError.Code, of what: String, _ body: () async throws -> Void
    ) async throws {
        let expected = "a VaultError with code \(code)"
        do {
            try await body()
        } catch let error as VaultError where error.code == code {
            return
        } catch { throw Deviation(observed: "\(what) threw \(Self.describe(error))", expected: expected) }
        throw Deviation(observed: "\(what) succeeded", expected: expected)
    }

    func expectError(of what: String, _ body: () async throws -> Void) async throws {
        do { try await body() } catch is VaultError { return } catch {
            throw Deviation(observed: "\(what) threw \(Self.describe(error))", expected: "a VaultError")
        }
        throw Deviation(observed: "\(what) succeeded", expected: "a VaultError")
    }

    /// Expects an object of this content, however it is looked at.
    func expect(_ name: String, has content: [UInt8], in client: (any ObjectStore)? = nil) async throws {
        let client = client ?? store
        try expect(try await client.get(name), are: content, of: "get(\"\(name)\")")
        guard let attributes = try await client.attributes(name) else {
            throw Deviation(observed: "attributes(\"\(name)\") are nil", expected: "those of the object that was put")
        }
        try expect(attributes.name, is: name, of: "the name in attributes(\"\(name)\")")
        try expect(attributes.size, is: Int64(content.count), of: "the size in attributes(\"\(name)\")")
    }

    /// Expects that there is no such object, however it is looked at.
    func expectMissing(_ name: String, in client: (any ObjectStore)? = nil) async throws {
        let client = client ?? store
        try expect(try await client.attributes(name) == nil, "there are attributes of \"\(name)\"", "nil")
        try await expect(.missing, of: "get(\"\(name)\")") { _ = try await client.get(name) }
        try expect(
            try await !client.list(name).contains { $0.name == name }, "a listing has \"\(name)\"", "no such object")
    }

    static func describe(_ error: any Error) -> String {
        guard let error = error as? VaultError else { return "\(type(of: error)): \(error)" }
        return "VaultError \(error.code): \(error)"
    }
}

// What the rules have in common.
extension Examination {
    /// Bytes that cannot be compressed, the same for the same seed.
    static func noise(_ count: Int, _ seed: Int = 1) -> [UInt8] {
        var state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            for index in 0..<count {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                buffer[index] = UInt8(truncatingIfNeeded: state >> 56)
            }
            initialized = count
        }
    }

    /// Writes a file of mode 0600 for a store to take.
    func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        let path = path(name)
        try LocalFile(creating: path).write(bytes, at: 0)
        return path
    }

    /// The bytes of a file, which is removed.
    func consume(_ path: String) throws -> [UInt8] {
        let bytes = try LocalFile(reading: path).contents(upTo: .max)
        unlink(path)
        return bytes
    }

    /// Waits until something holds.
    ///
    /// - Returns: false if it does not within the patience of the settings.
    func wait(_ holds: () async throws -> Bool) async throws -> Bool {
        let deadline = Deadline(in: settings.patience)
        while try await !holds() {
            guard !deadline.isOver else { return false }
            try await Task.sleep(nanoseconds: 50_000_000)
        }
        return true
    }
}
