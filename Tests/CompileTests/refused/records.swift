// Records: keys and columns of another type, columns and relations that are not there, tables without a key.
import LiteVault

struct Author: Record, Sendable {
    var id: Int64?
    var name: String
    static let name = SQLExpression<String>("name")
    static let table = RecordTable<Author>("author", [.rowID("id", \.id), "name"])
    static let books: Relation<Author, [Book]> = .hasMany(Book.authorID)
    var primaryKey: Int64? { id }
    init(row: inout RecordReader) throws { (id, name) = (try row.next(), try row.next()) }
    func write(to row: inout RecordWriter) {
        row.bind(id)
        row.bind(name)
    }
}

struct Book: Record, Sendable {
    var title: String
    var authorID: Int64
    static let title = SQLExpression<String>("title")
    static let authorID = SQLExpression<Int64>("authorID")
    static let table = RecordTable<Book>("book", ["title", "authorID"])
    static let author: Relation<Book, Author> = .belongsTo(authorID)
    init(row: inout RecordReader) throws { (title, authorID) = (try row.next(), try row.next()) }
    func write(to row: inout RecordWriter) {
        row.bind(title)
        row.bind(authorID)
    }
}

func keyOfAnotherType(db: Connection) throws -> Author { try Author.find(db, "one") }  // refused
func keysOfAnotherType(db: Connection) throws -> [Author] { try Author.find(db, ["one"]) }  // refused
func findWithoutKey(db: Connection) throws -> Book { try Book.find(db, 1) }  // refused
func updateWithoutKey(db: Connection, book: inout Book) throws { try book.update(db) }  // refused
func deleteWithoutKey(db: Connection, book: Book) throws { try book.delete(db) }  // refused
func columnThatIsGone() -> RecordQuery<Book> { Book.filter(Book.year == 1900) }  // refused
func conditionOfAnotherType() -> RecordQuery<Book> { Book.filter(Book.title == 1) }  // refused
func propertyThatIsGone(book: Book) -> Int { book.year }  // refused
func columnWithoutProperty() -> RecordTable<Author>.Column { .rowID("id", \.number) }  // refused
func numberOfAnotherType() -> RecordTable<Author>.Column { .rowID("name", \.name) }  // refused
func relationThatIsNotThere() -> RecordRows<(Author, [Book])> { Author.including(Author.novels) }  // refused
func relationOfAnotherRecord() -> RecordRows<(Author, Author)> { Author.including(Book.author) }  // refused
func joinOfMany() -> RecordRows<(Author, [Book])> { Author.joining(Author.books) }  // refused
func keyThatDoesNotFit() -> Relation<Book, Author> { .belongsTo(Book.title) }  // refused
func manyThatIsOne() -> Relation<Author, Book> { .hasMany(Book.authorID) }  // refused
func updateConstant(db: Connection, author: Author) throws { try author.update(db) }  // refused
