internal import CBaseline
internal import GRDB
internal import LiteVault

private struct Author: FetchableRecord, TableRecord, Decodable {
    static let databaseTableName = "author"
    static let books = hasMany(Book.self)
    let id: Int64
    let name: String
}

private struct Book: FetchableRecord, TableRecord, Decodable {
    static let databaseTableName = "book"
    let id: Int64
    let authorID: Int64
    let title: String
    let pages: Int64?
    enum CodingKeys: String, CodingKey {
        case id, title, pages
        case authorID = "author_id"
    }
}

private struct AuthorWithBooks: FetchableRecord, Decodable {
    let author: Author
    let books: [Book]
}

/// 1000 records with 10 children each: two statements. One operation is a parent with its children.
func fetchChildren(scale: Int) throws -> Workload {
    let parents = 1000 * scale
    let databases = try Databases(
        """
        \(Schema.scripts.map(\.sql).joined(separator: "\n"))
        \(numbers(parents)) INSERT INTO author SELECT i, 'author ' || i FROM n;
        \(numbers(parents * 10)) INSERT INTO book SELECT i, i % \(parents) + 1, 'a book with the title ' || i,
        CASE i % 4 WHEN 0 THEN NULL ELSE i % 900 END FROM n
        """)
    let (baseline, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    let authors = "SELECT id, name FROM author"
    let books = "SELECT id, author_id, title, pages FROM book"
    let keys = repeatElement("?", count: parents).joined(separator: ", ")
    return Workload(
        count: parents, bar: 1.3,
        implementations: [
            Implementation("C, two statements", .c) { stopwatch in
                stopwatch.measure { baseline_authors(baseline, authors, "\(books) WHERE author_id IN (\(keys))") }
            },
            Implementation("LiteVault including", .liteVault) { stopwatch in
                try stopwatch.measure {
                    var sum: Int64 = 0
                    for (author, books) in try AuthorRow.including(AuthorRow.bookRows).all(db) {
                        sum &+= (author.id ?? 0) &+ Int64(author.name.utf8.count)
                        for book in books {
                            sum &+= (book.id ?? 0) &+ book.authorId &+ Int64(book.title.utf8.count) &+ (book.pages ?? 0)
                        }
                    }
                    return sum
                }
            },
            Implementation("C, all children in the order of their parents", .other) { stopwatch in
                stopwatch.measure { baseline_authors(baseline, authors, "\(books) ORDER BY author_id") }
            },
            Implementation("C, children of a subquery", .other) { stopwatch in
                stopwatch.measure {
                    baseline_authors(baseline, authors, "\(books) WHERE author_id IN (SELECT id FROM author)")
                }
            },
            Implementation("GRDB including(all:)", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    try stopwatch.measure {
                        var sum: Int64 = 0
                        let request = Author.including(all: Author.books).asRequest(of: AuthorWithBooks.self)
                        for row in try request.fetchAll(grdb) {
                            sum &+= row.author.id &+ Int64(row.author.name.utf8.count)
                            for book in row.books {
                                sum &+= book.id &+ book.authorID &+ Int64(book.title.utf8.count) &+ (book.pages ?? 0)
                            }
                        }
                        return sum
                    }
                }
            },
        ])
}
