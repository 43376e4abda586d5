/// The module of a virtual table, with its arguments: what follows USING.
///
/// The library has factories for ``FTS4(_:)``, ``FTS5(_:)`` and ``RTree(_:_:)``.
public struct Module: Expressible {
    private let name: SQLNode
    private let arguments: [SQLNode]

    /// A module of one's own, or another that is built into the engine.
    ///
    /// - Parameters:
    ///   - name: its name, which is quoted.
    ///   - arguments: its arguments, in order.
    public init(_ name: String, _ arguments: [any Expressible]) {
        self.name = .identifier(name)
        self.arguments = arguments.map(\.node)
    }

    /// A module of the engine, by its plain name.
    init(builtIn name: String, _ arguments: [SQLNode]) {
        self.name = .text(name)
        self.arguments = arguments
    }

    /// `name(arguments)`
    public var expression: SQLExpression<Void> {
        SQLExpression(root: .joined([name, .wrapped("", .joined(arguments, separator: ", "))], separator: ""))
    }
}
