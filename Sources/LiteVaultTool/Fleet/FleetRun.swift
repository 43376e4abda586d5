internal import Dispatch
internal import LiteVault
internal import LiteVaultSystem

/// Works on many files, several at a time; comes back to those that are in use once the others are done.
struct FleetRun: Sendable {
    /// What became of a member.
    enum State: String, Sendable {
        /// Changed by this run.
        case done
        /// It was done before.
        case already
        /// Nothing stands in the way; of a dry run.
        case ready
        /// In use by another process to the end.
        case busy
        case failed
    }

    struct Outcome: Sendable {
        let member: FleetMember
        let state: State
        let failure: Failure?
        let seconds: Double
    }

    let members: [FleetMember]
    /// How many are worked on at a time.
    let width: Int
    /// How long to come back to those in use.
    let wait: Duration
    /// What the work is, as a present participle.
    let phase: String
    let reporter: Reporter

    /// How long the work may wait for a lock: hardly while there are others to do.
    private static let lockTimeout = (first: Duration.milliseconds(200), later: Duration.seconds(2))

    private struct Progress {
        var outcomes: [Int: Outcome] = [:]
        var waiting: [Int] = []
        /// A failure that would be that of all others, too: the journal cannot be written.
        var end: (any Error)?
    }

    /// Runs the work for all members.
    ///
    /// - Parameter work: changes one member. It gets the time to wait for locks, and throws `busy` if the member is in use.
    /// - Returns: the outcomes in the order of the members, and how often it came back.
    /// - Throws: `Interrupted` after a signal; ``JournalFailure``'s cause. What is done stays.
    func run(
        _ work: @escaping @Sendable (FleetMember, Duration) throws -> State
    ) throws -> (outcomes: [Outcome], returns: Int) {
        let progress = Locked(Progress())
        progress.withLock { $0.waiting = Array(members.indices) }
        let deadline = Deadline(in: wait)
        var pause = Backoff(0.25...5)
        var returns = 0
        while true {
            let round = progress.withLock { progress in
                defer { progress.waiting = [] }
                return progress.waiting
            }
            let timeout = returns == 0 ? Self.lockTimeout.first : Self.lockTimeout.later
            attempt(round, timeout, progress, work)
            try Interruption.shared.check()
            if let error = progress.withLock({ $0.end }) { throw error }
            let isLeft = progress.withLock { !$0.waiting.isEmpty }
            guard isLeft, !deadline.isOver else { break }
            returns += 1
            try sleep(min(pause.next(), max(0.05, deadline.remaining.seconds)))
        }
        let found = progress.withLock { $0.outcomes }
        return (members.indices.compactMap { found[$0] }, returns)
    }

    private func attempt(
        _ round: [Int], _ timeout: Duration, _ progress: Locked<Progress>,
        _ work: @escaping @Sendable (FleetMember, Duration) throws -> State
    ) {
        let next = Locked(0)
        DispatchQueue.concurrentPerform(iterations: min(width, max(1, round.count))) { _ in
            while true {
                let place = next.withLock { next in
                    defer { next += 1 }
                    return next
                }
                guard place < round.count, Interruption.shared.signal == nil,
                    progress.withLock({ $0.end == nil })
                else { return }
                one(round[place], timeout, progress, work)
            }
        }
    }

    private func one(
        _ index: Int, _ timeout: Duration, _ progress: Locked<Progress>,
        _ work: @Sendable (FleetMember, Duration) throws -> State
    ) {
        let start = ContinuousClock.now
        let member = members[index]
        var (state, failure) = (State.failed, Failure?.none)
        do {
            state = try work(member, timeout)
        } catch let error as JournalFailure {
            return progress.withLock { $0.end = $0.end ?? error.cause }
        } catch is Interrupted {
            return
        } catch {
            let found = Failure(error)
            failure = found
            state = found.code == .busy ? .busy : .failed
        }
        let seconds = ((ContinuousClock.now - start).seconds * 1000).rounded() / 1000
        let outcome = Outcome(member: member, state: state, failure: failure, seconds: seconds)
        let done = progress.withLock { progress in
            progress.outcomes[index] = outcome
            if state == .busy { progress.waiting.append(index) }
            return progress.outcomes.values.count { $0.state != .busy }
        }
        reporter.progress(ProgressState(phase: phase, done: Int64(done), total: Int64(members.count)))
    }

    /// Waits, unless a signal arrives.
    private func sleep(_ seconds: Double) throws {
        let deadline = Deadline(seconds: seconds)
        while !deadline.isOver {
            try Interruption.shared.check()
            SystemThread.sleep(seconds: 0.05)
        }
    }
}

extension Session {
    /// Works on all members of a fleet, as ``FleetRun`` does, and removes the journal if nothing is left to do.
    ///
    /// - Parameters:
    ///   - phase: what the work is, as a present participle.
    ///   - work: changes one member, as for ``FleetRun/run(_:)``.
    func runFleet(
        of members: [FleetMember], options: FleetOptions, phase: String, journal: FleetJournal?,
        work: @escaping @Sendable (FleetMember, Duration) throws -> FleetRun.State
    ) throws -> FleetReport {
        let run = FleetRun(
            members: members, width: options.width, wait: options.dryRun ? .zero : options.wait, phase: phase,
            reporter: reporter)
        let found = try run.run(work)
        let result = FleetReport(
            outcomes: found.outcomes, returns: found.returns, journal: journal, isDryRun: options.dryRun,
            seconds: elapsed)
        if result.isComplete { journal?.remove() }
        return result
    }
}

/// The journal could not be written. The whole run ends: without it nothing would know what is done.
struct JournalFailure: Error {
    let cause: any Error
}
