import LiteVaultCore
import LiteVaultSchema
import Testing

/// Expects `body` to throw this error: its code, message, path and remedy.
func expectError(
    _ expected: VaultError, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) {
    let error = #expect(throws: VaultError.self, sourceLocation: sourceLocation, performing: body)
    #expect(error?.code == expected.code, sourceLocation: sourceLocation)
    #expect(error?.description == expected.description, sourceLocation: sourceLocation)
}

extension VaultError {
    /// The migration that the error is about.
    var failure: Migrator.Failure? { cause as? Migrator.Failure }

    /// The rows without parents that a migration left.
    var violations: [ForeignKeyError]? { (failure?.underlyingError as? SchemaReader.ViolatedForeignKeys)?.rows }
}
