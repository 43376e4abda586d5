internal import LiteVaultCapture
internal import LiteVaultRepository
internal import LiteVaultSystem

// What a follower does in the repository beside storing segments, and what it does when that is not the one it began with.
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

    /// The task that takes the snapshot of each run.
    func takeSnapshots(_ session: Session) async {
        var pause = Backoff(options.backoff)
        for await _ in session.newRuns {
            while !isOver, let run = session.spool.run, with({ $0.based != run && $0.ended != run }) {
                do {
                    let snapshot = try await snapshot(of: run)
                    with {
                        $0.newest = max($0.newest, snapshot.sequence)
                        $0.label = max($0.label, snapshot.time)
                        if session.spool.run == run, $0.ended != run { ($0.based, $0.gap) = (run, nil) }
                    }
                    pause.reset()
                    report(.based(snapshot))
                } catch let error as VaultError where error.code == .promoted {
                    endPromoted(error)
                } catch let error where isExchanged(error) {
                    leave(error)
                } catch {
                    if isOver { break }
                    await failed(.snapshot, error, &pause)
                }
            }
        }
    }

    /// Takes the snapshot that a run begins with. It is cancelled when following is to end without it.
    private func snapshot(of run: SegmentSpool.Run) async throws -> Snapshot {
        let gap = with { $0.gap }
        let taking = BlockingWork.task { [takeSnapshot] in try await takeSnapshot(run, gap) }
        let isUnwanted = with {
            $0.snapshot = taking
            return $0.endsSnapshot
        }
        if isUnwanted { taking.cancel() }
        defer { with { $0.snapshot = nil } }
        return try await taking.value
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
