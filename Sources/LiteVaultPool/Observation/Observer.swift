internal import Foundation
internal import LiteVaultCore
internal import LiteVaultSupport

/// An observation under way: it is told of changes as long as it lives.
final class Observer: Sendable {
    let access: any DatabaseAccess
    private let signal: ChangeSignal
    private let polling: ForeignChangePoll?
    /// The rows that there were, of those that the region names.
    private let present = Locked<[TableName: Set<Int64>]>([:])

    /// Begins. When it returns, no change that is committed from then on is missed.
    init(_ access: any DatabaseAccess, region: DatabaseRegion, pollInterval: Duration?) async throws {
        self.access = access
        signal = ChangeSignal(region: region)
        access.core.broker.add(signal)
        polling = pollInterval.map { ForeignChangePoll(access.core, every: $0) }
        do {
            // From the next write on changes are taken down; those under way are waited for.
            try await access.core.async(.writeWithoutTransaction) { _ in }
            try await polling?.begin()
            _ = try await rowsChanged(in: region)
        } catch {
            access.core.broker.remove(signal)
            throw error
        }
    }

    deinit {
        polling?.end()
        signal.end()
        access.core.broker.remove(signal)
    }

    /// Waits for the next change; false when the task was cancelled.
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

    /// Runs a read that finds out which region is to be observed from now on.
    func reading<T: Sendable>(_ body: () async throws -> (T, DatabaseRegion)) async throws -> (T, DatabaseRegion) {
        signal.beginRead()
        let result = try await body()
        signal.endRead(of: result.1)
        return result
    }

    /// Whether rows that the region names have come or gone: the engine does not tell when they make room for others.
    private func rowsChanged(in region: DatabaseRegion) async throws -> Bool {
        let named = (region.tables ?? [:]).compactMap { name, part in part.rows.map { (name, $0) } }
        guard !named.isEmpty else { return true }
        let now = try await access.read { db in
            var now: [TableName: Set<Int64>] = [:]
            for (name, ids) in named {
                let list = ids.map(String.init).joined(separator: ",")
                let table = quoted(name.schema) + "." + quoted(name.table)
                now[name] = Set(
                    try db.all("SELECT rowid FROM \(table) WHERE rowid IN (\(list))") { try $0.get(0, as: Int64.self) })
            }
            return now
        }
        return present.withLock { present in
            defer { present = now }
            return present != now
        }
    }
}

/// Asks from time to time whether another process has written (`PRAGMA data_version`).
private final class ForeignChangePoll: Sendable {
    private let core: AccessCore
    private let interval: Duration
    private let version = Locked<Int64?>(nil)
    private let task = Locked<Task<Void, Never>?>(nil)

    init(_ core: AccessCore, every interval: Duration) {
        self.core = core
        self.interval = interval
    }

    /// The version is that of the writer, which its own commits do not change.
    func begin() async throws {
        _ = try await ask()
        let running = Task.detached { [weak self, interval] in
            while !Task.isCancelled {
                try? await Task.sleep(for: interval)
                guard let self, !Task.isCancelled else { return }
                // What cannot be asked now is asked the next time.
                if (try? await ask()) == true { core.broker.notify(.unknown) }
            }
        }
        task.withLock { $0 = running }
    }

    func end() { task.withLock { $0?.cancel() } }

    private func ask() async throws -> Bool {
        let now = try await core.async(.writeWithoutTransaction) { try $0.integer("data_version") }
        return version.withLock { version in
            defer { version = now }
            return version != nil && version != now
        }
    }
}
