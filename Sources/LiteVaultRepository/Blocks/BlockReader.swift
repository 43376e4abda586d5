internal import LiteVaultCapture

/// Reads blocks from data packs, and checks each against its hash in the block map.
struct BlockReader {
    let store: any ObjectStore

    /// Nearby blocks of one pack.
    private struct Run: Sendable {
        let pack: PackID
        var first: UInt32
        var last: UInt32
        /// Positions in the window, and the block for each.
        var wanted: [(place: Int, entry: TreeEntry)]
    }

    /// The maximum number of blocks read by one request, including unneeded ones that are read to save a request.
    private static let runLimit: UInt32 = 2048
    private static let gapLimit: UInt32 = 16

    /// Reads the blocks of `entries`, in order.
    ///
    /// - Throws: ``BackupError`` `damaged` if a block is missing or does not match its hash.
    func read(_ entries: [TreeEntry]) async throws -> [UInt8] {
        var window = [UInt8](repeating: 0, count: entries.count * blockSize)
        try await withThrowingTaskGroup(of: (Run, [UInt8]).self) { group in
            var waiting = Self.runs(entries).makeIterator()
            func start() {
                guard let run = waiting.next() else { return }
                let store = store
                group.addTask {
                    let start = Int64(RepositoryFormat.packHeader) + Int64(run.first) * Int64(blockSize)
                    let range = start..<(start + Int64(run.last - run.first + 1) * Int64(blockSize))
                    let name = RepositoryFormat.data(run.pack)
                    do {
                        return (run, try await store.get(name, range: range))
                    } catch let error as BackupError where error.code == .missing {
                        throw BackupError(.damaged, "is missing", path: name, cause: error)
                    }
                }
            }
            for _ in 0..<8 { start() }
            while let (run, bytes) = try await group.next() {
                try Self.place(run, bytes, into: &window)
                start()
            }
        }
        return window
    }

    private static func place(_ run: Run, _ bytes: [UInt8], into window: inout [UInt8]) throws {
        try bytes.withUnsafeBytes { bytes in
            try window.withUnsafeMutableBytes { window in
                for (place, entry) in run.wanted {
                    let offset = Int(entry.position - run.first) * blockSize
                    let block = UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + blockSize)])
                    guard Hash256(of: block) == entry.hash else {
                        throw BackupError(
                            .damaged, "block \(entry.position) does not match its hash",
                            path: RepositoryFormat.data(entry.pack))
                    }
                    UnsafeMutableRawBufferPointer(rebasing: window[(place * blockSize)..<((place + 1) * blockSize)])
                        .copyMemory(from: block)
                }
            }
        }
    }

    private static func runs(_ entries: [TreeEntry]) -> [Run] {
        var runs: [Run] = []
        let order = entries.indices.sorted {
            (entries[$0].pack, entries[$0].position) < (entries[$1].pack, entries[$1].position)
        }
        for place in order {
            let entry = entries[place]
            if let last = runs.last, last.pack == entry.pack, entry.position - last.last <= gapLimit,
                entry.position - last.first < runLimit
            {
                runs[runs.count - 1].last = entry.position
                runs[runs.count - 1].wanted.append((place, entry))
            } else {
                runs.append(
                    Run(pack: entry.pack, first: entry.position, last: entry.position, wanted: [(place, entry)]))
            }
        }
        return runs
    }
}
