internal import LiteVaultCapture
internal import LiteVaultSystem

/// A file in the directory of a repository that only takes up room. To remove something, a few small documents have to be stored first,
/// and a full disk has no room for them: then this file is given up for it.
struct RoomToRemove {
    /// Enough for a lease, a forget record, and a list of a few thousand packs.
    private static let size = 256 << 10
    /// The smallest one that is worth keeping.
    private static let least = 64 << 10

    private let path: String

    /// Nil for a store that is not a directory of this machine.
    init?(_ store: any ObjectStore) {
        guard let any = store.localPath("any") else { return nil }
        path = LocalDirectory.parent(of: any) + "/.room"
    }

    /// Takes up room again, as far as there is any. A failure is not one of the operation that has just succeeded.
    func keep() {
        guard access(path, F_OK) != 0 else { return }
        var size = Self.size
        while size >= Self.least {
            if write(size) { return }
            size /= 2
        }
    }

    private func write(_ size: Int) -> Bool {
        // Zeros would take up none in file systems that compress. An xorshift generator: no request to the system for each number.
        var (words, number) = ([UInt64](repeating: 0, count: size / 8), UInt64.random(in: 1 ... .max))
        for place in words.indices {
            number ^= number << 13
            number ^= number >> 7
            number ^= number << 17
            words[place] = number
        }
        let bytes = words.withUnsafeBytes(Array.init)
        guard let file = try? LocalFile(creating: path) else { return false }
        do {
            try file.write(bytes, at: 0)
            try file.sync()
            return true
        } catch {
            unlink(path)
            return false
        }
    }

    /// Gives it up.
    ///
    /// - Returns: whether there was any.
    func giveUp() -> Bool { unlink(path) == 0 }
}

extension WritableRepository {
    /// Removes something: on a full disk in the room that is kept for it.
    ///
    /// - Parameter body: is run again from its beginning if it found the disk full. What it has removed by then stays removed.
    func withRoom<T>(_ body: () async throws -> T) async throws -> T {
        let room = RoomToRemove(store)
        defer { room?.keep() }
        do {
            return try await body()
        } catch let error as VaultError where error.code == .noSpace {
            guard let room, room.giveUp() else { throw error }
            return try await body()
        }
    }
}
