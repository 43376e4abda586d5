internal import Crypto
package import LiteVaultBackup
internal import LiteVaultSystem

/// Which conditional writes a server supports, and how it expects the entity tag.
enum ConditionalWriteSupport: String, Codable, Sendable {
    /// `If-None-Match: *`, and `If-Match` with the tag in quotes, as in HTTP.
    case quoted
    /// The same with the tag unquoted: Ceph's gateway compares the header verbatim.
    case unquoted = "bare"
    /// At least one of the two is missing. All that remains is to read before writing.
    case unsupported = "neither"
}

/// Caches what was detected about a server, in memory and in a file, so that not every command has to probe it.
actor ConditionalWriteProbe {
    private struct Record: CheckedDocument {
        var version = 1
        var kept: ConditionalWriteSupport
        /// Seconds since 1970 by the local clock.
        var found: Double

        func check() throws(OutOfLimits) { try require("version", version, in: 1...1) }
    }

    /// How long a result is valid: a bucket's versioning may be enabled, and servers are updated.
    private static let lifetime = Duration.seconds(7 * 86_400)

    private let path: String?
    private let clock: @Sendable () -> Date
    private var cached: ConditionalWriteSupport?
    private var running: Task<ConditionalWriteSupport, any Error>?

    /// - Parameters:
    ///   - directory: where the cache file is; nil caches in memory only.
    ///   - identity: the store: its address and its prefix.
    init(directory: String?, identity: String, clock: @escaping @Sendable () -> Date) {
        let name = String(SHA256.hash(data: Data(identity.utf8)).hexadecimal.prefix(32))
        path = directory.map { "\($0)/stores/\(name).json" }
        self.clock = clock
    }

    /// The cached result, or that of `probe`. Concurrent callers share one probe.
    func support(
        _ probe: @escaping @Sendable () async throws -> ConditionalWriteSupport
    ) async throws -> ConditionalWriteSupport {
        if let cached { return cached }
        if running == nil, let stored = load() {
            cached = stored
            return stored
        }
        let task = running ?? Task { try await probe() }
        running = task
        defer { running = nil }
        let found = try await task.value
        cached = found
        save(found)
        return found
    }

    /// The cached result, without a request; nil if there is none.
    func known() -> ConditionalWriteSupport? { cached ?? load() }

    /// Drops a cached result that the server has just contradicted. A newer result stays.
    func invalidate(_ result: ConditionalWriteSupport) {
        guard cached == result else { return }
        cached = nil
        if let path { unlink(path) }
    }

    /// The result in the file; nil when it is missing, unreadable or expired.
    private func load() -> ConditionalWriteSupport? {
        guard let path, let record = try? Record.stored(at: path) else { return nil }
        let age = clock().timeIntervalSince1970 - record.found
        return age >= 0 && age < Self.lifetime.seconds ? record.kept : nil
    }

    /// A file that cannot be written costs a few requests, and nothing else.
    private func save(_ kept: ConditionalWriteSupport) {
        guard let path else { return }
        try? LocalDirectory.create(LocalDirectory.parent(of: path))
        try? Record(kept: kept, found: clock().timeIntervalSince1970).store(at: path)
    }
}

extension S3Store {
    /// The object that probes write. Its name is fixed and it is never removed: credentials that only add objects may not
    /// delete. Several clients may probe at the same time.
    private static let probeObject = "leases/conditions"
    private static let probeContent = Array(#"{"type":"conditions"}"#.utf8)

    /// The conditional writes that the server supports: cached, or detected now.
    func conditionalWriteSupport() async throws -> ConditionalWriteSupport {
        try await probe.support { try await self.probeConditionalWrites() }
    }

    /// Writes under conditions that must fail and under conditions that must hold, with both spellings of a tag.
    private func probeConditionalWrites() async throws -> ConditionalWriteSupport {
        let absent = ("if-none-match", "*")
        var tag: ETag
        switch try await attempt(absent) {
        case .unknown: return .unsupported
        case .refused:
            guard let found = try await attributes(Self.probeObject)?.tag else { throw writeDenied() }
            tag = found
        case .done(let stored):
            // The object exists now: a server that stores it again ignores the condition.
            guard case .refused = try await attempt(absent) else { return .unsupported }
            tag = stored
        }
        for spelling in [ConditionalWriteSupport.quoted, .unquoted] {
            guard case .refused = try await attempt(Self.ifMatch(Self.noTag, spelling)) else { continue }
            for _ in 0..<Self.rivals {
                if case .done = try await attempt(Self.ifMatch(tag, spelling)) { return spelling }
                // The bytes never change, but with a KMS key or versions the tag does, by another client that probes.
                guard let found = try await attributes(Self.probeObject)?.tag, found != tag else { break }
                tag = found
            }
        }
        // An unconditional write must succeed: leases and a few other objects are replaced.
        guard case .done = try await attempt(nil) else { throw writeDenied() }
        return .unsupported
    }

    private func writeDenied() -> VaultError {
        replacementDenied("the write was refused", Self.probeObject)
    }

    /// How often the object may be changed by other clients while its tag is compared.
    private static let rivals = 16

    /// A tag that no object has.
    private static let noTag = ETag("0123456789abcdef0123456789abcdef")

    private enum Attempt {
        case done(ETag)
        case refused
        /// The server does not implement the condition.
        case unknown
    }

    private func attempt(_ condition: (String, String)?) async throws -> Attempt {
        var request = request("PUT", Self.probeObject)
        request.headers = [condition].compactMap(\.self) + [("content-type", "application/json")]
        // A bucket may demand encryption of every object.
        request.headers += try await uploadHeaders(Self.probeObject)
        request.body = .bytes(Self.probeContent)
        do {
            let tag = try await client.send(request) { answer in
                _ = try await answer.bytes(upTo: 1 << 20)
                return Self.tag(answer.headers["etag"])
            }
            // Not every server returns the tag.
            return .done(tag.value.isEmpty ? try await attributes(Self.probeObject)?.tag ?? tag : tag)
        } catch let failure as S3Failure {
            if failure.isConflict || failure.isMissing { return .refused }
            if failure.status == 501, condition != nil {
                // The encryption may be what is not implemented: then the write fails without a condition, too.
                if settings.uploads.encryption != nil { _ = try await attempt(nil) }
                return .unknown
            }
            if let refused = optionRefused(failure, Self.probeObject) { throw refused }
            guard failure.isDenied, try await attributes(Self.probeObject) != nil else {
                throw failure.vaultError("\(location)/\(Self.probeObject)")
            }
            // The object exists, so creating it was allowed once: what is denied is replacing it.
            throw replacementDenied(failure.summary, Self.probeObject)
        }
    }

    /// The header that makes a write conditional on the tag of the stored object.
    static func ifMatch(_ tag: ETag, _ spelling: ConditionalWriteSupport) -> (String, String) {
        ("if-match", spelling == .unquoted ? tag.value : "\"\(tag.value)\"")
    }
}

extension S3Store: InspectableStore {
    /// What is known without writing an object.
    package func inspect() async throws -> StoreInspection {
        var found = StoreInspection()
        found.conditionalWrites = await probe.known().map { $0 != .unsupported }
        found.clock = try await now()
        return found
    }
}
