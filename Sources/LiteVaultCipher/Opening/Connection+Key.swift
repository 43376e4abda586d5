public import LiteVaultCore
internal import LiteVaultSystem

extension Connection {
    /// Opens an encrypted database, or creates one.
    ///
    /// The key is set before anything else happens, the settings right after it, and then the first page is read: when
    /// this returns, the key is verified, unless the file is new. A missing or empty file accepts any key, and so does one that a
    /// hot journal takes back to no page; its first write encrypts it with this one. Opened read-only, an empty file is rejected,
    /// because no key could be verified.
    ///
    /// - Parameters:
    ///   - location: the location of the database. Keys in URI parameters, shared caches and `%00` in a URI are rejected.
    ///   - key: the key (`sqlite3_key_v2`).
    ///   - settings: the settings that the file is, or will be, encrypted with.
    ///   - readonly: whether to open an existing file for reading only; false by default.
    ///   - journalMode: the journal mode to set after the key; by default the mode of the file stays.
    /// - Throws: ``VaultError``: `noEncryption` before the file is touched; `keyRejected`, `wrongKind` or `damaged` for a
    ///   file that the key does not open, which is then closed unchanged, including its log or hot journal; `usage` or
    ///   `unsupported` for the settings; `noInput`, `busy`, `io`.
    public convenience init(
        _ location: Location, key: DatabaseKey, settings: CipherSettings = .init(), readonly: Bool = false,
        journalMode: JournalMode? = nil
    ) throws {
        try self.init(
            location, unlocker: KeyUnlocker(key: key, settings: settings, path: location.path), readonly: readonly,
            journalMode: journalMode)
    }

    /// Opens an encrypted database by its path or a `file:` URI, or creates one.
    ///
    /// - Throws: as ``init(_:key:settings:readonly:journalMode:)``.
    public convenience init(
        _ filename: String, key: DatabaseKey, settings: CipherSettings = .init(), readonly: Bool = false,
        journalMode: JournalMode? = nil
    ) throws {
        try self.init(
            .uri(filename), key: key, settings: settings, readonly: readonly, journalMode: journalMode)
    }

    /// Opens an encrypted database, or creates one.
    ///
    /// - Parameters:
    ///   - lockTimeout: how long to wait for locks, while unlocking and afterwards.
    ///   - explainsFailure: whether to find out why the key does not open the file, which takes time.
    package convenience init(
        _ location: Location, key: DatabaseKey, settings: CipherSettings, readonly: Bool = false,
        lockTimeout: Duration, explainsFailure: Bool = true
    ) throws {
        let unlocker = try KeyUnlocker(
            key: key, settings: settings, path: location.path, lockTimeout: lockTimeout,
            explainsFailure: explainsFailure)
        try self.init(location, unlocker: unlocker, readonly: readonly)
    }

    /// Opens a database with a key and settings that were validated before.
    convenience init(
        _ location: Location, unlocker: KeyUnlocker, readonly: Bool, journalMode: JournalMode? = nil
    ) throws {
        let path = location.path
        try location.requirePrivateCacheAndNoKey()
        do {
            try self.init(location, readonly: readonly, unlocker: unlocker, journalMode: journalMode)
        } catch let error as DatabaseError {
            throw VaultError(error, path: path, creating: !readonly)
        }
        if readonly, location.isFile { try requireContent(path) }
    }

    /// Any key "opens" an empty file, so the key could not be verified.
    private func requireContent(_ path: String) throws {
        let isEmpty = try withHandle { try EngineFile(connection: $0, path: path).size() == 0 }
        if isEmpty {
            try close()
            throw VaultError(.wrongKind, "The file is empty, so no key can be verified", path: path)
        }
    }
}

// MARK: Settings in effect

