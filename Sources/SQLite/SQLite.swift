// The drop-in face: a project that was written for SQLite.swift swaps the package and keeps its sources. It holds names, and
// what only compatibility needs; everything else is LiteVault itself.

@_exported public import LiteVaultCipher
@_exported public import LiteVaultCore
// SQLITE_CONSTRAINT and its like, from the engine's own header.
@_exported public import LiteVaultEngine
@_exported public import LiteVaultPool
@_exported public import LiteVaultQuery
@_exported public import LiteVaultSchema

/// The typed expression, by the name it has in SQLite.swift.
public typealias Expression<Datatype> = SQLExpression<Datatype>

/// The error that the engine reported, by the name it has in SQLite.swift.
public typealias Result = DatabaseError
