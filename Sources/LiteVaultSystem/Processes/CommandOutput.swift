internal import CSystem

package struct CommandOutput {
    /// How the command ended; nil when somebody else waited for it.
    package let ending: ChildProcess.Ending?
    /// Its standard output, as far as it was read.
    package let bytes: SecretBuffer
    /// Why its output could not be read; it was asked to end then.
    package let problem: SecretError?
    /// Whether it was killed because its time was over.
    package let wasLate: Bool
}

extension ShellCommand {
    /// Runs the command, waits for its end and reads what it printed.
    ///
    /// Processes that it leaves in the background are not waited for, although they may hold its output open: an agent that
    /// was started on demand does so for days.
    ///
    /// - Parameters:
    ///   - limit: the time after which it is killed with its process group; nil for none.
    ///   - watch: called with the argument for `kill` when it runs; what that returns is called when it has ended.
    /// - Throws: ``SystemError`` when there is no pipe, or it cannot be started.
    package func collect(
        limit: Duration?, watch: ((Int32) -> () -> Void)? = nil
    ) throws(SystemError) -> CommandOutput {
        let pipe = try CommandPipe()
        defer { pipe.close() }
        var command = self
        command.output = .descriptor(pipe.writing)
        // With a limit it leads a process group, so that what it has started is killed too.
        command.leadsGroup = limit != nil
        let child = try command.spawn()
        pipe.closeWriting()
        let unwatch = watch?(child.signalTarget)
        defer { unwatch?() }
        let deadline = limit.map { Deadline(in: $0) }
        let bytes = SecretBuffer()
        var problem: SecretError?
        do throws(SecretError) { try child.read(pipe.reading, into: bytes, until: deadline) } catch {
            problem = error
            // It may never stop writing.
            child.signal(SIGTERM)
        }
        let wasLate = !child.waitUntilEnded(deadline)
        if wasLate { child.signal(SIGKILL) }
        return CommandOutput(ending: try? child.wait(), bytes: bytes, problem: problem, wasLate: wasLate)
    }
}

extension ChildProcess {
    /// Reads until the end of `descriptor`, until the child has ended and nothing more is there, or until `deadline`.
    fileprivate func read(
        _ descriptor: Int32, into buffer: SecretBuffer, until deadline: Deadline?
    ) throws(SecretError) {
        var pause = Backoff(0.001...0.1)
        while buffer.count <= SecretBuffer.limit {
            // Before looking: what the child has written before its end is there then.
            let isOver = hasEnded()
            let left = deadline?.remaining.seconds ?? .infinity
            guard left > 0 || isOver else { return }
            var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let found = poll(&waited, 1, isOver ? 0 : Int32(min(pause.next(), left) * 1000) + 1)
            if found < 0 {
                guard errno == EINTR else { throw .system(errno) }
            } else if found > 0 {
                guard try buffer.fillOnce(from: descriptor) else { return }
                pause.reset()
            } else if isOver {
                return
            }
        }
        throw .tooLong
    }

    /// Blocks until the child has ended. Its number stays taken.
    ///
    /// - Returns: false at `deadline`.
    fileprivate func waitUntilEnded(_ deadline: Deadline?) -> Bool {
        guard let deadline else {
            waitUntilEnded()
            return true
        }
        var pause = Backoff(0.001...0.05)
        while !hasEnded() {
            let left = deadline.remaining.seconds
            guard left > 0 else { return false }
            SystemThread.sleep(seconds: min(pause.next(), left))
        }
        return true
    }
}

extension ChildProcess {
    /// Waits until the child has ended, without blocking a thread. Its number stays taken.
    ///
    /// - Returns: false at `deadline`, and when the task is cancelled.
    package func hasEnded(by deadline: Deadline) async -> Bool {
        var pause = Backoff(0.001...0.05)
        while !hasEnded() {
            let left = deadline.remaining.seconds
            guard left > 0, (try? await Task.sleep(for: .seconds(min(pause.next(), left)))) != nil else { return false }
        }
        return true
    }

    /// Ends the process group that the child leads: SIGTERM, and SIGKILL for what is left of it after `grace`. The child's number is released
    /// then, and all of the group has ended, unless some of it still exists 5 seconds after SIGKILL, as what waits for a device does.
    package func terminateGroup(grace: Duration) async {
        let end = Deadline(in: grace)
        signal(SIGTERM)
        // A stopped process acts on SIGTERM only once it continues.
        signal(SIGCONT)
        // In a task of its own: the caller's may be cancelled.
        await Task.detached {
            if await !hasEnded(by: end) { signal(SIGKILL) }
            _ = try? wait()
            // The child may have ended at SIGTERM and others of its group not. The group's number is not used again while it has members.
            let last = end + .seconds(5)
            while kill(signalTarget, 0) == 0, !last.isOver {
                if end.isOver { signal(SIGKILL) }
                try? await Task.sleep(for: .milliseconds(10))
            }
        }.value
    }
}

/// Both ends of a pipe, which no child inherits by itself.
package final class CommandPipe {
    package private(set) var reading: Int32
    package private(set) var writing: Int32

    /// - Throws: ``SystemError`` when the system has no descriptors left.
    package init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard cps_pipe(&ends) == 0 else { throw SystemError(code: errno) }
        (reading, writing) = (ends[0], ends[1])
    }

    package func closeWriting() {
        if writing >= 0 { _ = LiteVaultSystem.close(writing) }
        writing = -1
    }

    package func close() {
        closeWriting()
        if reading >= 0 { _ = LiteVaultSystem.close(reading) }
        reading = -1
    }

    deinit { close() }
}
