/// Packs that no snapshot needs. They are listed in one run and removed in a later one; meanwhile no writer uses them.
struct Doomed: CheckedDocument {
    /// One pack.
    struct Pack: Codable {
        /// The object's name.
        var name: String
        /// When it was listed, by the store's clock, in seconds since 1970.
        var since: Double
    }

    var type = "doomed"
    var repository: String
    var packs: [Pack]
    /// Data packs of which snapshots need little: writers store those blocks anew, so that the packs can go in time.
    var sparse: [String]
    /// Packs in which something is damaged that snapshots need: writers store it again. Absent where there are none.
    var damaged: [String]?

    static let byteLimit = RepositoryFormat.listBytes

    func check() throws(OutOfLimits) {
        try require(
            "packs", packs.count + sparse.count + (damaged?.count ?? 0), in: 0...RepositoryFormat.listedPacks)
        for pack in packs { try require("since", seconds: pack.since) }
    }
}

extension Repository {
    func doomed() async throws -> Doomed {
        do {
            let (found, _) = try await document(RepositoryFormat.doomed, Doomed.self)
            guard found.type == "doomed", found.repository == config.id else {
                throw BackupError(
                    .damaged, "belongs to another place: objects were swapped", path: RepositoryFormat.doomed)
            }
            return found
        } catch let error as BackupError where error.code == .missing {
            return Doomed(repository: config.id, packs: [], sparse: [])
        }
    }
}

extension Repository {
    /// As ``doomed()``; nil for one that is damaged.
    func doomedIfReadable() async throws -> Doomed? {
        do {
            return try await doomed()
        } catch let error as BackupError where error.code == .damaged {
            return nil
        }
    }
}

extension Doomed {
    /// What writers must not take over.
    var avoided: AvoidedPacks {
        let names = packs.map(\.name) + sparse + (damaged ?? [])
        return .these(Set(names.compactMap { $0.split(separator: "/").last.flatMap { PackID(hex: $0) } }))
    }
}

extension Repository {
    /// Lists packs as about to be removed, as pruning does.
    package func doom(_ names: [String]) async throws {
        let now = try await store.now()
        let list = Doomed(repository: config.id, packs: names.map { .init(name: $0, since: now) }, sparse: [])
        try await put(list, as: RepositoryFormat.doomed, condition: .none)
    }
}
