internal import Foundation
internal import LiteVaultCapture

/// What `repository.json` says: which repository this is, and who may read and write it.
struct RepositoryConfig: CheckedDocument, Sendable {
    /// How the authentication key comes from the secret.
    struct Derivation: Codable, Sendable, Equatable {
        var kdf: String
        var iterations: Int
        var salt: String
    }

    var type = "repository"
    /// The version that wrote it.
    var format = RepositoryFormat.version
    /// The oldest version that can read it, and that may write into it.
    var minReader = 1
    var minWriter = 1
    /// What a reader has to know; unknown ones are refused.
    var features: [String] = []
    /// 32 hexadecimal digits.
    var id: String
    var created: String
    /// Absent where there is no secret.
    var secret: Derivation?

    static let byteLimit = RepositoryFormat.documentBytes

    /// What a newer version may have changed is for ``require(location:)`` to tell.
    func check() throws(OutOfLimits) {
        try require("id", id, digits: 32)
        try require("iterations", secret?.iterations, in: 1...Int(UInt32.max))
    }

    /// A new repository.
    static func new(secret: RepositorySecret?, iterations: Int) -> RepositoryConfig {
        let derivation = secret.map { secret in
            Derivation(
                kdf: "pbkdf2-hmac-sha256", iterations: secret.form == .raw ? 1 : iterations, salt: PackID().hex)
        }
        return RepositoryConfig(id: PackID().hex, created: Timestamp.text(Date()), secret: derivation)
    }

    /// - Throws: ``BackupError`` `unsupported` for a repository of a newer version, `damaged` for what is none.
    func require(location: String) throws {
        guard type == "repository", let id = [UInt8](hex: id), id.count == 16 else {
            throw BackupError(.damaged, "is not a repository", path: location)
        }
        guard minReader <= RepositoryFormat.version, features.isEmpty else {
            throw BackupError(
                .unsupported, "the repository has format \(minReader)\(features.map { ", \($0)" }.joined())",
                path: location, remedy: "Use a newer litevault.")
        }
    }
}
