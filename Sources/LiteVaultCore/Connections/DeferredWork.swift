internal import CEngineSupport
internal import Foundation

/// What is left to do for objects that went away while another thread held the connection, or inside one of its callbacks:
/// `deinit` must neither wait nor touch the handle then. It is done when the connection is unlocked or closed.
final class DeferredWork: @unchecked Sendable {  // `pending` only under `lock`; the flag is atomic
    /// Something left to do.
    enum Item {
        /// A statement lost its owner.
        case finalization(PreparedStatement)
        /// A loop over a statement was left.
        case endOfIteration(Statement, UInt64)
    }

    private let lock = NSLock()
    private var pending: [Item] = []
    private let flag: UnsafeMutablePointer<Bool>

    init() {
        flag = .allocate(capacity: 1)
        flag.initialize(to: false)
    }

    deinit { flag.deallocate() }

    /// Whether something waits. Cheap: asked at every unlock.
    var isPending: Bool { lv_flag_is_raised(flag) }

    func add(_ item: Item) {
        lock.lock()
        defer { lock.unlock() }
        pending.append(item)
        lv_flag_set(flag, true)
    }

    func takeAll() -> [Item] {
        lock.lock()
        defer { lock.unlock() }
        defer { pending = [] }
        lv_flag_set(flag, false)
        return pending
    }
}
