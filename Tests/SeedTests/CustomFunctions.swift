import Foundation
import SQLite
import Testing

/// In place of MobileCoreServices.
private func UTTypeConformsTo(_ UTI: String, _ conformsToUTI: String) -> Bool {
    UTI == conformsToUTI || (UTI == "public.png" && conformsToUTI == kUTTypeImage)
}
private let kUTTypeImage = "public.image"

@Suite struct CustomFunctionSeeds {
    let db: Connection
    let attachments = Table("attachments")
    let UTI = Expression<String>("UTI")

    init() throws {
        db = try Connection()
        try db.execute("CREATE TABLE attachments (UTI TEXT); INSERT INTO attachments VALUES ('public.png'), ('public.text')")
    }

    // seeds 000:2065 001:1228 003:1250 000:2081 001:1240 003:1264 000:2088 001:1244 003:1270 000:2095
    // seeds 001:1248 003:1276
    @Test func `a typed function is defined, and filters`() throws {
        let typeConformsTo: (Expression<String>, Expression<String>) -> Expression<Bool> = (
            try db.createFunction("typeConformsTo", deterministic: true) { UTI, conformsToUTI in
                return UTTypeConformsTo(UTI, conformsToUTI)
            }
        )
        let images = attachments.filter(typeConformsTo(UTI, Expression<String>(value: kUTTypeImage)))
        expectSQL(images, #"SELECT * FROM "attachments" WHERE "typeConformsTo"("UTI", 'public.image')"#)
        #expect(try db.prepareRowIterator(images).map { $0[UTI] } == ["public.png"])
        let block: (String, String) -> Bool = UTTypeConformsTo
        let again = try db.createFunction("again", block)
        #expect(try db.scalar(attachments.filter(again(UTI, UTI)).count) == 2)
    }

    // seeds 000:2109 001:1258 003:1288 000:2119 001:1265 002:1249 003:1297 000:2126 001:1270 002:1254
    @Test func `a function is defined by its arguments, and called in SQL`() throws {
        db.createFunction("typeConformsTo", deterministic: true) { args in
            guard let UTI = args[0] as? String, let conformsToUTI = args[1] as? String else { return nil }
            return UTTypeConformsTo(UTI, conformsToUTI)
        }
        var found: [String] = []
        let stmt = try db.prepare("SELECT * FROM attachments WHERE typeConformsTo(UTI, ?)")
        for row in stmt.bind(kUTTypeImage) { found.append(row[0] as? String ?? "") }
        #expect(found == ["public.png"])

        final class SomeObject { var statement: Statement! }
        let someObj = SomeObject()
        someObj.statement = try db.prepare("SELECT * FROM attachments WHERE typeConformsTo(UTI, ?)")
        for row in someObj.statement.bind(kUTTypeImage) { found.append(row[0] as? String ?? "") }
        someObj.statement.reset()
        #expect(found == ["public.png", "public.png"])
    }

    // seeds 000:2138 001:1278 003:1306
    @Test func `an aggregate reduces the rows`() throws {
        try db.execute("CREATE TABLE users (email TEXT); INSERT INTO users VALUES ('a@x'), ('b@x')")
        let reduce: (String, [Binding?]) -> String = { (last, bindings) in
            last + " " + (bindings.first as? String ?? "")
        }

        db.createAggregation("customConcat", initialValue: "", reduce: reduce, result: { $0 })
        let result = try db.prepare("SELECT customConcat(email) FROM users").scalar() as! String
        #expect(result == " a@x b@x")
    }

    // seeds 000:2154 001:1289 002:1022 003:1319 000:2163 001:1295 002:1187 003:1327
    @Test func `a collation compares`() throws {
        try db.createCollation("NODIACRITIC") { lhs, rhs in
            return lhs.compare(rhs, options: .diacriticInsensitive)
        }
        let restaurants = Table("restaurants")
        let name = Expression<String>("name")
        try db.execute("CREATE TABLE restaurants (name TEXT); INSERT INTO restaurants VALUES ('f'), ('é'), ('d')")
        let query = restaurants.order(collate(.custom("NODIACRITIC"), name))
        expectSQL(
            query, #"SELECT * FROM "restaurants" ORDER BY "name" COLLATE "NODIACRITIC""#,
            really: #"SELECT * FROM "restaurants" ORDER BY ("name" COLLATE "NODIACRITIC")"#)
        #expect(try db.prepareRowIterator(query).map { $0[name] } == ["d", "é", "f"])
    }
}
