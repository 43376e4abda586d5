import Foundation

/// How often each thing was done.
final class Counts: @unchecked Sendable {  // `values` only under `lock`
    struct Values {
        var reads = 0
        var cancelledReads = 0
        var writes = 0
        var cancelledWrites = 0
        var observed = 0
        var maintained = 0
        var cancelledMaintenance = 0
    }

    private let lock = NSLock()
    private var values = Values()

    func add(_ path: WritableKeyPath<Values, Int>) { lock.withLock { values[keyPath: path] += 1 } }

    var summary: String {
        lock.withLock {
            "\(values.reads) reads, \(values.cancelledReads) cancelled; \(values.writes) writes, "
                + "\(values.cancelledWrites) cancelled; \(values.observed) values observed; "
                + "\(values.maintained) vacuums and backups, \(values.cancelledMaintenance) cancelled"
        }
    }

    var observedCount: Int { lock.withLock { values.observed } }

    var maintenanceCount: Int { lock.withLock { values.maintained + values.cancelledMaintenance } }

    /// Whether everything happened at least once.
    var isComplete: Bool {
        lock.withLock {
            values.reads > 0 && values.cancelledReads > 0 && values.writes > 0 && values.cancelledWrites > 0
                && values.observed > 1 && values.maintained > 0
        }
    }
}
