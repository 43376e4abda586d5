internal import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultSystem

/// The store of a sealed repository: what is stored through it is compressed and encrypted, what is read is opened.
///
/// The content of an object, its ranges and its size, as ``size(_:stored:)`` tells it, are those of the object as a repository
/// knows it. Listings, attributes and tags are those of the object in the store. `repository.json` is not sealed: it has the key.
final class SealedStore: ObjectStore {
    /// The store that holds the sealed objects.
    let base: any ObjectStore
    let key: SealingKey
    /// Whether objects of before may not be sealed yet.
    let acceptsUnsealed: Bool
    /// Where sealed objects wait to be stored; nil for the base's choice.
    private let spool: String?
    private let known = Locked(Known())

    /// What was read of objects, as blocks of one pack are read in several parts.
    private struct Known {
        var layouts: [String: SealedObject.Layout] = [:]
        var order: [String] = []
    }

    /// How many layouts are kept, and the chunks of the largest one.
    private static let (knownLimit, knownChunks) = (128, 4096)
    /// The bytes that the first request for a part of an object asks for: those before the first chunk of all packs.
    private static let first: Int64 = 4096

    init(_ store: any ObjectStore, key: SealingKey, acceptsUnsealed: Bool, spool: String?) {
        base = store.unsealed
        (self.key, self.acceptsUnsealed, self.spool) = (key, acceptsUnsealed, spool)
    }

    private static func isClear(_ name: String) -> Bool { name == RepositoryFormat.config }

    // MARK: As the store has it

    var location: String { base.location }

    var identity: String { base.identity }

    func supportsConditionalWrites() async throws -> Bool { try await base.supportsConditionalWrites() }

    func attributes(_ name: String) async throws -> ObjectAttributes? { try await base.attributes(name) }

    func list(_ prefix: String) async throws -> [ObjectAttributes] { try await base.list(prefix) }

    func list(_ prefix: String, after first: String, before end: String?) async throws -> [ObjectAttributes] {
        try await base.list(prefix, after: first, before: end)
    }

    func now() async throws -> Date { try await base.now() }

    func removeLeftovers() async throws -> Int { try await base.removeLeftovers() }

    func remove(_ name: String) async throws {
        forget(name)
        try await base.remove(name)
    }

    // MARK: Writing

    func put(_ name: String, bytes: [UInt8], condition: PutCondition) async throws -> ETag {
        forget(name)
        let stored = Self.isClear(name) ? bytes : try SealedObject.seal(bytes, name, key)
        return try await base.put(name, bytes: stored, condition: condition)
    }

    func put(_ name: String, file path: String, condition: PutCondition) async throws -> ETag {
        forget(name)
        if Self.isClear(name) { return try await base.put(name, file: path, condition: condition) }
        let directory =
            try spool ?? base.spoolDirectory()
            ?? withErrorContext(path: FileManager.default.temporaryDirectory.path) { try WorkDirectory.temporary() }
        try LocalDirectory.create(directory)
        let file = try ReplacementFile.temporary("pack", in: directory)
        let writer = try LocalFile(updating: file.path)
        defer { file.discard() }
        let source = try LocalFile(reading: path)
        try SealedObject.seal(name, key, size: try source.size()) {
            try source.read(at: $0.lowerBound, count: $0.count)
        } write: {
            try writer.write($0, at: $1)
        }
        return try await base.put(name, file: file.path, condition: condition)
    }

    // MARK: Reading

    func get(_ name: String) async throws -> [UInt8] { try await get(name, upTo: 64 << 20) }

    func get(_ name: String, upTo limit: Int) async throws -> [UInt8] {
        if Self.isClear(name) { return try await base.get(name, upTo: limit) }
        let stored = try await base.get(name, upTo: Int(SealedObject.limit(Int64(limit))))
        if acceptsUnsealed, !SealedObject.isSealed(stored) {
            guard stored.count <= limit else { throw VaultError.tooLarge(limit, path: name) }
            return stored
        }
        return try SealedObject.content(stored, name, key, upTo: limit)
    }

    func get(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        if Self.isClear(name) { return try await base.get(name, range: range) }
        return try await readingAgain(forgetting: { forget(name) }) {
            if let layout = try await layout(name) { return try await read(range, layout) }
            let bytes = try await base.get(name, range: range)
            // If it has been sealed since, they are not bytes of its content.
            guard try await layout(name) == nil else {
                throw VaultError(.damaged, "was replaced while it was read", path: name)
            }
            return bytes
        }
    }

