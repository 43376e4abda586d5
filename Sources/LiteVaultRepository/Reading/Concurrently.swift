/// Requests that are under way at a time where many small objects are read: thousands of databases have thousands of manifests,
/// and an object store takes some milliseconds for each.
private let width = 16

private struct Numbered<Result: Sendable>: Sendable {
    let index: Int
    let result: Result
}

/// What `body` makes of each item, in the items' order; some at a time.
///
/// - Throws: what the first body throws; the others are cancelled then.
func concurrently<Item: Sendable, Result: Sendable>(
    _ items: [Item], _ body: @escaping @Sendable (Item) async throws -> Result
) async throws -> [Result] {
    try await withThrowingTaskGroup(of: Numbered<Result>.self) { group in
        var waiting = items.indices.makeIterator()
        var results = [Result?](repeating: nil, count: items.count)
        func start() {
            guard let index = waiting.next() else { return }
            let item = items[index]
            group.addTask { Numbered(index: index, result: try await body(item)) }
        }
        for _ in 0..<width { start() }
        while let done = try await group.next() {
            results[done.index] = done.result
            start()
        }
        return results.compactMap(\.self)
    }
}
