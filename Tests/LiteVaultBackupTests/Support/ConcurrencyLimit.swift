import Testing

/// At most 24 tests of this target run at a time.
///
/// Testing starts all tests at once, and one that waits for a file or another thread makes room for the next, until each has its
/// database and its repository open: 1,900 files on a busy machine. From 1,360 on, Foundation's `Process.run` may crash the test
/// program: it copies whole `dirent` structures out of a full `readdir` buffer, beyond its end.
struct ConcurrencyLimit: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await Permits.all.take()
        do { try await function() } catch {
            await Permits.all.giveBack()
            throw error
        }
        await Permits.all.giveBack()
    }
}

extension Trait where Self == ConcurrencyLimit {
    static var limited: ConcurrencyLimit { ConcurrencyLimit() }
}

private actor Permits {
    static let all = Permits()
    private var free = 24
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func take() async {
        if free > 0 { return free -= 1 }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// The test that has waited longest takes it.
    func giveBack() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
