import Foundation
import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import Testing

@Suite struct JSONTests {
    static let hasJSON = (try? Connection().value("SELECT json('1')", as: String.self)) != nil
    static let hasJSONB = EngineInfo.linked.isAtLeast(3, 45)

    let db: Connection
    let users = Table("user")
    let name = SQLExpression<String>("name")
    let meta = SQLExpression<String?>("meta")
    let tags = SQLExpression<String>("tags")

    init() throws {
        db = try Connection()
        try db.execute("CREATE TABLE user (name TEXT NOT NULL, meta TEXT, tags TEXT NOT NULL)")
        try db.run(
            users.insert(
                name <- "Ada",
                meta <- #"{"address": {"city": "Bonn", "zip code": 53111}, "active": true, "none": null}"#,
                tags <- #"["a", "b", "it's"]"#))
        try db.run(users.insert(name <- "Bob", meta <- nil, tags <- "[]"))
    }

    @Test func `a path is written into the SQL, so that an index on it is found`() throws {
        let city = meta.json["address"]["city"].value(as: String.self)
        #expect(city.asSQL() == #"json_extract("meta", '$."address"."city"')"#)
        #expect(city.bindings.isEmpty)
        #expect(tags.json[0].value(as: Int.self).asSQL() == #"json_extract("tags", '$[0]')"#)
        #expect(tags.json[-1]["it's"].type.asSQL() == #"json_type("tags", '$[#-1]."it''s"')"#)
        #expect(tags.json.count.asSQL() == #"json_array_length("tags")"#)
        guard Self.hasJSON else { return }
        try db.execute(#"CREATE INDEX by_city ON user (json_extract(meta, '$."address"."city"'))"#)
        let plan = try db.all(
            "EXPLAIN QUERY PLAN \(sql: users.select(name).filter(city == "Bonn").asSQL())"
        ) { try $0.get(3, as: String.self) }
        #expect(plan.contains { $0.contains("by_city") })
    }

    @Test(.enabled(if: hasJSON)) func `values at paths are read, filtered and ordered`() throws {
        let city = meta.json["address"]["city"].value(as: String.self)
        #expect(try db.all(users.select(city).order(name)) == ["Bonn", nil])
        #expect(try db.all(users.select(name).filter(city == "Bonn")) == ["Ada"])
        let zip = meta.json["address"]["zip code"].value(as: Int.self)
        #expect(try db.value(users.select(zip.max)) == 53111)
        #expect(try db.all(users.select(meta.json["active"].value(as: Bool.self)).order(name)) == [true, nil])
        let row = try #require(
            try db.all(
                users.order(name).select(
                    meta.json["none"].exists, meta.json["absent"].exists, meta.json["none"].type,
                    meta.json["none"].value(as: Int.self))
            ).first)
        #expect(row.0 && !row.1 && row.2 == "null" && row.3 == nil)
        #expect(try db.all(users.select(tags.json.count).order(name)) == [3, 0])
        #expect(try db.all(users.select(tags.json[2].value(as: String.self)).order(name)) == ["it's", nil])
        #expect(try db.all(users.select(meta.json["address"].value(as: String.self)).order(name)).first??.first == "{")
    }

    @Test(.enabled(if: hasJSON)) func `one value of a JSON text is updated`() throws {
        let row = users.filter(name == "Ada")
        try db.run(row.update(meta <- meta.json["address"]["city"].setting("O'Hara")))
        try db.run(row.update(meta <- meta.json["active"].setting(false)))
        try db.run(row.update(meta <- meta.json["none"].removing()))
        try db.run(row.update(meta <- meta.json["count"].setting(Int?.none)))
        try db.run(row.update(meta <- meta.json["list"].setting(json: "[1,2]")))
        #expect(
            try db.value(row.select(meta))
                == #"{"address":{"city":"O'Hara","zip code":53111},"active":false,"count":null,"list":[1,2]}"#)
        try db.run(row.update(tags <- tags.json[0].setting("z")))
        #expect(try db.value(row.select(tags)) == #"["z","b","it's"]"#)
    }

    @Test(.enabled(if: hasJSON)) func `all columns of a join with the elements of an array are read by name`() throws {
        struct Tagged: Decodable, Equatable {
            var name: String
            var value: String
        }
        let tag = tags.json.each("tag")
        let joined = users.join(tag, on: tag.type == "text").order(tag.index)
        let rows = try db.all(joined, as: Row.self)
        #expect(try rows.map { try $0.value(of: name) } == ["Ada", "Ada", "Ada"])
        #expect(try rows.map { try $0.value(of: tag.value(as: String.self)) } == ["a", "b", "it's"])
        #expect(try db.all(joined, as: Tagged.self).map(\.value) == ["a", "b", "it's"])
        #expect(try db.first(joined, as: Tagged.self) == Tagged(name: "Ada", value: "a"))
    }

    @Test(.enabled(if: hasJSON)) func `the elements of an array are rows`() throws {
        let tag = tags.json.each("tag")
        let rows = try db.all(
            users.join(tag, on: tag.type == "text").order(tag.index)
                .select(name, tag.index, tag.value(as: String.self)))
        #expect(
            rows.map(\.0) == ["Ada", "Ada", "Ada"] && rows.map(\.1) == [0, 1, 2] && rows.map(\.2) == ["a", "b", "it's"])
        let isTagged = exists(tag.filter(tag.value(as: String.self) == "b"))
        #expect(try db.all(users.filter(isTagged).select(name)) == ["Ada"])
        let member = meta.json["address"].each("member")
        let members = try db.all(
            users.join(member, on: member.key != nil).select(member.key, member.type, member.fullPath))
        #expect(Set(members.map(\.0)) == ["city", "zip code"] && Set(members.map(\.1)) == ["text", "integer"])
        let inner = meta.json.tree("inner")
        #expect(try db.value(users.join(inner, on: inner.value(as: Int.self) == 53111).count) == 1)
    }

    @Test(.enabled(if: hasJSON)) func `H-SEC-16 a key with any characters is found, set and removed, and no other key`()
        throws
    {
        let keys = [
            "a\\b", "a\\", "\\u0041", "a\nb", "\u{1}", "it's", ".", "[0]", "$", "a.b", "", "caf\u{E9}", "cafe\u{301}",
            "\u{7F}",
            "x\" , \"y", "a\"", "\"", "a\".\"b", "a\"\u{301}", "\\\"",
        ]
        for key in keys {
            let value = meta.json["o"][key]
            func object() throws -> [String: Int]? {
                let text = try db.value(users.select(meta.json["o"].value(as: String.self)).limit(1))
                return try text.map { try JSONDecoder().decode([String: Int].self, from: Data($0.utf8)) }
            }
            try db.run(users.update(meta <- #"{"o": {"a": 1, "y": 1, "A": 1}}"#))
            guard Self.hasJSONB || !key.utf8.contains(UInt8(ascii: "\"")) else {
                // Before 3.45 no path leads to such a key: an error, and not another key.
                #expect(throws: VaultError.self) { try db.run(users.update(meta <- value.setting(2))) }
                #expect(throws: VaultError.self) { try db.all(users.select(value.value(as: Int.self))) }
                #expect(try object()?.count == 3)
                continue
            }
            try db.run(users.update(meta <- value.setting(2)))
            #expect(try object() == ["a": 1, "y": 1, "A": 1].merging([key: 2]) { $1 }, "\(key.debugDescription)")
            try db.run(users.update(meta <- value.setting(3)))
            #expect(try object() == ["a": 1, "y": 1, "A": 1].merging([key: 3]) { $1 }, "\(key.debugDescription)")
            #expect(try db.all(users.select(value.value(as: Int.self)).limit(1)) == [3])
            let inner = value[key]["z"]
            try db.run(users.update(meta <- value.setting(json: "{}")))
            try db.run(users.update(meta <- value[key].setting(json: "{}")))
            try db.run(users.update(meta <- inner.setting(4)))
            #expect(try db.all(users.select(inner.value(as: Int.self)).limit(1)) == [4], "\(key.debugDescription)")
            try db.run(users.update(meta <- value.removing()))
            #expect(try object() == ["a": 1, "y": 1, "A": 1], "\(key.debugDescription)")
        }
    }

    @Test(.enabled(if: hasJSON)) func `H-SEC-16 a column of JSON gives the value of a key with any characters`()
        throws
    {
        let document = #"""
            {"a": {"b": 1}, "a.b": 2, "2024": 3, "1a": 4, "$p": 5, "[0]": 6, "it's": 7, "plain_1": 8, "a\\b": 9, "": 10, "a\"b": 11}
            """#
        try db.run(users.update(meta <- document))
        func number(_ key: String) throws -> Int? {
            try db.value("SELECT \(JSONColumn("meta")[key]) FROM user LIMIT 1", as: Int?.self)
        }
        let numbers = [
            "a.b": 2, "2024": 3, "1a": 4, "$p": 5, "[0]": 6, "it's": 7, "plain_1": 8, #"a\b"#: 9, "": 10,
        ]
        for (key, expected) in numbers { #expect(try number(key) == expected, "\(key)") }
        #expect(try number("b.a") == nil)
        if Self.hasJSONB {
            #expect(try number("a\"b") == 11)
        } else {
            #expect(throws: VaultError.self) { try number("a\"b") }
        }
    }

    @Test(.enabled(if: hasJSON)) func `malformed JSON is an error of the engine`() throws {
        try db.run(users.update(tags <- "[1,"))
        #expect(throws: DatabaseError.self) { try db.all(users.select(tags.json[0].value(as: Int.self))) }
    }

    @Test func `what the engine lacks is unsupported`() throws {
        let binary = SQLExpression<Blob>("meta")
        let queries: [(any QueryType, Bool)] = [
            (users.select(tags.jsonb), Self.hasJSONB), (users.select(binary.json["a"].setting(1)), Self.hasJSONB),
            (users.select(tags.json.count), Self.hasJSON),
        ]
        for (query, isSupported) in queries where !isSupported {
            let error = #expect(throws: VaultError.self) { try db.prepare(query.asSQL()) }
            #expect(error?.code == .unsupported)
        }
        #expect(throws: DatabaseError.self) { try db.prepare("SELECT json_unknown(1)") }
    }

    @Test(.enabled(if: hasJSONB)) func `JSONB is read and changed like text`() throws {
        let binary = SQLExpression<Blob>("meta")
        try db.run(users.update(binary <- SQLExpression<Blob>(literal: #"jsonb('{"a": [1, 2]}')"#)))
        #expect(try db.value(users.select(binary.json["a"][1].value(as: Int.self)).limit(1)) == 2)
        try db.run(users.update(binary <- binary.json["a"][1].setting(3)))
        #expect(try db.value(users.select(binary.jsonText).limit(1)) == #"{"a":[1,3]}"#)
    }
}
