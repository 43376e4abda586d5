internal import Foundation

extension Repository {
    /// The snapshots of one database, or of all, oldest first within each.
    ///
    /// - Parameter database: a database's name; nil for all.
    /// - Throws: ``BackupError`` `damaged` for a manifest that is not authentic or not whole, and for a repository that was
    ///   rolled back since this machine saw it.
    public func snapshots(database: String? = nil) async throws -> [Snapshot] {
        let all = try await concurrently(databaseIDs(database)) { id in
            let head = try head(id)
            var snapshots = try await manifests(id)
            try compare(head, id, snapshots)
            if let last = snapshots.last { try? remember(Head(sequence: last.sequence, hash: last.hash.hex), id) }
            let verifications = try await verifications(id)
            for index in snapshots.indices {
                snapshots[index].verification = verifications.results[snapshots[index].hash.hex]
            }
            return snapshots
        }
        return all.flatMap(\.self).sorted { ($0.database, $0.sequence) < ($1.database, $1.sequence) }
    }

    /// The identifiers of the databases, those included of which only this machine remembers a snapshot.
    func databaseIDs(_ name: String?) async throws -> [String] {
        if let name { return [databaseID(name)] }
        var ids = Set(
            try await store.list("snapshots/").compactMap { object in
                object.name.split(separator: "/").dropFirst().first.map(String.init)
            })
        if let state = local.state {
            for name in try Folder.names("\(state)/\(config.id)") where name.hasSuffix(".json") {
                ids.insert(String(name.dropLast(5)))
            }
        }
        return ids.sorted()
    }

    /// The snapshots of a database by their manifests alone, in order.
    ///
    /// - Parameter passingOverRemoved: whether one that was removed after it was listed is none; else it is an error, which it
    ///   has to be for whoever removes what no snapshot needs.
    func manifests(_ database: String, passingOverRemoved: Bool = true) async throws -> [Snapshot] {
        let found = try await concurrently(store.list(RepositoryFormat.snapshots(database))) { object -> Snapshot? in
            do {
                return try await snapshot(object.name, database: database)
            } catch let error as BackupError where error.code == .missing && passingOverRemoved {
                return nil
            }
        }
        let snapshots = found.compactMap(\.self)
        for (one, next) in zip(snapshots, snapshots.dropFirst()) where next.sequence == one.sequence + 1 {
            guard next.manifest.predecessor == one.hash.hex else {
                throw BackupError(
                    .damaged, "does not follow on the snapshot before it: one of the two was replaced",
                    path: next.object)
            }
        }
        return snapshots
    }

    /// The newest snapshot of a database, compared with what this machine remembers; reads no more than two manifests.
    func newest(_ database: String) async throws -> Snapshot? {
        let head = try head(database)
        let names = try await store.list(RepositoryFormat.snapshots(database)).map(\.name)
        var found: [Snapshot] = []
        if let last = names.last {
            let newest = try await snapshot(last, database: database)
            if let head, head.sequence < newest.sequence {
                let name = RepositoryFormat.snapshot(database, head.sequence)
                if names.contains(name) { found.append(try await snapshot(name, database: database)) }
            }
            found.append(newest)
        }
        try compare(head, database, found)
        return found.last
    }

    /// Reads one manifest, and compares what it says with the name that it has.
    func snapshot(_ name: String, database: String) async throws -> Snapshot {
        let (manifest, document) = try await document(name, Manifest.self)
        guard manifest.type == "snapshot", manifest.repository == config.id, manifest.database == database,
            RepositoryFormat.snapshot(database, manifest.sequence) == name, databaseID(manifest.name) == database
        else { throw BackupError(.damaged, "belongs to another place: objects were swapped", path: name) }
        _ = try manifest.rootEntry(name)
        return try Snapshot(manifest: manifest, hash: document.hash, name: name)
    }

    /// One snapshot of a database.
    ///
    /// - Throws: ``BackupError`` `noInput` when there is none, or when several are meant.
    public func snapshot(_ selection: SnapshotSelection, database: String? = nil) async throws -> Snapshot {
        let all = try await snapshots(database: database)
        let found = all.filter { if case .id(let id) = selection { $0.id.hasPrefix(id.lowercased()) } else { true } }
        guard !found.isEmpty else {
            let what: String
            if let database, all.isEmpty {
                what = "there is no snapshot of a database '\(database)'"
            } else if case .id(let id) = selection {
                what = "there is no snapshot whose id starts with '\(id)'"
            } else {
                what = "there is no snapshot"
            }
            throw BackupError(
                .noInput, what, path: store.location, remedy: "'litevault snapshots' lists those that are there.")
        }
        if case .id(let id) = selection {
            guard found.count == 1 || found.contains(where: { $0.id == id }) else {
                throw BackupError(
                    .noInput, "several snapshots have an id that starts with '\(id)'", path: store.location)
            }
            return found.first { $0.id == id } ?? found[0]
        }
        let names = Set(found.map(\.database))
        guard names.count == 1 else {
            throw BackupError(
                .noInput, "there are \(names.count) databases: \(names.sorted().prefix(5).joined(separator: ", "))",
                path: store.location, remedy: "Name one with --database.")
        }
        if case .at(let time) = selection {
            guard let before = found.last(where: { $0.time <= time }) else {
                throw BackupError(
                    .noInput, "the oldest snapshot is of \(Timestamp.text(found[0].time))", path: store.location)
            }
            return before
        }
        return found[found.count - 1]
    }
}
