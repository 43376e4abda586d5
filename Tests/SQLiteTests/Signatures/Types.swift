import Foundation
import SQLite
import Testing

@Suite struct TypeSignatures {
    @Test func `raw values are those of SQLite swift`() {
        let files: [URIQueryParameter.FileMode] = [.readOnly, .readWrite, .readWriteCreate, .memory]
        #expect(files.map(\.rawValue) == ["ro", "rw", "rwc", "memory"])
        let caches: [URIQueryParameter.CacheMode] = [.shared, .private]
        #expect(caches.map(\.rawValue) == ["shared", "private"])
        let dependencies: [TableBuilder.Dependency] = [.noAction, .restrict, .setNull, .setDefault, .cascade]
        #expect(dependencies.map(\.rawValue) == ["NO ACTION", "RESTRICT", "SET NULL", "SET DEFAULT", "CASCADE"])
        let pages: [Backup.Pages] = [.all, .limited(number: 1)]
        #expect(pages.count == 2)
        let keys: [PrimaryKey] = [.default, .autoincrement]
        #expect(Set(keys).count == 2)
    }

    @Test func `types have the conformances of SQLite swift`() {
        func described<T: CustomStringConvertible>(_: T.Type) {}
        func sent<T: Sendable>(_: T.Type) {}
        func equal<T: Equatable>(_: T.Type) {}
        func expressible<T: Expressible>(_: T.Type) {}
        func value<T: Value>(_: T.Type) {}
        func expression<T: ExpressionType>(_: T.Type) {}
        func failing<T: Error>(_: T.Type) {}
        func iterating<T: FailableIterator>(_: T.Type) {}
        described(Connection.self)
        described(Connection.Location.self)
        described(Statement.self)
        described(Blob.self)
        described(Setter.self)
        described(Collation.self)
        described(Tokenizer.self)
        described(SQLiteVersion.self)
        described(LiteralValue.self)
        described(ForeignKeyError.self)
        described(SchemaChanger.self)
        described(SQLite.Result.self)
        described(QueryError.self)
        described(ColumnDefinition.Affinity.self)
        sent(Blob.self)
        sent(Setter.self)
        sent(Row.self)
        sent(QueryClauses.self)
        sent(Module.self)
        sent(DateFunctions.self)
        sent(SQLiteVersion.self)
        sent(Expression<Int>.self)
        equal(Blob.self)
        equal(ObjectDefinition.self)
        equal(ColumnDefinition.self)
        equal(ColumnDefinition.PrimaryKey.self)
        equal(ColumnDefinition.ForeignKey.self)
        equal(IndexDefinition.self)
        equal(LiteralValue.self)
        equal(PrimaryKey.self)
        expressible(Setter.self)
        expressible(Module.self)
        expressible(Collation.self)
        expressible(Int.self)
        expressible(Date.self)
        value(Data.self)
        value(URL.self)
        value(Bool.self)
        expression(Select<Int>.self)
        expression(Insert.self)
        expression(Update.self)
        expression(Delete.self)
        failing(QueryError.self)
        failing(SQLite.Result.self)
        failing(SchemaChanger.Error.self)
        iterating(Statement.self)
        iterating(RowIterator.self)
        let definitions: [Any.Type] = [
            SchemaChanger.AlterTableDefinition.self, SchemaChanger.CreateTableDefinition.self, Backup.DatabaseName.self,
            FTSConfig.self, UserVersion.self, Star.self,
        ]
        #expect(definitions.count == 6)
    }
}
