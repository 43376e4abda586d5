// The drop-in face: a project written for SQLite.swift swaps the package and keeps its sources. It exports
// SQLite.swift's names, one by one, operators, and the few types that calls throw or that LiteVault's documentation of
// it mentions. Other names of LiteVault stay out of the way: a project may have a `Column`, a `Migrator` or a
// `setUserVersion` of its own, in as many modules as it likes. Members stay visible; those of a client's module take
// precedence.

// SQLITE_CONSTRAINT and similar constants, from the engine's own header.
@_exported public import LiteVaultEngine
@_exported public import LiteVaultOperators

@_exported public import class LiteVaultCore.Backup
@_exported public import protocol LiteVaultCore.Binding
@_exported public import struct LiteVaultCore.Blob
@_exported public import class LiteVaultCore.Connection
@_exported public import enum LiteVaultCore.DateText
@_exported public import struct LiteVaultCore.EngineInfo
@_exported public import protocol LiteVaultCore.Number
@_exported public import enum LiteVaultCore.QueryError
@_exported public import struct LiteVaultCore.Row
@_exported public import struct LiteVaultCore.SQLiteVersion
@_exported public import class LiteVaultCore.Statement
@_exported public import struct LiteVaultCore.VaultError
@_exported public import protocol LiteVaultQuery._OptionalType
@_exported public import typealias LiteVaultQuery._Star
@_exported public import func LiteVaultQuery.cast
@_exported public import func LiteVaultQuery.collate
@_exported public import enum LiteVaultQuery.Collation
@_exported public import func LiteVaultQuery.count
@_exported public import func LiteVaultQuery.cumeDist
@_exported public import class LiteVaultQuery.DateFunctions
@_exported public import struct LiteVaultQuery.Delete
@_exported public import func LiteVaultQuery.denseRank
@_exported public import protocol LiteVaultQuery.Expressible
@_exported public import protocol LiteVaultQuery.ExpressionType
@_exported public import struct LiteVaultQuery.Insert
@_exported public import enum LiteVaultQuery.JoinType
@_exported public import func LiteVaultQuery.ntile
@_exported public import enum LiteVaultQuery.OnConflict
@_exported public import func LiteVaultQuery.percentRank
@_exported public import struct LiteVaultQuery.QueryClauses
@_exported public import protocol LiteVaultQuery.QueryType
@_exported public import func LiteVaultQuery.rank
@_exported public import let LiteVaultQuery.rowid
@_exported public import func LiteVaultQuery.rowNumber
@_exported public import struct LiteVaultQuery.ScalarQuery
@_exported public import protocol LiteVaultQuery.SchemaType
@_exported public import struct LiteVaultQuery.Select
@_exported public import struct LiteVaultQuery.Setter
@_exported public import struct LiteVaultQuery.Table
@_exported public import struct LiteVaultQuery.Tokenizer
@_exported public import struct LiteVaultQuery.Update
@_exported public import protocol LiteVaultQuery.Value
@_exported public import struct LiteVaultQuery.View
@_exported public import struct LiteVaultQuery.VirtualTable
@_exported public import struct LiteVaultSchema.ColumnDefinition
@_exported public import struct LiteVaultSchema.ForeignKeyError
@_exported public import struct LiteVaultSchema.IndexDefinition
@_exported public import enum LiteVaultSchema.LiteralValue
@_exported public import struct LiteVaultSchema.ObjectDefinition
@_exported public import class LiteVaultSchema.SchemaReader
@_exported public import struct LiteVaultSchema.TableDefinition

public import enum LiteVaultCore.DatabaseError
public import struct LiteVaultQuery.SQLExpression

// Declared once more, because the compiler does not look for operators in what a module exports again where a file has
// `import struct SQLite.Expression` beside `import SQLite`.

infix operator <- : ColumnAssignment
postfix operator ++
postfix operator --

/// The typed expression, by the name it has in SQLite.swift.
public typealias Expression<Datatype> = SQLExpression<Datatype>

/// The error that the engine reported, by the name it has in SQLite.swift.
public typealias Result = DatabaseError

/// A parameter of a database URI, by the name it has in SQLite.swift.
public typealias URIQueryParameter = Connection.Location.QueryParameter

/// What the linked engine is too old for, or was built without.
public typealias UnsupportedFeature = EngineInfo.UnsupportedFeature

/// Whether a common table expression is computed once, by the name it has in SQLite.swift.
public typealias MaterializationHint = Table.MaterializationHint

/// The type of `*` in `select(*)` and `count(*)`, by the name it has in SQLite.swift.
public typealias Star = _Star
