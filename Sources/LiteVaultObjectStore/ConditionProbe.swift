internal import Crypto
internal import Foundation
internal import LiteVaultBackup

/// Which conditions of writes a server keeps, and how it wants to read them.
enum KeptConditions: String, Codable, Sendable {
    /// `If-None-Match: *`, and `If-Match` with the tag in quotes, as HTTP has it.
    case quoted
    /// The same, with the bare tag: Ceph's gateway compares it as it stands.
    case bare
    /// Not both of them; nothing but a look before a write is left.
    case neither
}

/// What was found out about a server: in memory, and in a file, so that not every command has to try it out.
actor ConditionProbe {
    private struct Record: Codable {
        var version = 1
        var kept: KeptConditions
        /// Seconds since 1970 by this machine's clock.
        var found: Double
    }

    /// Seconds after which it is tried out again: a bucket's versioning may be switched on, and servers are updated.
    static let lifetime = 7 * 86_400.0

    private let path: String?
    private let clock: @Sendable () -> Double
    private var known: KeptConditions?
    private var asking: Task<KeptConditions, any Error>?

    /// - Parameters:
    ///   - folder: where the file is kept; nil for memory alone.
    ///   - identity: which store it is about: its address and its prefix.
    ///   - clock: seconds since 1970.
    init(folder: String?, identity: String, clock: @escaping @Sendable () -> Double) {
        let name = String(SHA256.hash(data: Data(identity.utf8)).hex.prefix(32))
        path = folder.map { "\($0)/stores/\(name).json" }
        self.clock = clock
    }

    /// Asks once, however many want to know.
    func answer(_ ask: @escaping @Sendable () async throws -> KeptConditions) async throws -> KeptConditions {
        if let known { return known }
        if asking == nil, let remembered = remembered() {
            known = remembered
            return remembered
        }
        let task = asking ?? Task { try await ask() }
        asking = task
        defer { asking = nil }
        let found = try await task.value
        known = found
        remember(found)
        return found
    }

    /// Forgets the answer: what the server did did not fit it.
    ///
    /// - Parameter answer: the one that did not fit; a newer one stays.
    func forget(_ answer: KeptConditions) {
        guard known == answer else { return }
        known = nil
        if let path { unlink(path) }
    }

    /// What cannot be read is found out again.
    private func remembered() -> KeptConditions? {
        guard let path else { return nil }
        do {
            let bytes = try LocalFile(reading: path).contents(upTo: 4096)
            let record = try JSONDecoder().decode(Record.self, from: Data(bytes))
            let age = clock() - record.found
            return record.version == 1 && age >= 0 && age < Self.lifetime ? record.kept : nil
        } catch {
            return nil
        }
    }

    /// A file that cannot be written costs some requests, and nothing else.
    private func remember(_ kept: KeptConditions) {
        guard let path, let data = try? JSONEncoder().encode(Record(kept: kept, found: clock())) else { return }
        do {
            try LocalDirectory.create(LocalDirectory.parent(of: path))
            try data.write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch { return }
    }
}

extension S3Store {
    /// The object that conditions are tried out with. It has one name for ever and stays: removing it would take a right that
    /// those who only add should not need, and its bytes never change, so that several may try at the same time.
    static let conditionsObject = "leases/conditions"
    private static let conditionsContent = Array(#"{"type":"conditions"}"#.utf8)

    /// What the server keeps, by what was found before or by trying it out.
    func conditions() async throws -> KeptConditions {
        try await probe.answer { try await self.probeConditions() }
    }

    /// Tries conditions that must fail, and ones that must hold, in both spellings of a tag.
    private func probeConditions() async throws -> KeptConditions {
        let absent = ("if-none-match", "*")
        let tag: ETag
        switch try await attempt(absent) {
        case .unknown: return .neither
        case .refused:
            guard let found = try await attributes(Self.conditionsObject)?.tag else { throw refusesAll() }
            tag = found
        case .done(let stored):
            // There is one now: who stores it once more keeps nothing.
            guard case .refused = try await attempt(absent) else { return .neither }
            tag = stored
        }
        for spelling in [KeptConditions.quoted, .bare] {
            guard case .refused = try await attempt(Self.ifMatch(Self.noTag, spelling)) else { continue }
            if case .done = try await attempt(Self.ifMatch(tag, spelling)) { return spelling }
        }
        // Without a condition it must go through: leases, and a few other objects, are replaced.
        guard case .done = try await attempt(nil) else { throw refusesAll() }
        return .neither
    }

    private func refusesAll() -> BackupError {
        replacementRefusal("it refuses to", Self.conditionsObject)
    }

    /// No object has it.
    private static let noTag = ETag("0123456789abcdef0123456789abcdef")

    private enum Attempt {
        case done(ETag)
        case refused
        /// The server does not know that condition.
        case unknown
    }

    private func attempt(_ condition: (String, String)?) async throws -> Attempt {
        var request = request("PUT", Self.conditionsObject)
        request.headers = [condition].compactMap(\.self) + [("content-type", "application/json")]
        request.body = .bytes(Self.conditionsContent)
        do {
            let told = try await client.send(request) { answer in
                _ = try await answer.bytes(upTo: 1 << 20)
                return Self.tag(answer.headers["etag"])
            }
            // Not every server tells it with the answer.
            return .done(told.value.isEmpty ? try await attributes(Self.conditionsObject)?.tag ?? told : told)
        } catch let failure as S3Failure {
            if failure.isConflict || failure.isMissing { return .refused }
            if failure.status == 501 { return .unknown }
            guard failure.isDenied, try await attributes(Self.conditionsObject) != nil else {
                throw failure.backupError("\(location)/\(Self.conditionsObject)")
            }
            // There is such an object, so that it was stored once: what is refused is replacing it.
            throw replacementRefusal(failure.said, Self.conditionsObject)
        }
    }

    /// The header that asks for a version of an object.
    static func ifMatch(_ tag: ETag, _ spelling: KeptConditions) -> (String, String) {
        ("if-match", spelling == .bare ? tag.value : "\"\(tag.value)\"")
    }
}
