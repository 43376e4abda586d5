internal import Foundation
internal import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultRepository

extension DatabaseFollower {
    /// The looking task: what is committed goes into the spool.
    func look(_ session: Session) async {
        let follower = Follower(path, limits: options.limits)
        var pause = Backoff(options.backoff)
        var told: String?
        while !isOver {
            let looked = follower.looked
            do {
                let outcome = try await poll(follower, session)
                pause.reset()
                switch outcome {
                case .waiting(let reason):
                    if told != reason { tell(.waiting(reason)) }
                    told = reason
                case .attached:
                    told = nil
                    tell(.attached)
                    session.newRun.yield()
                case .read(let frames):
                    if let looked = follower.looked { tell(.looked(looked)) }
                    if frames > 0 { session.changed.yield() }
                case .gap(let reason): gap(session, since: looked, reason)
                }
                await sleep(follower.pause)
            } catch let full as SegmentSpool.Full {
                gap(session, since: looked, "more than \(full.limit) bytes wait to be stored")
                // Not again before there is room, as it would only be the same again.
                while !isOver, session.spool.byteCount > full.limit / 2 { await sleep(options.limits.interval) }
                await sleep(options.limits.interval)
            } catch let error as BackupError where error.code == .noInput {
                if looked != nil { gap(session, since: looked, "the database was removed") }
                if told != error.message { tell(.waiting(error.message)) }
                told = error.message
                await sleep(options.limits.interval)
            } catch {
                if looked != nil { gap(session, since: looked, (error as? BackupError)?.message ?? "\(error)") }
                told = nil
                await failed(.log, error, &pause)
            }
        }
        // What was committed before it was to end.
        if follower.isAttached, isEnding { _ = try? await poll(follower, session) }
        follower.stop()
        with { $0.isRead = true }
        session.changed.finish()
        session.newRun.finish()
    }

    private func poll(_ follower: Follower, _ session: Session) async throws -> FollowerOutcome {
        let (path, allowsPlaintext) = (path, options.allowsPlaintext)
        let work = Look(follower: follower, spool: session.spool)
        return try await OwnThread.run {
            if !work.follower.isAttached {
                // Before anything of it is read: what everybody could read must not get into the repository.
                try BackupError.about(path) {
                    let kind = try DatabaseFile(path).kind()
                    // Nothing was written to it yet.
                    if kind != .empty { try kind.requireStorable(allowsPlaintext: allowsPlaintext) }
                }
            }
            var spool = work.spool
            return try work.follower.poll(into: &spool)
        }
    }

    /// One thread at a time has them: the task waits for it.
    private struct Look: @unchecked Sendable {
        let follower: Follower
        let spool: SegmentSpool
    }

    private func gap(_ session: Session, since: Date?, _ reason: String) {
        let gap = SnapshotGap(since: since, reason: reason)
        // Of several in a row the first tells since when nothing was seen.
        with {
            $0.gap = $0.gap ?? gap
            $0.ended = session.spool.run
        }
        tell(.gap(gap))
    }
}