    private func read(_ range: Range<Int64>, _ layout: SealedObject.Layout) async throws -> [UInt8] {
        guard range.lowerBound >= 0, range.upperBound <= layout.object.size else {
            throw layout.object.damaged("is \(range.upperBound - layout.object.size) bytes too short")
        }
        if range.isEmpty { return [] }
        let chunks = layout.chunks(range)
        let start = layout.offsets[chunks.lowerBound]
        let bytes = try await base.get(layout.object.name, range: start..<layout.offsets[chunks.upperBound])
        var content: [UInt8] = []
        content.reserveCapacity(chunks.count * SealedObject.chunkBytes)
        for index in chunks {
            let place = Int(layout.offsets[index] - start)..<Int(layout.offsets[index + 1] - start)
            guard place.upperBound <= bytes.count else { throw layout.object.damaged("is truncated") }
            content += try layout.open(index, bytes[place])
        }
        let skipped = Int(range.lowerBound) - chunks.lowerBound * SealedObject.chunkBytes
        return Array(content[skipped..<(skipped + range.count)])
    }

    func fetch(_ name: String, into path: String) async throws { try await fetch(name, into: path, upTo: .max) }

    func fetch(_ name: String, into path: String, upTo limit: Int64) async throws {
        if Self.isClear(name) { return try await base.fetch(name, into: path, upTo: limit) }
        let local = base.localPath(name)
        let copy = path + ".sealed"
        if local == nil { try await base.fetch(name, into: copy, upTo: SealedObject.limit(limit)) }
        defer { if local == nil { unlink(copy) } }
        let file: LocalFile
        do { file = try withErrorContext(path: name) { try LocalFile(reading: local ?? copy) } } catch {
            // A directory is only the parent of the names below it.
            if try await base.attributes(name) == nil {
                throw VaultError(.missing, "there is no such object", path: name)
            }
            throw error
        }
        let size = try file.size()
        let start = try file.read(at: 0, count: Int(min(size, Self.first)))
        if acceptsUnsealed, !SealedObject.isSealed(start) {
            guard size <= limit else { throw VaultError.tooLarge(Int(limit), path: name) }
            return try Self.create(path) { target in
                try file.forEachPiece { offset, bytes in try target.write(bytes, at: offset) }
            }
        }
        let layout = try layout(name, start, size: size) { try file.read(at: $0.lowerBound, count: $0.count) }
        guard layout.object.size <= limit else { throw VaultError.tooLarge(Int(limit), path: name) }
        try Self.create(path) { target in
            for index in 0..<layout.count {
                let (offset, end) = (layout.offsets[index], layout.offsets[index + 1])
                let content = try layout.open(index, file.read(at: offset, count: Int(end - offset))[...])
                try target.write(content, at: Int64(index) * Int64(SealedObject.chunkBytes))
            }
        }
    }

    /// Fills a new file, which does not stay if that fails.
    private static func create(_ path: String, _ fill: (LocalFile) throws -> Void) throws {
        let file = try LocalFile(creating: path)
        do { try fill(file) } catch {
            unlink(path)
            throw error
        }
    }

    // MARK: Layouts

    /// The size of an object's content in bytes: one small request, unless it was read before.
    ///
    /// - Parameter stored: the size of the object in the store, by a listing.
    /// - Throws: `VaultError` `missing`; `damaged` if it is not sealed, was changed or is truncated.
    func size(_ name: String, stored: Int64) async throws -> Int64 {
        if Self.isClear(name) { return stored }
        var listed: Int64? = stored
        return try await readingAgain(forgetting: { forget(name) }) {
            // The second time, the listing may be what is old.
            defer { listed = nil }
            return try await layout(name, stored: listed)?.object.size ?? stored
        }
    }

    /// Where the chunks of an object are; nil if it is not sealed, and need not be.
    ///
    /// - Parameter stored: its size in the store by a listing; nil asks the store.
    private func layout(_ name: String, stored: Int64? = nil) async throws -> SealedObject.Layout? {
        if let layout = known.withLock({ $0.layouts[name] }), stored.map({ $0 == layout.offsets.last }) ?? true {
            return layout
        }
        let size: Int64
        if let stored {
            size = stored
        } else {
            guard let present = try await base.attributes(name) else {
                throw VaultError(.missing, "there is no such object", path: name)
            }
            size = present.size
        }
        var start = try await base.get(name, range: 0..<min(size, Self.first))
        if acceptsUnsealed, !SealedObject.isSealed(start) { return nil }
        let object = try SealedObject(head: start, name, key)
        let end = SealedObject.start(object.size)
        if end > start.count, end <= size { start += try await base.get(name, range: Int64(start.count)..<end) }
        let layout = try layout(name, start, size: size)
        known.withLock { known in
            guard layout.count <= Self.knownChunks, known.layouts.updateValue(layout, forKey: name) == nil else {
                return
            }
            known.order.append(name)
            if known.order.count > Self.knownLimit { known.layouts[known.order.removeFirst()] = nil }
        }
        return layout
    }

