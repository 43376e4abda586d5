package import Foundation

/// Follows the write-ahead log of a live database, without its key, and hands over every transaction that is committed.
///
/// It holds the SHARED lock, as all who use a log do, so that nobody removes the log, and one lock of the index that keeps
/// the log from starting over before it was read: that of a read mark set to "unused", which holds up no checkpoint. Once
/// everything is read and in the database, it changes to the lock of mark 0, under which the log may start over but not be
/// copied into the database: so what is written next can not be missed either. Its work depends on what is written, not on
/// the size of the database.
///
/// What others notice: the database can not leave WAL mode and is "in use" for whoever wants to replace it; `-wal` and
/// `-shm` stay when the last connection closes; RESTART and TRUNCATE checkpoints wait for the follower's next look, or come
/// back busy where they have no patience; and while commits follow on each other without a pause the log may grow, up to
/// ``FollowerLimits/logBytes``.
package final class Follower {
    package let path: String
    package let limits: FollowerLimits
    private var hold: FollowerHold?
    private var run: [UInt8] = []
    private var sequence: UInt64 = 0
    private var lastLook: UInt64 = 0
    private var lastTick: Double = 0
    private var lastGap: String?
    private var wasBusy = false

    /// Whether a log is held.
    package var isAttached: Bool { hold != nil }

    /// When the log was last looked at; nil while none is held.
    package var looked: Date? {
        hold == nil ? nil : Date(timeIntervalSince1970: Double(lastLook) / 1000)
    }

    /// Seconds until it should be looked at again: fewer while the log is long, so that it can start over soon.
    package var pause: Double {
        guard (hold?.logBytes ?? 0) > limits.logBytes / 4 else { return limits.interval }
        return min(limits.interval, wasBusy ? 0.005 : 0.1)
    }

    /// Opens nothing yet; that is for ``poll(into:)``.
    package init(_ path: String, limits: FollowerLimits = .init()) {
        self.path = path
        self.limits = limits
    }

    /// Looks at the log once and hands over what was committed since.
    ///
    /// - Throws: what the sink throws, and ``BackupError`` for what will not pass by itself (`noInput`, `unsupported`, `io`).
    ///   Nothing is held then, and the next call begins a new run.
    package func poll(into sink: inout some WALSegmentSink) throws -> FollowerOutcome {
        do {
            guard let hold else { return try attach(&sink) }
            let now = try look()
            let frames = try read(hold, now, &sink)
            lastLook = now
            wasBusy = frames > 0
            return .read(frames: frames)
        } catch let gap as FollowerHold.Lost {
            end(gap.reason)
            return .gap(gap.reason)
        } catch {
            end("\(error)")
            throw error
        }
    }

    /// Polls until `goesOn` says no, and tells every outcome. Polls more often while the log is long.
    package func run(
        into sink: inout some WALSegmentSink, while goesOn: () -> Bool, report: (FollowerOutcome) throws -> Void
    ) throws {
        while goesOn() {
            try report(poll(into: &sink))
            let end = Date().addingTimeInterval(pause)
            repeat {
                usleep(min(50_000, useconds_t(max(0, end.timeIntervalSinceNow) * 1e6)))
            } while goesOn() && Date() < end
        }
    }

    /// Lets go of the log; the run ends here.
    package func stop() { end("the follower was stopped") }

    private func end(_ reason: String) {
        hold = nil
        lastGap = reason
    }

    private func attach(_ sink: inout some WALSegmentSink) throws -> FollowerOutcome {
        let attached: FollowerHold
        do {
            attached = try FollowerHold(path, limits: limits)
        } catch let lost as FollowerHold.Lost {
            return .waiting(lost.reason)
        }
        run = (0..<16).map { _ in UInt8.random(in: 0...255) }
        sequence = 0
        lastLook = Self.milliseconds()
        lastTick = Self.tick()
        wasBusy = false
        try sink.begin(run: run, at: attached.position, gap: lastGap)
        hold = attached
        return .attached(run: run)
    }

    private func read(_ hold: FollowerHold, _ now: UInt64, _ sink: inout some WALSegmentSink) throws -> UInt32 {
        guard let pending = try hold.look() else { return 0 }
        let segment = WALSegment(
            run: run, sequence: sequence, after: lastLook, seen: now, reader: pending.reader, through: pending.last)
        try sink.begin(segment)
        do {
            try hold.read(pending) { try sink.append($0) }
        } catch {
            sink.abandon()
            throw error
        }
        try sink.finish(segment)
        sequence += 1
        try hold.settle()
        return segment.frameCount
    }

    /// When this look is. Segments are found by the wall's clock, so one that was put back ends the run: what was committed
    /// after it would seem to belong before a snapshot that does not have it.
    private func look() throws -> UInt64 {
        let (now, tick) = (Self.milliseconds(), Self.tick())
        defer { lastTick = tick }
        let late = Double(lastLook) / 1000 + (tick - lastTick) - Double(now) / 1000
        guard now >= lastLook, late < 0.5 else { throw FollowerHold.Lost(reason: "the clock was put back") }
        return now
    }

    /// Seconds of a clock that nobody sets.
    private static func tick() -> Double { ProcessInfo.processInfo.systemUptime }

    private static func milliseconds() -> UInt64 { UInt64(max(0, Date().timeIntervalSince1970 * 1000)) }
}
