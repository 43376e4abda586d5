/// Polls a condition, and returns whether it held; false after five minutes of polls.
///
/// It counts polls and not time: all tests share few threads for tasks. A task that the condition needs may begin minutes later, and then each
/// poll is as late. No thread is blocked meanwhile.
public func eventually(_ condition: () throws -> Bool) async rethrows -> Bool {
    for _ in 0..<30_000 {
        if try condition() { return true }
        try? await Task.sleep(for: .milliseconds(10))
    }
    return try condition()
}
