internal import LiteVault
internal import LiteVaultBackup
internal import LiteVaultSystem

final class KeyReader: Sendable {
    private let reporter: Reporter
    /// The time after which a key command is killed with its process group; nil for no limit, as it may ask a person.
    private let commandLimit: Duration?
    /// Variables that were removed from the environment. Two options may name the same one.
    private let variables = Locked<[String: SecretBuffer]>([:])

    init(_ reporter: Reporter, commandLimit: Duration? = nil) {
        (self.reporter, self.commandLimit) = (reporter, commandLimit)
    }

    /// Removes the variable of an environment source from the environment. This is done for all keys of a command before the
    /// first one is read, so that no key command inherits a key.
    ///
    /// - Throws: `key-rejected` if the variable is not set.
    func reserve(_ source: KeySource?) throws(Failure) {
        guard case .environment(let name)? = source else { return }
        _ = try variable(name)
    }

    /// The variable of that name, removed from the environment on first use.
    private func variable(_ name: String) throws(Failure) -> SecretBuffer {
        try variables.withLock { variables throws(Failure) in
            if let known = variables[name] { return known }
            let taken: SecretBuffer?
            do throws(SecretError) { taken = try SecretBuffer(takingVariable: name) } catch {
                throw failure(error, .environment(name))
            }
            guard let taken else {
                throw Failure(
                    .keyRejected, "\(KeySource.environment(name).description) is not set",
                    remedy: "Set it, or use another source of the key.")
            }
            variables[name] = taken
            return taken
        }
    }

    /// Reads the bytes of a key from its source.
    ///
    /// - Parameter prompt: asks for the key if the source is the terminal.
    /// - Throws: `key-rejected` if the source has no key, `usage` for a raw key from the terminal.
    func read(_ source: KeySource, format: KeyFormat, prompt: KeyPrompt) throws(Failure) -> SecretBuffer {
        let buffer: SecretBuffer
        do {
            switch source {
            case .file(let path): buffer = try readFile(path, warnsOfReaders: true)
            case .descriptor(let number): buffer = try readDescriptor(number)
            case .command(let text): buffer = try readCommand(text)
            case .credential(let name): buffer = try readCredential(name)
            case .environment(let name): buffer = try variable(name)
            case .prompt:
                guard format != .raw else {
                    throw Failure(
                        .usage, "a raw key cannot be typed", remedy: "Use a hexadecimal key (hex) or a key file.")
                }
                buffer = try prompt.ask(format: format)
            }
        } catch let failure as Failure {
            throw failure
        } catch let error as SecretError {
            throw failure(error, source)
        } catch {
            throw Failure(.internal, "cannot read \(source.description)")
        }
        if format != .raw, source != .prompt, !isEnvironment(source) { buffer.dropTrailingNewline() }
        if format == .passphrase, buffer.endsInCarriageReturn {
            reporter.warning("the passphrase ends in a carriage return, which is part of it (a Windows line ending?)")
        }
        guard buffer.count > 0 else {
            throw failure("\(source.description) is empty", source, remedy: "A key must have at least one byte.")
        }
        return buffer
    }

    private func isEnvironment(_ source: KeySource) -> Bool {
        if case .environment = source { true } else { false }
    }

    /// - Parameter warnsOfReaders: whether it is the user's own file, which nobody else should be able to read.
    private func readFile(_ path: String, warnsOfReaders: Bool) throws -> SecretBuffer {
        do {
            return try SecretBuffer(contentsOf: path, allowsPipes: true) { file in
                guard warnsOfReaders, file.kind == .regular, file.mode & 0o044 != 0 else { return }
                // Only a warning: key files mounted by container runtimes have fixed modes.
                reporter.warning("other users can read this key file; run 'chmod 600' on it", path: path)
            }
        } catch let error as DurableFileError { throw SecretError.system(error.code) }
    }

    private func readDescriptor(_ number: Int32) throws -> SecretBuffer {
        guard fcntl(number, F_GETFD) >= 0 else { throw SecretError.system(errno) }
        // The descriptor is not meant for child processes.
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        defer { if number > STDERR_FILENO { close(number) } }
        let buffer = SecretBuffer()
        try buffer.fill(from: number)
        return buffer
    }