    /// - Parameters:
    ///   - start: the first bytes of the object.
    ///   - read: reads the others before the first chunk.
    private func layout(
        _ name: String, _ start: [UInt8], size: Int64, read: ((Range<Int64>) throws -> [UInt8])? = nil
    ) throws -> SealedObject.Layout {
        let object = try SealedObject(head: start, name, key)
        let end = SealedObject.start(object.size)
        guard end <= size else { throw object.damaged("is truncated") }
        var start = start
        if end > start.count, let read { start += try read(Int64(start.count)..<end) }
        guard end <= start.count else { throw object.damaged("is truncated") }
        return try object.layout(start[SealedObject.headBytes..<Int(end)], stored: size)
    }

    private func forget(_ name: String) {
        known.withLock { known in
            guard known.layouts.removeValue(forKey: name) != nil else { return }
            known.order.removeAll { $0 == name }
        }
    }
}

extension ObjectStore {
    /// The store that holds the objects as they are: that of a sealed repository's without what seals and opens them.
    package var unsealed: any ObjectStore { (self as? SealedStore)?.base ?? self }

    /// Makes objects durable that were found to be stored, where they are files of this machine: another process may have been killed
    /// before it synced their directories. In an object store an existing object is durable. An SSH server is not asked: a store there syncs
    /// a directory whenever it stores something in it, or is to store what it finds there.
    ///
    /// - Parameter names: their names, or prefixes that end with a slash.
    func settle(_ names: some Sequence<String>) throws {
        let paths = names.compactMap { name in
            unsealed.localPath(name.hasSuffix("/") ? name + "any" : name).map(LocalDirectory.parent)
        }
        for path in Set(paths) where access(path, F_OK) == 0 {
            try LocalDirectory.create(path)
            try LocalDirectory.sync(path)
        }
    }

    /// The size of the content of a listed object, which is less than, or more than, what is stored of it if it is sealed.
    ///
    /// - Throws: `VaultError` `damaged` if it is sealed and truncated or changed; then one small request was made.
    package func contentSize(_ object: ObjectAttributes) async throws -> Int64 {
        try await contentSize(object.name, stored: object.size)
    }

    /// As ``contentSize(_:)``, for the name of an object and its size in the store.
    func contentSize(_ name: String, stored: Int64) async throws -> Int64 {
        try await (self as? SealedStore)?.size(name, stored: stored) ?? stored
    }

    /// Stores a file under a name that nobody else gives to other content: if there is an object of that size, it is this one, and the response
    /// to the first attempt was lost.
    func putOwn(_ name: String, file path: String, size: Int64, condition: PutCondition) async throws {
        do {
            try await put(name, file: path, condition: condition)
        } catch let error as VaultError where error.code == .conflict {
            guard let present = try await attributes(name), try await contentSize(present) == size else { throw error }
        }
    }
}

extension RepositoryConfig {
    /// The store as a repository of this kind uses it.
    ///
    /// - Parameter spool: where sealed objects wait to be stored; nil for the store's choice.
    /// - Throws: `VaultError` `keyRejected` if it is sealed and there is no key, `damaged` if its key cannot be read.
    func opening(
        _ store: any ObjectStore, key: RepositoryKey?, of id: [UInt8], spool: String?
    ) throws -> any ObjectStore {
        guard let sealing else { return store.unsealed }
        guard let key else { throw VaultError.sealedWithoutSecret(store.location) }
        return SealedStore(
            store, key: try SealingKey(opening: sealing, by: key.current, of: id), acceptsUnsealed: unsealed == true,
            spool: spool)
    }
}

extension VaultError {
    static func sealedWithoutSecret(_ location: String) -> VaultError {
        VaultError(
            .keyRejected, "a sealed repository cannot be read without its secret, but none was given", path: location,
            advice: .provideSecret)
    }
}
