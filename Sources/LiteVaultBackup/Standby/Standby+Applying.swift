internal import LiteVaultCapture
internal import LiteVaultRepository
internal import LiteVaultSystem

extension Standby {
    /// Applies segments as one commit; those before a damaged one, if one is.
    func apply(_ segments: [FetchedSegment], _ fetched: FetchedSegments) async throws -> StandbyUpdate {
        guard let first = segments.first, let current = state.current else { return .unchanged }
        let database = try attach(pageSize: first.pageSize)
        // It may have turned out to have them.
        guard state.current?.segment == current.segment else { return .unchanged }
        var pages = NewestPages(pageSize: first.pageSize)
        var done: [FetchedSegment] = []
        var failure: (any Error)?
        for segment in segments {
            do {
                try await fetched.add(segment, to: &pages)
                done.append(segment)
            } catch let error as VaultError where error.isDamage {
                // Those behind a snapshot only lead to a commit together.
                if done.isEmpty || current.segment == nil { throw error }
                failure = error
                break
            }
        }
        guard let last = done.last else { return .unchanged }
        var next = current
        next.segment = last.position
        (next.time, next.isLogged, next.pageSize) = (last.date.milliseconds, true, last.pageSize)
        try commit(pages, as: next, to: database)
        if let failure { throw failure }
        return .applied(segments: done.count, pages: pages.count, until: next.date)
    }

    /// Commits pages, with the state that they lead to recorded before.
    func commit(_ pages: NewestPages, as point: StandbyPoint, to database: StandbyDatabase) throws {
        let after = try sum.after(pages, in: database)
        var next = point
        next.sum = after.hexadecimal
        var state = state
        try database.commit(pages) { position, sums in
            next.set(position, sums)
            state.next = next
            try state.write(destination)
        }
        sum = after
        (state.current, state.next) = (next, nil)
        self.state = state
        guard database.logBytes > options.logBytes, try database.checkpoint() else { return }
        self.state.file = database.fileStatus
        try self.state.write(destination)
    }
}
