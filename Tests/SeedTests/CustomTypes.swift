import Foundation
import SQLite
import Testing

/// What conforming takes: the protocol as the documentation has it, for a type of one's own.
private struct Color: Value, Equatable {
    typealias Datatype = Int64
    var rgb: Int64
    static var declaredDatatype: String { Int64.declaredDatatype }
    static func fromDatatypeValue(_ datatypeValue: Int64) -> Color { Color(rgb: datatypeValue) }
    var datatypeValue: Int64 { rgb }
}

/// In place of UIKit's image.
private final class UIImage: Sendable {
    let png: Data
    init?(data: Data) { png = data }
}

private func UIImagePNGRepresentation(_ image: UIImage) -> Data? { image.png }

extension UIImage: Value {
    public class var declaredDatatype: String {
        return Blob.declaredDatatype
    }
    public class func fromDatatypeValue(_ blobValue: Blob) -> UIImage {
        return UIImage(data: Data.fromDatatypeValue(blobValue))!
    }
    public var datatypeValue: Blob {
        return UIImagePNGRepresentation(self)!.datatypeValue
    }

}

@Suite struct CustomTypeSeeds {
    // seeds 000:1798 001:1050 002:376 003:1050
    @Test func `a custom type is stored and read`() throws {
        let db = try Connection()
        let shades = Table("shades")
        let color = Expression<Color>("color")
        try db.run(shades.create { t in t.column(color) })
        try db.run(shades.insert(color <- Color(rgb: 0xff_00_00)))
        #expect(try db.scalar(shades.select(color)) == Color(rgb: 0xff_00_00))
        #expect(try db.scalar(shades.filter(color == Color(rgb: 1)).count) == 0)
    }

    // seeds 000:1823 001:1067 002:834 002:841 003:1069
    @Test func `dates are text, and are compared`() throws {
        let db = try Sample().db
        let published_at = Expression<Date>("published_at")
        let now = Date(timeIntervalSince1970: 1_416_314_730)

        do {
            let published = posts.filter(published_at <= now)
            expectSQL(
                published, #"SELECT * FROM "posts" WHERE "published_at" <= '2014-11-18T12:45:30.000'"#,
                really: #"SELECT * FROM "posts" WHERE ("published_at" <= '2014-11-18T12:45:30.000')"#)
            #expect(try db.prepareRowIterator(published).map { $0[id] } == [10])
        }
        let startDate = Date(timeIntervalSince1970: 0)
        let published = posts.filter(startDate...now ~= published_at)
        expectSQL(
            published,
            #"SELECT * FROM "posts" WHERE ("published_at" BETWEEN '1970-01-01T00:00:00.000' AND '2014-11-18T12:45:30.000')"#)
        #expect(try db.prepareRowIterator(published).map { $0[id] } == [10])
        #expect(try db.scalar(posts.filter(published_at <= Date()).count) == 1)
    }

    // seeds 000:1840 001:1080 002:645 003:1084
    @Test func `binary data is stored as a blob`() throws {
        let db = try Connection()
        let pictures = Table("pictures")
        let image = Expression<UIImage>("image")
        let make = pictures.create { t in t.column(image) }
        try db.run(make)
        expectSQL(make, #"CREATE TABLE "pictures" ("image" BLOB NOT NULL)"#)
        let png = Data([0x89, 0x50, 0x4e, 0x47])
        try db.run(pictures.insert(image <- UIImage(data: png)!))
        #expect(try db.pluck(pictures)?[image].png == png)
    }
}
