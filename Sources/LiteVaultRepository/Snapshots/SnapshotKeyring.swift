internal import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultSystem

/// Which keyring is stored with a snapshot.
///
/// A keyring is ciphertext: with it, a restore needs the secret of one slot, and nothing else from the machine that was lost. Anyone who
/// can read the repository can then try to guess a passphrase of the keyring, as a thief of the database with its keyring can.
public enum SnapshotKeyring: Sendable, Equatable {
    /// The file beside the database, `.keys` after its name, if there is one; for a symbolic link to a database also the one beside the
    /// link, if the database has none.
    case besideDatabase
    /// The file at a path, which must exist.
    case file(String)
    /// None.
    case none
}

/// The keyring that a snapshot carries.
struct StoredKeyring {
    private static let magic = "litevault-keyring "

    /// The content of the file; nil without one.
    let text: String?
    /// Why the keyring beside the database is not stored.
    let warning: RepositoryWarning?

    /// Reads the keyring of a database.
    ///
    /// It has to be read while the capture has the database open. The key of a database can only be changed while nobody has it
    /// open, and a keyring has the new key before and the old one after that: so the keyring that is read has the
    /// key of the image.
    ///
    /// - Parameters:
    ///   - database: the path of the file itself.
    ///   - path: the path that was given for it, which may be a link.
    /// - Throws: for a file that was named: `noInput`, `wrongKind`, `unsupported` when it is too large, `io`.
    init(_ choice: SnapshotKeyring, of database: String, givenAs path: String) throws {
        switch choice {
        case .none: (text, warning) = (nil, nil)
        case .file(let path):
            guard let found = try Self.text(at: path) else {
                throw VaultError(.noInput, "there is no keyring", path: path, remedy: "Check the path.")
            }
            (text, warning) = (found, nil)
        case .besideDatabase:
            var (found, problem): (String?, RepositoryWarning?) = (nil, nil)
            // A database that is opened by a link has its keyring beside the link.
            let isLink = (try? FileMetadata(path: path).kind) == .symbolicLink
            for keyring in (isLink ? [database, path] : [database]).map({ $0 + ".keys" }) where problem == nil {
                do {
                    guard let next = try Self.text(at: keyring), next != found else { continue }
                    guard found != nil else {
                        found = next
                        continue
                    }
                    problem = .secondKeyring(keyring, besides: database + ".keys")
                } catch {
                    problem = .unstoredKeyring(keyring, error, besides: found == nil ? nil : database + ".keys")
                }
            }
            (text, warning) = (found, problem)
        }
    }

    /// The content of a keyring's file; nil if there is no file.
    private static func text(at path: String) throws -> String? {
        guard try withErrorContext(path: path, { try FileMetadata.ifExists(path: path, followingLinks: true) }) != nil
        else { return nil }
        let file = try LocalFile(reading: withErrorContext(path: path) { try FileMetadata.resolvedPath(path) })
        guard try file.size() <= RepositoryFormat.keyringBytes else {
            throw VaultError(
                .unsupported, "the keyring has more than \(RepositoryFormat.keyringBytes) bytes", path: path,
                remedy: "Remove slots, or older keys that no database needs.")
        }
        let bytes = try file.contents(upTo: RepositoryFormat.keyringBytes)
        // What JSON would have to escape could make the manifest too large. A keyring has none of it, but a few hundred newlines.
        guard let text = String(validating: bytes, as: UTF8.self), text.hasPrefix(magic),
            bytes.allSatisfy({ (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C || $0 == 0x0A }),
            bytes.count(where: { $0 == 0x0A }) <= 500
        else {
            throw VaultError(.wrongKind, "this is not a keyring", path: path)
        }
        return text
    }
}

extension RepositoryWarning {
    /// The notice that a keyring is not stored with a snapshot.
    ///
    /// - Parameter other: the one that is stored; nil for none.
    fileprivate static func unstoredKeyring(
        _ path: String, _ error: any Error, besides other: String?
    ) -> RepositoryWarning {
        let reason = error as? VaultError
        let advice =
            if let other {
                "The snapshot carries the keyring beside the file, \(other). If nothing needs this one, remove it."
            } else {
                "Without it, the restored database does not open: keep a copy of it elsewhere."
            }
        return RepositoryWarning(
            .notice, reason?.code ?? .io, path: path,
            message: "is not stored with the snapshot: \(reason?.message ?? "\(error)")",
            advice: .text(advice))
    }

    /// The notice that the keyring beside a link is not stored, as another one is beside the database.
    fileprivate static func secondKeyring(_ path: String, besides other: String) -> RepositoryWarning {
        RepositoryWarning(
            .notice, .wrongKind, path: path,
            message: "is not stored with the snapshot, which carries another keyring: that beside the file, \(other)",
            advice: .text("Keep one keyring of the database, or name the one to store."))
    }
}

extension Snapshot {
    /// The keyring that was stored with it: the bytes of the file; nil if there was none.
    ///
    /// It opens with the slots of its time, and has the key of the snapshot's database.
    public var keyring: [UInt8]? { manifest.keyring.map { Array($0.utf8) } }

    /// The first 16 bytes of the database: its salt, unless the first page is not encrypted.
    public var salt: [UInt8] { [UInt8](hexadecimal: manifest.salt) ?? [] }
}
