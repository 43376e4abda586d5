import Foundation
import LiteVault

/// A file with a random key. On a server this would be a systemd credential, on a phone the keychain.
enum KeyFile {
    /// Reads the key, and creates the file with a random one if it is missing.
    ///
    /// - Throws: an error of Foundation if the file cannot be read or created; `VaultError` if it holds no key.
    static func key(at path: String) throws -> DatabaseKey {
        if !FileManager.default.fileExists(atPath: path) {
            let key = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
            // Readable by nobody else from the first moment on, not only after a chmod.
            guard FileManager.default.createFile(atPath: path, contents: key, attributes: [.posixPermissions: 0o600])
            else { throw CocoaError(.fileWriteUnknown) }
        }
        // 32 bytes that are the key itself: nothing is derived, so opening takes no time.
        return try DatabaseKey.raw([UInt8](Data(contentsOf: URL(fileURLWithPath: path))))
    }
}