extension Connection {
    /// Reads the cipher settings in effect (`PRAGMA cipher_settings`; before SQLCipher 4.1 one pragma for each).
    ///
    /// The salt is left out: reading it from a file that is not written yet would create and fix one.
    ///
    /// - Parameter schemaName: an attached database; the main one by default.
    /// - Throws: ``VaultError`` `noEncryption` without SQLCipher, `wrongKind` when the database has no key.
    public func cipherSettings(of schemaName: String = "main") throws -> CipherSettings {
        let engine = try CipherEngine.require(for: description)
        let prefix = "PRAGMA \(quoted(schemaName))."
        var settings = CipherSettings()
        if engine.readsSettingsBack {
            settings = CipherSettings(
                cipherSettings: try all("\(sql: prefix)cipher_settings", as: String.self))
        } else {
            for name in ["kdf_iter", "cipher_page_size", "cipher_use_hmac"] {
                guard let value = try untypedValue(prefix + name) else { continue }
                settings.apply(name: name, value: "\(value)")
            }
            if settings.pageSize != nil, !engine.hasFormat4 {
                settings.kdfAlgorithm = .sha1
                settings.hmacAlgorithm = .sha1
                settings.plaintextHeaderSize = 0
            }
        }
        // The engine returns nothing if there is no key.
        guard settings.pageSize != nil else {
            throw VaultError(.wrongKind, "The database has no key", path: description)
        }
        return settings
    }

    /// Whether a key was set for the database, right or wrong.
    package func hasKey(_ schemaName: String = "main") throws -> Bool {
        guard CipherEngine.version != nil else { return false }
        return try value("PRAGMA \(identifier: schemaName).cipher_provider", as: StoredValue.self) != .null
    }

    /// The page size in bytes. SQLCipher returns `PRAGMA page_size` as text for an encrypted database.
    package func pageSize() throws -> Int64 {
        switch try untypedValue("PRAGMA page_size") {
        case let number as Int64: number
        case let text as String: Int64(text) ?? 0
        default: 0
        }
    }
}

// MARK: What SQL must not change

extension Connection {
    /// Keeps SQL from now on from changing keys, cipher settings (those of the process as well), SQLCipher's logs and, of an encrypted
    /// database, the place of temporary data and the page size: such statements fail with `SQLITE_AUTH`, and
    /// ``refusedPragma`` says which. Reading them stays possible. An engine without encryption has none of these, and rejects nothing.
    package func guardSettings() throws {
        guard CipherEngine.version != nil else { return }
        settingsGuard = SettingsGuard(encryptedPageSize: try hasKey() ? Int(pageSize()) : nil)
    }
}

// MARK: Locations

extension Connection.Location {
    /// An existing database file. Opening it never creates it, and the path is never treated as a URI.
    package static func existing(_ path: String) -> Connection.Location {
        .uri(path.engineFileName, parameters: [.mode(.readWrite)])
    }

    /// The path for error messages, without the parameters of a URI: these may contain a key.
    var path: String {
        guard case .uri(let name, _) = self else { return description }
        guard name.isURI else { return name }
        let bytes = name.utf8.dropFirst(5).prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Rejects a key in the URI, which would remain readable for the life of the connection, and a shared cache, which
    /// would expose the content to connections without a key.
    func requirePrivateCacheAndNoKey() throws {
        guard !hasEscapedNUL else {
            throw VaultError(.usage, "A URI must not contain %00: SQLite would leave out what follows it", path: path)
        }
        let text = description
        // By bytes, as SQLite splits it: a mark that a combining accent follows is still the mark.
        guard text.isURI, let start = text.utf8.firstIndex(of: UInt8(ascii: "?")) else { return }
        let query = text.utf8[start...].dropFirst().prefix { $0 != UInt8(ascii: "#") }
        for parameter in query.split(separator: UInt8(ascii: "&")) {
            let parts = parameter.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].removingPercentEscapes
            let value = parts.count > 1 ? parts[1].removingPercentEscapes : ""
            if ["key", "hexkey", "textkey"].contains(foldedName(name)) {
                throw VaultError(
                    .usage, "A key must not be part of a URI", path: path, remedy: "Pass it as a DatabaseKey.")
            }
            if name == "cache", value == "shared" {
                throw VaultError(
                    .usage, "A shared cache exposes an encrypted database to connections without its key", path: path,
                    remedy: "Open it with a private cache.")
            }
        }
    }
}

extension Substring.UTF8View {
    /// SQLite decodes escapes before it reads a name, so `%6bey` is a key as well.
    fileprivate var removingPercentEscapes: String {
        var bytes: [UInt8] = []
        var rest = Array(self)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2, let high = Hexadecimal.value(rest[rest.startIndex]),
                let low = Hexadecimal.value(rest[rest.startIndex + 1])
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
