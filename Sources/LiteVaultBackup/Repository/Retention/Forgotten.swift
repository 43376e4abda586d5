/// Which snapshots of a database were removed by retention, so that a check can tell one that somebody else removed.
struct Forgotten: Codable {
    var type = "forgotten"
    var repository: String
    var database: String
    /// First and last sequence of each row, in order.
    var ranges: [[Int]]

    func contains(_ sequence: Int) -> Bool {
        ranges.contains { $0.count == 2 && $0[0] <= sequence && sequence <= $0[1] }
    }

    mutating func insert(_ sequences: [Int]) {
        for sequence in sequences.sorted() where !contains(sequence) { ranges.append([sequence, sequence]) }
        ranges = ranges.filter { $0.count == 2 }.sorted { $0[0] < $1[0] }.reduce(into: []) { rows, next in
            if let last = rows.last, last[1] + 1 >= next[0] {
                rows[rows.count - 1][1] = max(last[1], next[1])
            } else {
                rows.append(next)
            }
        }
    }
}

extension Repository {
    func forgotten(_ database: String) async throws -> Forgotten {
        let name = RepositoryFormat.forgotten(database)
        do {
            let (found, _) = try await document(name, Forgotten.self)
            guard found.type == "forgotten", found.repository == config.id, found.database == database else {
                throw BackupError(.damaged, "belongs to another place: objects were swapped", path: name)
            }
            return found
        } catch let error as BackupError where error.code == .missing {
            return Forgotten(repository: config.id, database: database, ranges: [])
        }
    }

    /// Notes snapshots as removed by us, before they are.
    func note(forgotten snapshots: [Snapshot]) async throws {
        for (database, gone) in Dictionary(grouping: snapshots, by: \.manifest.database) {
            var all = try await forgotten(database)
            all.insert(gone.map(\.sequence))
            try await put(all, as: RepositoryFormat.forgotten(database), condition: .none)
        }
    }
}
