internal import Foundation

/// The leases that this process holds: one of its own that is not among them was left by work that failed.
final class LeaseHolders: @unchecked Sendable {  // its lock guards `holders`
    static let shared = LeaseHolders()

    private let lock = NSLock()
    private var holders: Set<String> = []

    func insert(_ holder: String) { lock.withLock { _ = holders.insert(holder) } }
    func remove(_ holder: String) { lock.withLock { _ = holders.remove(holder) } }
    func contains(_ holder: String) -> Bool { lock.withLock { holders.contains(holder) } }
}
