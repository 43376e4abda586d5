internal import LiteVaultCore
public import LiteVaultQuery

/// How the rows of one record's table belong to those of another's. The second type tells how many there are.
///
/// ```swift
/// extension Book {
///     static let author: Relation<Book, Author> = .belongsTo(Book.authorID)
///     static let translator: Relation<Book, Author?> = .belongsTo(Book.translatorID)
/// }
/// extension Author {
///     static let books: Relation<Author, [Book]> = .hasMany(Book.authorID)
/// }
///
/// for (author, books) in try Author.including(Author.books).all(db) { … }            // two statements
/// for (book, author) in try Book.joining(Book.author).all(db) { … }                 // one statement
/// let prolific = try Author.filter(Author.books.count > 10).all(db)
/// ```
///
/// A relation can be restricted and sorted: `Author.books.filter(Book.year > 2000).order(Book.title)`. See <doc:Relations>.
public struct Relation<Origin: Record, Value: RelatedValue>: Sendable {
    /// The steps from the origin's table to the destination's, which is the last one's.
    let steps: [RelationStep]
    /// What is wrong with the columns that the relation was declared with.
    var problem: VaultError?
    /// The destination's rows, and their order.
    var scope = RecordQuery<Value.RelatedRecord>()

    /// Only the rows that meet a condition on columns of the destination.
    public func filter(_ condition: SQLExpression<Bool>) -> Relation { scoped { $0.filter(condition) } }

    /// Only the rows that meet a condition on columns of the destination. NULL does not meet it.
    public func filter(_ condition: SQLExpression<Bool?>) -> Relation { scoped { $0.filter(condition) } }

    /// The rows in an order of columns of the destination.
    public func order(_ by: any Expressible...) -> Relation { scoped { $0.order(by) } }

    private func scoped(
        _ change: (RecordQuery<Value.RelatedRecord>) -> RecordQuery<Value.RelatedRecord>
    ) -> Relation {
        var relation = self
        relation.scope = change(scope)
        return relation
    }
}

/// A way from a table to the next one.
struct RelationStep: Sendable {
    let from: [String]
    /// The columns of this table with the same values.
    let to: [String]
    let table: String
    let database: String?
}

// MARK: Declaring

extension Relation {
    /// The columns of a table that refer to a row of another one.
    ///
    /// - Parameters:
    ///   - columns: of table `R`.
    ///   - references: the other table's; its primary key by default.
    private static func matched<R: Record, Other: Record>(
        _ columns: [any Expressible], of type: R.Type, _ references: [any Expressible], of other: Other.Type
    ) -> (columns: [String], references: [String], problem: VaultError?) {
        do {
            let names = try R.names(of: columns)
            let others = references.isEmpty ? Other.table.primaryKey : try Other.names(of: references)
            guard names.count == others.count, !names.isEmpty else {
                throw VaultError(
                    .conformance,
                    "The relation of '\(R.table.name)' to '\(Other.table.name)' has \(names.count) columns for "
                        + "\(others.count) referenced ones",
                    remedy: "Name one column for each referenced column.")
            }
            return (names, others, nil)
        } catch {
            return ([], [], error as? VaultError)
        }
    }

    private static func belonging(_ columns: [any Expressible], _ references: [any Expressible]) -> Relation {
        let destination = Value.RelatedRecord.table
        let names = matched(columns, of: Origin.self, references, of: Value.RelatedRecord.self)
        let step = RelationStep(
            from: names.columns, to: names.references, table: destination.name, database: destination.database)
        return Relation(steps: [step], problem: names.problem)
    }

    private static func having(_ columns: [any Expressible], _ references: [any Expressible]) -> Relation {
        let destination = Value.RelatedRecord.table
        let names = matched(columns, of: Value.RelatedRecord.self, references, of: Origin.self)
        let step = RelationStep(
            from: names.references, to: names.columns, table: destination.name, database: destination.database)
        return Relation(steps: [step], problem: names.problem)
    }

    private static func through<Pivot: RelatedValue, End: RelatedValue>(
        _ first: Relation<Origin, Pivot>, _ second: Relation<Pivot.RelatedRecord, End>
    ) -> Relation where End.RelatedRecord == Value.RelatedRecord {
        Relation(
            steps: first.steps + second.steps, problem: first.problem ?? second.problem ?? first.scopeProblem,
            scope: second.scope)
    }

