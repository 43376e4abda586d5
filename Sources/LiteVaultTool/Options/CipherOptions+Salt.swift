internal import Foundation
internal import LiteVault

extension CipherOptions<WrittenSide> {
    /// Runs `body` with the settings of a file to be written. The salt of a plaintext header is written to the salt file
    /// first: a database whose salt is lost is lost. The salt file goes again when `body` did not make the database.
    ///
    /// - Parameters:
    ///   - result: the file that `body` makes or replaces.
    ///   - key: its key, which may bring the salt.
    /// - Throws: `usage` for a plaintext header without a place for its salt, and the other way round; what `body` throws.
    func withSettings<T>(for result: String, key: DatabaseKey, _ body: (CipherSettings) throws -> T) throws -> T {
        let hasHeader = (plaintextHeader ?? 0) != 0
        guard hasHeader || saltFile == nil else {
            throw Failure(
                .usage, "--salt-file goes with --plaintext-header: otherwise the salt is in the database",
                remedy: "Leave --salt-file out.")
        }
        guard !hasHeader || saltFile != nil || key.salt != nil else {
            throw Failure(
                .usage, "a plaintext header leaves no room in the database for its salt",
                remedy: "Say where to keep it: --salt-file PATH.")
        }
        guard let saltFile else { return try body(settings(salt: nil)) }
        let file = SaltFile(path: saltFile)
        let salt = key.salt ?? SaltFile.makeSalt()
        try file.write(salt)
        // An end by a signal does not come back from `body`. By then no new file can get its name any more; what has
        // the name of a file to be replaced may be the old one or the new one, and then the salt stays.
        let token = Interruption.shared.onEnd { if access(result, F_OK) != 0 { file.remove() } }
        defer { Interruption.shared.remove(token) }
        do {
            return try body(settings(salt: salt))
        } catch {
            // Some errors come after the rename; only a file that is there and needs no salt, or none, proves that this
            // salt is not needed.
            let kind = try? DatabaseFile(result).kind()
            if access(result, F_OK) != 0 || (kind != nil && kind != .plaintextHeader) { file.remove() }
            throw error
        }
    }
}
