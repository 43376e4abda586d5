internal import LiteVaultCore
internal import LiteVaultSystem

/// A running observation: it is notified of changes for as long as it exists.
final class Observer: Sendable {
    let access: DatabaseAccess
    private let signal: ChangeSignal
    private let polling: ForeignChangePoll?
    /// The rows of the region that existed at the last check.
    private let present = Locked<[TableName: Set<Int64>]>([:])

    /// Begins to observe. No change that is committed after this returns is missed.
    init(_ access: DatabaseAccess, region: DatabaseRegion, pollInterval: Duration?) async throws {
        self.access = access
        signal = ChangeSignal(region: region)
        access.coordinator.broker.add(signal)
        polling = pollInterval.map { ForeignChangePoll(access.coordinator, every: $0) }
        do {
            try await access.coordinator.outlastingSuspensions {
                // Changes are recorded from the next write on; this waits for running writes.
                try await access.coordinator.async(.writeWithoutTransaction) { _ in }
                try await polling?.begin()
            }
            _ = try await rowsChanged(in: region)
        } catch {
            access.coordinator.broker.remove(signal)
            throw error
        }
    }

    deinit {
        polling?.end()
        signal.end()
        access.coordinator.broker.remove(signal)
    }

    /// Waits for the next change.
    ///
    /// - Returns: false when the task was cancelled.
    func next(in region: DatabaseRegion) async throws -> Bool {
        while let effect = await signal.next() {
            if effect == .certain {
                _ = try await rowsChanged(in: region)
                return true
            }
            if try await rowsChanged(in: region) { return true }
        }
        return false
    }

    /// Runs a read that determines the region to observe from now on.
    func reading<T: Sendable>(_ body: () async throws -> (T, DatabaseRegion)) async throws -> (T, DatabaseRegion) {
        signal.beginRead()
        let result = try await access.coordinator.outlastingSuspensions(body)
        signal.endRead(of: result.1)
        return result
    }

    /// Whether rows of the region were inserted or deleted: the engine does not report deleted conflicting rows.
    private func rowsChanged(in region: DatabaseRegion) async throws -> Bool {
        let named = (region.tables ?? [:]).compactMap { name, part in part.rows.map { (name, $0) } }
        guard !named.isEmpty else { return true }
        let now = try await access.coordinator.outlastingSuspensions {
            try await access.read { db in
                var now: [TableName: Set<Int64>] = [:]
                for (name, ids) in named {
                    // As literals: an engine takes a limited number of parameters.
                    let list = ids.map(String.init).joined(separator: ",")
                    let table: SQL = "\(table: name.table, in: name.schema)"
                    now[name] = Set(
                        try db.all("SELECT rowid FROM \(table) WHERE rowid IN (\(sql: list))", as: Int64.self))
                }
                return now
            }
        }
        return present.withLock { present in
            defer { present = now }
            return present != now
        }
    }
}

/// Checks periodically whether another process has written (`PRAGMA data_version`).
private final class ForeignChangePoll: Sendable {
    /// What a connection says of changes by others.
    private struct Version: Equatable {
        let writer: Int
        let data: Int64
    }

    private let coordinator: ConnectionCoordinator
    private let interval: Duration
    private let version = Locked<Version?>(nil)
    private let task = Locked<Task<Void, Never>?>(nil)

    init(_ coordinator: ConnectionCoordinator, every interval: Duration) {
        self.coordinator = coordinator
        self.interval = interval
    }

    /// Begins to poll. The version is that of the writer, which its own commits do not change.
    func begin() async throws {
        _ = try await ask()
        let running = Task.detached { [weak self, interval] in
            while !Task.isCancelled {
                try? await Task.sleep(for: interval)
                guard let self, !Task.isCancelled else { return }
                // An error is ignored: the next check makes up for it.
                if (try? await ask()) == true { coordinator.broker.notify(.unknown) }
            }
        }
        task.withLock { $0 = running }
    }

    func end() { task.withLock { $0?.cancel() } }

    private func ask() async throws -> Bool {
        let now = try await coordinator.async(.writeWithoutTransaction) { [coordinator] in
            Version(writer: coordinator.connections.openedWriters, data: try $0.integer("data_version"))
        }
        return version.withLock { version in
            defer { version = now }
            return version != nil && version != now
        }
    }
}
