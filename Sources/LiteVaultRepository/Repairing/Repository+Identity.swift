internal import Crypto
internal import Foundation
internal import LiteVaultCapture

extension Repository {
    /// Puts `repository.json` back where it is damaged or missing: as it was when one byte of it changed, from what this machine
    /// remembers of it, or, in a repository without a secret, from the manifests. Without it nothing can be opened.
    ///
    /// - Parameters:
    ///   - store: where the repository is.
    ///   - secret: its secret; without the one that it has, nothing is put back.
    ///   - local: folders of this machine.
    ///   - dryRun: only tell.
    /// - Returns: what was done; nil where it is whole, or where there is no repository.
    /// - Throws: ``BackupError`` `damaged` when nothing tells what it was, `keyRejected`, `io`.
    public static func restoreIdentity(
        _ store: any ObjectStore, secret: RepositorySecret? = nil, local: LocalFolders = .standard, dryRun: Bool = false
    ) async throws -> RepairReport.Action? {
        let name = RepositoryFormat.config
        var bytes: [UInt8]?
        do {
            let found = try await store.get(name, upTo: SealedDocument.limit(RepositoryConfig.self))
            if isWhole(found) {
                // Its code may be what is damaged. If it is far from the right one, the secret is wrong: opening it says so.
                guard secret != nil, let right = try sealed(found, secret), right != found else { return nil }
            }
            bytes = found
        } catch let error as BackupError where error.code == .missing {
            if try await store.list("snapshots/").isEmpty { return nil }
        }
        let candidates = [bytes.flatMap(DocumentSalvage.line), LocationMemory(store, local)?.document()]
        var whole: [UInt8]?
        for candidate in candidates where whole == nil {
            whole = try candidate.flatMap { try sealed($0, secret) }
        }
        if whole == nil, secret == nil { whole = try await rebuilt(store) }
        guard let whole else {
            throw BackupError(
                .damaged, "nothing tells any more what it was", path: name,
                remedy: "Bring it back from a copy of the repository, or repair it on a machine that has used it.")
        }
        if !dryRun {
            if let bytes { try await keep(bytes, of: name, store) }
            try await store.put(name, bytes: whole, condition: .none)
        }
        return RepairReport.Action(
            kind: .restored, path: name, reason: bytes == nil ? "is missing" : "is damaged",
            movedTo: bytes == nil ? nil : "damaged/" + name)
    }

    private static func isWhole(_ bytes: [UInt8]) -> Bool {
        guard let document = try? SealedDocument(whole: bytes, name: RepositoryFormat.config) else { return false }
        return (try? document.decode(RepositoryConfig.self, name: RepositoryFormat.config)) != nil
    }

    /// The document of a line, sealed again; nil for a line that says no repository, or that the seal behind it does not prove.
    ///
    /// - Parameter bytes: the line and its seal. The line's hash fits, or its code but for a few digits.
    private static func sealed(_ bytes: [UInt8], _ secret: RepositorySecret?) throws -> [UInt8]? {
        // What is behind the line may be a code that is damaged.
        guard let document = try? SealedDocument(bytes, name: RepositoryFormat.config),
            let config = try? document.decode(RepositoryConfig.self, name: RepositoryFormat.config),
            (try? config.require(location: "")) != nil
        else { return nil }
        guard let derivation = config.secret else { return secret == nil && isWhole(bytes) ? bytes : nil }
        guard let secret else {
            throw BackupError(
                .keyRejected, "the repository has a secret, and none was given", path: RepositoryFormat.config,
                remedy: "Give it with --repository-secret-file or another --repository-secret-… option.")
        }
        return DocumentSalvage.document(bytes, key: try secret.key(derivation))
    }

    /// What the manifests tell: all of one repository, and none with an authentication code.
    private static func rebuilt(_ store: any ObjectStore) async throws -> [UInt8]? {
        var ids: Set<String> = []
        var created: String?
        for object in try await store.list("snapshots/").prefix(1000) where RepositoryFormat.isObject(object.name) {
            guard let bytes = try? await store.get(object.name, upTo: SealedDocument.limit(Manifest.self)),
                let document = try? SealedDocument(whole: bytes, name: object.name),
                let manifest = try? document.decode(Manifest.self, name: object.name)
            else { continue }
            if document.isAuthenticated { return nil }
            ids.insert(manifest.repository)
            created = min(created ?? manifest.time, manifest.time)
        }
        guard ids.count == 1, let id = ids.first, RepositoryFormat.isIdentifier(id), let created else { return nil }
        return try SealedDocument.seal(RepositoryConfig(id: id, created: created, secret: nil), key: nil).bytes
    }

    private static func keep(_ bytes: [UInt8], of name: String, _ store: any ObjectStore) async throws {
        for number in 1...100 {
            let target = "damaged/" + name + (number == 1 ? "" : ".\(number)")
            if try await store.attributes(target) == nil {
                try await store.put(target, bytes: bytes, condition: .none)
                return
            }
            if try await store.get(target) == bytes { return }
        }
        throw BackupError(.cannotCreate, "there are too many objects of that name", path: "damaged/" + name)
    }
}
