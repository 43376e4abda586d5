/// A change of the schema that would lose something or leave something broken. Nothing was changed.
public struct SchemaChangeRefused: Error, CustomStringConvertible, Sendable, Equatable {
    /// What was asked for and what stands against it.
    public let description: String

    init(_ description: String) { self.description = description }
}
