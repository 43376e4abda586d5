internal import Foundation
internal import LiteVaultBackup

extension FollowingState.Database {
    /// Takes over what happened.
    ///
    /// - Returns: whether it is worth being written down at once.
    mutating func note(_ event: FollowingEvent, at time: Double) -> Bool {
        switch event {
        case .waiting(let reason):
            enter(.waiting, at: time)
            self.reason = reason
        case .attached:
            enter(.attached, at: time)
            base = nil
        case .based(let snapshot):
            // A run may have ended while its snapshot was taken.
            if phase == .attached { enter(.following, at: time) }
            base = snapshot.id
            trouble = nil
            if let gap = snapshot.gap, lastGap == nil {
                (lastGap, lastGapReason) = (gap.since?.timeIntervalSince1970 ?? time, gap.reason)
            }
        case .looked(let date):
            let late = date.timeIntervalSince1970 - (looked ?? 0)
            looked = date.timeIntervalSince1970
            return late > 60
        case .stored(_, let size, let seen):
            segments += 1
            bytes += size
            stored = seen.timeIntervalSince1970
            if phase == .following || phase == .attached { trouble = nil }
        case .gap(let gap):
            enter(.waiting, at: time)
            reason = gap.reason
            gaps += 1
            (lastGap, lastGapReason) = (gap.since?.timeIntervalSince1970 ?? time, gap.reason)
        case .failed(let step, let error, _):
            let told = error as? BackupError
            let message = told?.message ?? String(describing: error)
            if step == .log || phase == .starting || phase == .failed {
                enter(.failed, at: time)
                reason = message
            } else {
                trouble = "\(step.rawValue): \(message)"
            }
            code = told?.code.rawValue ?? "internal"
            remedy = told?.remedy
        case .ended(let left):
            enter(.ended, at: time)
            lost = left
        }
        return true
    }

    private mutating func enter(_ new: FollowingState.Phase, at time: Double) {
        if new != phase { since = time }
        phase = new
        (reason, code, remedy) = (nil, nil, nil)
        if new == .ended { trouble = nil }
    }
}
