internal import LiteVault

extension Session {
    /// The key that the options name, or the one that a person types.
    ///
    /// - Parameters:
    ///   - path: the database that it is for, as the prompt says.
    ///   - confirms: whether it is about to be set, and has to be typed twice.
    /// - Throws: `usage` for more than one source, `key-rejected` without one that gives a key.
    func key<Role>(_ options: KeyOptions<Role>, for path: String, confirms: Bool = false) throws -> DatabaseKey {
        if let key = try keyIfGiven(options, for: path, confirms: confirms) { return key }
        guard terminal.inputIsTerminal else { throw Failure.noKey(Role.noun, prefix: Role.prefix) }
        return try read(.prompt, options, path, confirms)
    }

    /// The key that the options name; nil when they name none. Nobody is asked then.
    func keyIfGiven<Role>(
        _ options: KeyOptions<Role>, for path: String, confirms: Bool = false
    ) throws -> DatabaseKey? {
        try options.source().map { try read($0, options, path, confirms) }
    }

    /// Takes keys out of the environment before anything else runs, and finds contradictions between the options.
    func claim<Role>(_ options: KeyOptions<Role>) throws(Failure) {
        try keys.claim(options.source())
    }

    private func read<Role>(
        _ source: KeySource, _ options: KeyOptions<Role>, _ path: String, _ confirms: Bool
    ) throws -> DatabaseKey {
        let prompt = KeyPrompt(subject: "for \(Wording.visible(path))", confirms: confirms, terminal: terminal)
        defer { restartClock() }
        let buffer = try keys.read(source, format: options.format, prompt: prompt)
        return try KeyDecoder.key(buffer, format: options.format, source: source)
    }
}

extension Session {
    /// The key of a database that may be plaintext: none is asked for then.
    ///
    /// - Throws: `wrong-kind` when a key is given for a plaintext database, `no-encryption` when it is encrypted and the
    ///   engine is not.
    func keyIfEncrypted<Role>(_ options: KeyOptions<Role>, _ path: String) throws -> DatabaseKey? {
        switch try DatabaseFile(path).kind() {
        case .plain, .empty:
            guard try options.source() == nil else { throw Failure.notEncrypted(path) }
            return nil
        case .notADatabase:
            // With a key it may still turn out to be a database whose first page is damaged.
            guard let key = try keyIfGiven(options, for: path) else { throw Failure.notADatabase(path) }
            return key
        case .encryptedOrUnknown, .plaintextHeader:
            try Preflight.requireEncryption()
            return try key(options, for: path)
        }
    }
}
