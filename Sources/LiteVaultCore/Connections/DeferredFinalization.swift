internal import CEngineSupport
internal import Foundation

/// Statements whose owner went away while another thread held the connection, or inside one of its callbacks: `deinit`
/// must neither wait nor touch the handle then. They are finalized when the connection is unlocked or closed.
final class DeferredFinalization: @unchecked Sendable {  // `pending` only under `lock`; the flag is atomic
    private let lock = NSLock()
    private var pending: [PreparedStatement] = []
    private let flag: UnsafeMutablePointer<Bool>

    init() {
        flag = .allocate(capacity: 1)
        flag.initialize(to: false)
    }

    deinit { flag.deallocate() }

    /// Whether something waits. Cheap: asked at every unlock.
    var isPending: Bool { lv_flag_is_raised(flag) }

    func add(_ statement: PreparedStatement) {
        lock.lock()
        defer { lock.unlock() }
        pending.append(statement)
        lv_flag_set(flag, true)
    }

    func takeAll() -> [PreparedStatement] {
        lock.lock()
        defer { lock.unlock() }
        defer { pending = [] }
        lv_flag_set(flag, false)
        return pending
    }
}
