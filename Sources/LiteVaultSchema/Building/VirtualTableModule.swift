public import LiteVaultCore

/// How a virtual table is made, for the module that makes it.
public struct VirtualTableConfiguration: Sendable {
    /// The table's name.
    public let tableName: String
    /// How it is made.
    public let options: VirtualTableOptions
}

/// A module for virtual tables whose columns and options are declared in Swift: ``FTS3``, ``FTS4`` and ``FTS5``, or one of
/// the application's own.
public protocol VirtualTableModule {
    /// What the closure of `create(virtualTable:options:using:_:)` works on.
    associatedtype TableDefinition

    /// The name after USING. It is quoted.
    var moduleName: String { get }

    /// A definition that has nothing yet.
    func makeTableDefinition(configuration: VirtualTableConfiguration) throws -> TableDefinition

    /// The arguments of the module, each as SQL text.
    func moduleArguments(for definition: TableDefinition, in connection: Connection) throws -> [String]

    /// Called after the table was made, in the same transaction.
    func database(_ connection: Connection, didCreate tableName: String, using definition: TableDefinition) throws

    /// Called in a transaction where the table was there already and `.ifNotExists` left it as it was: the place to put
    /// back what belongs to it and was lost. Does nothing by default.
    func database(_ connection: Connection, didKeep tableName: String, using definition: TableDefinition) throws
}

extension VirtualTableModule {
    /// Nothing to put back.
    public func database(_ connection: Connection, didKeep tableName: String, using definition: TableDefinition) {}
}