    /// Runs a shell command that prints a key, and returns its standard output: a password manager, `systemd-creds decrypt`,
    /// `gpg --decrypt`. It inherits standard input, as it may ask a person. What it leaves in the background, such as an agent, is not waited
    /// for. A signal that ends us is passed on, to its group if it has a limit.
    ///
    /// - Throws: `key-rejected` if it does not end with status 0, or not in time; `SecretError`.
    private func readCommand(_ text: String) throws -> SecretBuffer {
        var command = ShellCommand(text)
        // With `--json`, our standard error contains only JSON.
        if reporter.printsJSON { command.error = .null }
        let output: CommandOutput
        do throws(SystemError) {
            output = try command.collect(limit: commandLimit) { Interruption.shared.watch(child: $0) }
        } catch { throw SecretError.system(error.code) }
        if let commandLimit, output.wasLate {
            throw Failure(
                .keyRejected, "the key command exceeded its limit of \(Int(commandLimit.seconds)) s and was killed",
                remedy: "Run it by itself: in a schedule it must not wait for a person.")
        }
        if let problem = output.problem { throw problem }
        guard output.ending == .status(0) else {
            throw Failure(
                .keyRejected,
                "the key command ended with \(output.ending.map(\.description) ?? "an unknown status")",
                remedy: "Run it by itself to see why. It must print the key and exit with status 0.")
        }
        return output.bytes
    }

    private func readCredential(_ name: String) throws -> SecretBuffer {
        guard !name.utf8.contains(UInt8(ascii: "/")), name != ".", name != "..", !name.isEmpty else {
            throw Failure(.usage, "invalid credential name '\(name)'", remedy: "Give the name without a path.")
        }
        guard let directory = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"] else {
            throw Failure(
                .keyRejected, "no credentials: CREDENTIALS_DIRECTORY is not set",
                remedy: "Run litevault in a systemd unit with LoadCredential= or LoadCredentialEncrypted=.")
        }
        return try readFile(directory + "/" + name, warnsOfReaders: false)
    }

    private func failure(_ error: SecretError, _ source: KeySource) -> Failure {
        let isDescriptor = if case .descriptor = source { true } else { false }
        return switch error {
        case .tooLong:
            failure(
                "\(source.description) has more than \(SecretBuffer.limit) bytes", source,
                remedy: "Check that it contains a key and nothing else.")
        case .system(let code):
            failure(
                "cannot read \(source.description): \(String(cString: strerror(code)))", source,
                remedy: isDescriptor
                    ? "Open it for litevault, as the shell does for '--key-fd 3 3<FILE'."
                    : "Check its name and permissions.")
        }
    }

    private func failure(_ message: String, _ source: KeySource, remedy: String) -> Failure {
        var path: String?
        if case .file(let name) = source { path = name }
        return Failure(.keyRejected, message, path: path, remedy: remedy)
    }
}

extension SecretBuffer {
    /// Decodes the bytes as a database key. No message contains the bytes.
    ///
    /// - Throws: `key-rejected` if they are not a key of that format.
    func databaseKey(_ format: KeyFormat, from source: KeySource) throws -> DatabaseKey {
        do {
            switch format {
            case .passphrase: return try withBytes { try DatabaseKey.passphrase(contentsOf: $0) }
            case .raw: return try withBytes(Self.rawKey)
            case .hex:
                guard let key = try withHexadecimal(Self.rawKey) else {
                    throw Failure(
                        .keyRejected, "the key is not hexadecimal", remedy: "It must have 64 or 96 digits 0-9 and a-f.")
                }
                return key
            }
        } catch {
            var failure = Failure(error)
            if case .file(let path) = source, failure.path == nil { failure.path = path }
            throw failure
        }
    }

    private static func rawKey(_ bytes: UnsafeRawBufferPointer) throws -> DatabaseKey {
        guard bytes.count == 32 || bytes.count == 48 else {
            throw Failure(
                .keyRejected, "the key has the wrong length (\(bytes.count) bytes)",
                remedy: "It must have 32 bytes (64 hex digits), or 48 bytes (96 hex digits) with the salt.")
        }
        return try .raw(contentsOf: bytes)
    }

    /// Decodes the bytes as a repository's secret.
    ///
    /// - Throws: `key-rejected` if they are not a secret of that format.
    func repositorySecret(_ format: KeyFormat) throws -> RepositorySecret {
        switch format {
        case .passphrase: return try withBytes { try RepositorySecret.passphrase($0) }
        case .raw: return try withBytes { try RepositorySecret.raw($0) }
        case .hex:
            guard let secret = try withHexadecimal({ try RepositorySecret.raw($0) }) else {
                throw Failure(
                    .keyRejected, "the repository secret is not hexadecimal",
                    remedy: "It must have 64 or more digits 0-9 and a-f.")
            }
            return secret
        }
    }
}
