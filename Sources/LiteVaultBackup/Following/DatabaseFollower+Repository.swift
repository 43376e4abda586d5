internal import LiteVaultCapture
internal import LiteVaultRepository
internal import LiteVaultSystem

// What a follower does in the repository besides storing segments and snapshots, and what it does when the repository accepts nothing, or has
// been replaced by another.
extension DatabaseFollower {
    /// Whether another repository, or none, was found in the place of this one.
    func isExchanged(_ error: any Error) -> Bool { (error as? VaultError)?.cause is ExchangedRepositoryError }

    /// Ends the session, as what it has spooled can no longer be stored. The next one begins where the stored segments end, if the log
    /// still does.
    ///
    /// - Parameter reason: why commits may be missing.
    func leave(_ error: any Error, _ reason: String = "another repository or none was in its place") {
        with { shared in
            shared.isBroken = true
            shared.breaking = shared.breaking ?? error
            shared.interruption = shared.interruption ?? reason
        }
        wake()
    }

    /// The longest pause between two looks whether the former repository is back, in seconds.
    private static let returnInterval = 60.0

    /// Waits until the repository is back, or until following is to end. Nothing is written meanwhile.
    func waitForReturn(_ error: any Error) async {
        var found = error
        let longest = max(options.backoff.lowerBound, min(options.backoff.upperBound, Self.returnInterval))
        var pause = Backoff(options.backoff.lowerBound...longest)
        var told: String?
        while !isEnding {
            let seconds = pause.next()
            let message = (found as? VaultError)?.message
            if told != message { report(.failed(.store, found, again: seconds)) }
            told = message
            await sleep(seconds) { self.isEnding }
            if isEnding { return }
            do {
                try await repository.requireIdentity()
                return report(.returned)
            } catch {
                // Another one than before, or none by now. A store that does not respond says nothing.
                if isExchanged(error) { found = error }
            }
        }
    }

    /// Ends following for good: nothing that this file gets is stored under its name any more.
    func endPromoted(_ error: VaultError) {
        let isFirst = with { shared in
            defer { shared.isPromoted = true }
            shared.deadline = shared.deadline ?? repository.clock.now()
            return !shared.isPromoted
        }
        cancelSnapshot()
        wake()
        if isFirst { report(.promoted(error)) }
    }

    /// Segments that may wait to be stored before the log is polled less often.
    private static let manySegments = 64

    /// Leaves commits in the log, which the follower holds, while many segments wait to be stored: each is an open file, and a
    /// store that takes none for hours must not use up the process's descriptors. The next poll makes one segment of them all.
    func spareSpool(_ follower: Follower, _ session: Session) async {
        let waiting = session.spool.count
        guard waiting >= Self.manySegments else { return }
        // Longer the more there are; but their labels are those of polls.
        let end = repository.clock.now() + min(Double(waiting), 300)
        while !isOver, session.spool.count >= waiting, !session.writer.isLost, !follower.isPressing, !pages.isAwaited,
            repository.clock.now() < end
        {
            await sleepUntilPoll(follower.pause)
        }
    }

    /// Seconds between two looks at whose repository it is, where nothing is stored.
    private static let identityInterval = 60.0

    /// The task that notices another repository in the place of this one, or none, although nothing is to be stored.
    func watchRepository(_ session: Session) async {
        while true {
            await sleep(Self.identityInterval)
            if isOver { return }
            do {
                try await session.writer.requireIdentity()
            } catch let error where isExchanged(error) {
                return leave(error)
            } catch {
                // A store that does not respond is reported when something is stored.
            }
        }
    }

    /// The task that joins stored segments.
    func compactAll(_ session: Session, _ policy: CompactionPolicy) async {
        var pause = Backoff(options.backoff)
        while true {
            await sleep(options.compactionInterval)
            if isOver { return }
            do {
                let result = try await session.writer.compact(policy)
                pause.reset()
                if result.joined + result.removed + result.warnings.count > 0 { report(.compacted(result)) }
            } catch let error where isExchanged(error) {
                return leave(error)
            } catch {
                await failed(.compact, error, &pause)
            }
        }
    }
}