    private var scopeProblem: VaultError? {
        guard scope.clauses.condition == nil else {
            return VaultError(
                .conformance, "The relation of '\(Origin.table.name)' leads through one that has a filter",
                remedy: "Filter the relation to the destination instead.")
        }
        guard scope.clauses.order.isEmpty else {
            return VaultError(
                .conformance, "The relation of '\(Origin.table.name)' leads through one that has an order",
                remedy: "Order the relation to the destination instead.")
        }
        return nil
    }
}

extension Relation where Value: Record {
    /// A row refers to exactly one of the other table: its foreign key is NOT NULL.
    ///
    /// - Parameters:
    ///   - column: the foreign key, a column of the origin.
    ///   - reference: the column that it refers to, where that is not the primary key.
    public static func belongsTo(_ column: SQLExpression<Value.PrimaryKey>) -> Relation { belonging([column], []) }

    /// A row refers to exactly one of the other table by a column that is not its primary key.
    public static func belongsTo<V>(_ column: SQLExpression<V>, references reference: SQLExpression<V>) -> Relation {
        belonging([column], [reference])
    }

    /// A row refers to exactly one of the other table by several columns, in the order of the other table's key.
    public static func belongsTo(_ columns: [any Expressible], references: [any Expressible] = []) -> Relation {
        belonging(columns, references)
    }

    /// A row has exactly one of the other table, which refers to it.
    public static func hasOne(_ column: SQLExpression<Origin.PrimaryKey>) -> Relation { having([column], []) }
}

extension Relation {
    /// A row refers to one of the other table, or to none: its foreign key may be NULL.
    public static func belongsTo<D: Record>(_ column: SQLExpression<D.PrimaryKey?>) -> Relation where Value == D? {
        belonging([column], [])
    }

    /// A row refers to one of the other table by a column that is not its primary key, or to none.
    public static func belongsTo<D: Record, V>(
        _ column: SQLExpression<V?>, references reference: SQLExpression<V>
    ) -> Relation where Value == D? { belonging([column], [reference]) }

    /// A row refers to one of the other table by several columns, or to none.
    public static func belongsTo<D: Record>(
        _ columns: [any Expressible], references: [any Expressible] = []
    ) -> Relation where Value == D? { belonging(columns, references) }

    /// At most one row of the other table refers to this one: its foreign key is unique, and may be NULL.
    public static func hasOne<D: Record, Key: SQLType>(_ column: SQLExpression<Key>) -> Relation
    where Value == D?, Key.SQLBase == Origin.PrimaryKey { having([column], []) }

    /// At most one row of the other table refers to this one by several columns.
    public static func hasOne<D: Record>(
        _ columns: [any Expressible], references: [any Expressible] = []
    ) -> Relation where Value == D? { having(columns, references) }

    /// The one row at the end of two relations to one row each, or none.
    public static func hasOne<D: Record, Pivot: RelatedValue, End: RelatedValue>(
        through first: Relation<Origin, Pivot>, _ second: Relation<Pivot.RelatedRecord, End>
    ) -> Relation where Value == D?, End.RelatedRecord == D { through(first, second) }

    /// Any number of rows of the other table refer to this one.
    ///
    /// - Parameter column: the foreign key, a column of the destination, which may be NULL.
    public static func hasMany<D: Record, Key: SQLType>(_ column: SQLExpression<Key>) -> Relation
    where Value == [D], Key.SQLBase == Origin.PrimaryKey { having([column], []) }

    /// Any number of rows of the other table refer to this one by several columns, or to other columns than its primary key.
    public static func hasMany<D: Record>(
        _ columns: [any Expressible], references: [any Expressible] = []
    ) -> Relation where Value == [D] { having(columns, references) }

    /// The rows at the end of two relations: the tags of a note, through a table of pairs.
    ///
    /// A row that can be reached in several ways is there several times.
    ///
    /// - Parameters:
    ///   - first: leads to the table in between. It must have neither a filter nor an order: reading throws `conformance` then.
    ///   - second: leads from there to the destination. Its filter and order apply.
    public static func hasMany<D: Record, Pivot: RelatedValue, End: RelatedValue>(
        through first: Relation<Origin, Pivot>, _ second: Relation<Pivot.RelatedRecord, End>
    ) -> Relation where Value == [D], End.RelatedRecord == D { through(first, second) }
}
