internal import DurableFile
internal import LiteVaultCore

/// A database in the making: written under a temporary name, proven by opening it again, and only then given its name.
struct NewDatabase {
    let destination: String
    let key: DatabaseKey?
    let settings: CipherSettings
    private let replacement: ReplacementFile

    /// A new file, where there is none yet.
    ///
    /// - Throws: ``VaultError`` `cannotCreate` when something is in the way, or leftovers of another database would be
    ///   replayed into the new one.
    init(at destination: String, key: DatabaseKey?, settings: CipherSettings) throws {
        try EngineFile.refuseNUL(destination)
        try VaultError.about(destination, creating: true) {
            if let present = try FileMetadata.ifExists(path: destination) {
                let what =
                    present.kind == .regular ? "The file exists already" : "Something of this name exists already"
                throw VaultError(
                    .cannotCreate, what, path: destination, remedy: "Give another name, or remove it first.")
            }
            try Leftovers.refuse(beside: destination)
        }
        try self.init(replacing: destination, key: key, settings: settings)
    }

    /// A file that is to take the place of another.
    init(replacing destination: String, key: DatabaseKey?, settings: CipherSettings) throws {
        self.destination = destination
        self.key = key
        self.settings = settings
        if let key {
            let engine = try CipherEngine.require(for: destination)
            try VaultError.about(destination) {
                try settings.validate(with: key)
                try settings.requireSupport(by: engine)
            }
        }
        replacement = try VaultError.about(destination, creating: true) {
            try ReplacementFile(destination: destination)
        }
    }

    /// Opens the file under its temporary name.
    func open() throws -> Connection {
        try reporting {
            guard let key else { return try Connection(.existing(replacement.path)) }
            return try Connection(
                .existing(replacement.path), key: key, settings: settings, readonly: false, busyTimeout: 0)
        }
    }

    /// Opens the file for being written: as nobody else knows it and it is thrown away on any failure, a journal and
    /// syncs would only cost time. It is synced once, when it is complete.
    func openForWriting() throws -> Connection {
        let connection = try open()
        try reporting {
            try connection.execute(
                """
                PRAGMA journal_mode = OFF;
                PRAGMA synchronous = OFF;
                PRAGMA locking_mode = EXCLUSIVE;
                PRAGMA temp_store = MEMORY;
                PRAGMA cache_size = -32768;
                """)
        }
        return connection
    }

    /// Makes the file durable and gives it its name.
    ///
    /// - Parameters:
    ///   - original: The file it replaces, whose mode and owner it gets; nil when there must be none.
    ///   - beforeRename: The last word.
    func publish(replacing original: FileMetadata? = nil, beforeRename: () throws -> Void = {}) throws {
        try VaultError.about(destination, creating: true) {
            try replacement.publish(replacing: original != nil, like: original, beforeRename: beforeRename)
        }
    }

    /// Runs a body in which an error of the new file's connection is about the destination, not about a temporary name.
    func reporting<T>(_ body: () throws -> T) throws -> T {
        let name = replacement.path.split(separator: "/").last.map(String.init) ?? replacement.path
        do {
            return try body()
        } catch let error as DatabaseError where error.path?.hasSuffix(name) == true {
            throw VaultError(error, path: destination, creating: true)
        } catch var error as VaultError where error.path == nil || error.path == replacement.path {
            error.path = destination
            throw error
        }
    }
}
