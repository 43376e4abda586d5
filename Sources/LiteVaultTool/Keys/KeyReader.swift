internal import Foundation

/// Reads keys from their sources.
final class KeyReader {
    private let reporter: any Reporter
    private let terminal: Terminal
    /// Seconds that a key command may take; nil: as long as it likes.
    private let commandLimit: Double?
    /// Variables that were taken out of the environment, so that two options may name the same one.
    private var taken: [String: SecretBuffer] = [:]

    init(reporter: any Reporter, terminal: Terminal, commandLimit: Double? = nil) {
        self.commandLimit = commandLimit
        self.reporter = reporter
        self.terminal = terminal
    }

    /// Takes the variable of an environment source out of the environment. All of a command's sources are claimed before
    /// the first is read, so that a key command never sees a key in what it inherits.
    ///
    /// - Throws: `key-rejected` when the variable is not set.
    func claim(_ source: KeySource?) throws(Failure) {
        guard case .environment(let name)? = source, taken[name] == nil else { return }
        guard let value = getenv(name) else {
            throw Failure(.keyRejected, "\(KeySource.environment(name).description) is not set")
        }
        let buffer = SecretBuffer()
        // unsetenv only forgets the pointer: the bytes stay readable in /proc/PID/environ unless they are wiped.
        do { try buffer.fill(takingOver: value) } catch { throw failure(error, .environment(name)) }
        unsetenv(name)
        taken[name] = buffer
    }

    /// The bytes of a key, as its source gave them.
    ///
    /// - Parameter prompt: what to ask for on the terminal; nil says that this key can not be asked for twice.
    /// - Throws: `key-rejected` when there is none to be had.
    func read(_ source: KeySource, format: KeyFormat, prompt: KeyPrompt) throws(Failure) -> SecretBuffer {
        let buffer: SecretBuffer
        do {
            switch source {
            case .file(let path): buffer = try readFile(path)
            case .descriptor(let number): buffer = try readDescriptor(number)
            case .command(let text):
                buffer = try KeyCommand(
                    text: text, quiet: reporter is JSONReporter, limit: commandLimit
                ).read()
            case .credential(let name): buffer = try readCredential(name)
            case .environment(let name):
                try claim(source)
                guard let value = taken[name] else { throw Failure(.internal, "the environment lost a variable") }
                buffer = value
            case .prompt:
                guard format != .raw else {
                    throw Failure(
                        .usage, "a raw key can not be typed", remedy: "Use a hexadecimal key (hex) or a key file.")
                }
                buffer = try prompt.ask(format: format)
            }
        } catch let failure as Failure {
            throw failure
        } catch let error as SecretReadError {
            throw failure(error, source)
        } catch {
            throw Failure(.internal, "\(source.description) could not be read")
        }
        if format != .raw, source != .prompt, !isEnvironment(source) { buffer.dropTrailingNewline() }
        if format == .passphrase, buffer.endsInCarriageReturn {
            reporter.warning("the passphrase ends in a carriage return, which is part of it: a Windows line end?")
        }
        guard buffer.count > 0 else { throw Failure(.keyRejected, "\(source.description) is empty") }
        return buffer
    }

    private func isEnvironment(_ source: KeySource) -> Bool {
        if case .environment = source { true } else { false }
    }

    private func readFile(_ path: String) throws -> SecretBuffer {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SecretReadError.system(errno) }
        defer { close(descriptor) }
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o044 != 0 {
            // Only a warning: key files mounted by container runtimes have modes that nobody can change.
            reporter.warning("this key file can be read by other users; 'chmod 600' it", path: path)
        }
        let buffer = SecretBuffer()
        try buffer.fill(from: descriptor)
        return buffer
    }

    private func readDescriptor(_ number: Int32) throws -> SecretBuffer {
        guard fcntl(number, F_GETFD) >= 0 else { throw SecretReadError.system(errno) }
        // Whoever opened it for us opened it for us alone.
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        defer { if number > STDERR_FILENO { close(number) } }
        let buffer = SecretBuffer()
        try buffer.fill(from: number)
        return buffer
    }

    private func readCredential(_ name: String) throws -> SecretBuffer {
        guard !name.contains("/"), name != ".", name != "..", !name.isEmpty else {
            throw Failure(.usage, "'\(name)' is not the name of a credential", remedy: "Give the name without a path.")
        }
        guard let directory = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"] else {
            throw Failure(
                .keyRejected, "there are no credentials: CREDENTIALS_DIRECTORY is not set",
                remedy: "Run this in a systemd unit with LoadCredential= or LoadCredentialEncrypted=.")
        }
        let descriptor = open(directory + "/" + name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SecretReadError.system(errno) }
        defer { close(descriptor) }
        let buffer = SecretBuffer()
        try buffer.fill(from: descriptor)
        return buffer
    }

    private func failure(_ error: SecretReadError, _ source: KeySource) -> Failure {
        var path: String?
        if case .file(let name) = source { path = name }
        return switch error {
        case .tooLong:
            Failure(.keyRejected, "\(source.description) holds more than \(SecretBuffer.limit) bytes", path: path)
        case .system(let code):
            Failure(
                .keyRejected, "\(source.description) could not be read: \(String(cString: strerror(code)))", path: path)
        }
    }
}
