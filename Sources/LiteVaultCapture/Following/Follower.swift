package import Foundation

/// Follows the write-ahead log of a live database, without its key, and passes every committed transaction to a sink.
///
/// It holds the SHARED lock, as all who use a log do, so that nobody removes the log, and one lock of the index that keeps
/// the log from starting over before it was read: that of a read mark set to "unused", which holds up no checkpoint. Once
/// everything is read and in the database, it changes to the lock of mark 0, under which the log may start over but not be
/// copied into the database, so the next write cannot be missed either. Its work depends on what is written, not on
/// the size of the database.
///
/// What others notice: the database cannot leave WAL mode and is "in use" for whoever wants to replace it; `-wal` and
/// `-shm` stay when the last connection closes; RESTART and TRUNCATE checkpoints wait for the follower's next look, or come
/// busy if they do not wait; and while commits follow each other without a pause the log may grow, up to
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
    /// - Throws: what the sink throws, and `VaultError` for what will not pass by itself (`noInput`, `unsupported`, `io`).
    ///   Nothing is held then, and the next call begins a new run.
    package func poll(into sink: inout some WALSegmentSink) throws -> FollowerOutcome {
        do {
            guard let hold else { return try attach(&sink) }
            let now = try look()
            let frames = try read(hold, now, &sink)
            lastLook = now
            wasBusy = frames > 0
            return .read(frames: frames)
        } catch let gap as LogLostError {
            end(gap.reason)
            return .gap(gap.reason)
        } catch {
            end("\(error)")
            throw error
        }
    }

    /// Polls while `goesOn` returns true, and reports every outcome. Polls more often while the log is long.
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

    /// Releases the log and ends the run.
    package func stop() { end("the follower was stopped") }

    private func end(_ reason: String) {
        hold = nil
        lastGap = reason
    }

    private func attach(_ sink: inout some WALSegmentSink) throws -> FollowerOutcome {
        let attached: FollowerHold
        do {
            attached = try FollowerHold(path, limits: limits)
        } catch let lost as LogLostError {
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
        guard now >= lastLook, late < 0.5 else { throw LogLostError(reason: "the system clock moved backwards") }
        return now
    }

    /// Seconds of a clock that nobody sets.
    private static func tick() -> Double { ProcessInfo.processInfo.systemUptime }

    private static func milliseconds() -> UInt64 { UInt64(max(0, Date().timeIntervalSince1970 * 1000)) }
}

/// What a follower may cost the users of the database.
package struct FollowerLimits: Sendable {
    /// Bytes of frames above which the follower releases the log, so that it can be reset. That causes a gap.
    package var logBytes: Int64
    /// Seconds between two looks at the log.
    package var interval: Double

    package init(logBytes: Int64 = 256 << 20, interval: Double = 1) {
        self.logBytes = logBytes
        self.interval = interval
    }
}

/// The outcome of a look at the log.
package enum FollowerOutcome: Sendable, Equatable {
    /// There is no log, or it cannot be followed now. No lock is held.
    case waiting(String)
    /// A new run begins: a snapshot must be taken now.
    case attached(run: [UInt8])
    /// This many frames were read; 0 if nothing was committed.
    case read(frames: UInt32)
    /// The run has ended; frames may have been missed.
    case gap(String)
}

/// Receives what a follower reads from a write-ahead log. It must be quick: the log may grow meanwhile.
package protocol WALSegmentSink {
    /// A run without a gap begins: the segments that follow continue from `position`, and need a snapshot that is taken
    /// after this call. `gap` says why an earlier run ended, nil for the first one of this follower.
    mutating func begin(run: [UInt8], at position: LogPosition, gap: String?) throws

    /// A segment begins; its ``WALSegment/header`` is the first thing to be stored.
    mutating func begin(_ segment: WALSegment) throws

    /// The segment's next bytes: whole frames.
    mutating func append(_ frames: UnsafeRawBufferPointer) throws

    /// The segment is complete and counts from now on.
    mutating func finish(_ segment: WALSegment) throws

    /// The segment that was begun does not count and is to be removed.
    mutating func abandon()
}
