import Foundation
import SQLite
import Testing

@Suite struct CoreFunctionSignatures {
    @Test func `abs and round`() {
        let abs: Expression<Int> = int.absoluteValue
        let absOptional: Expression<Int?> = intOptional.absoluteValue
        assertSQL("abs(\"int\")", abs)
        assertSQL("abs(\"intOptional\")", absOptional)
        assertSQL("abs(\"double\")", double.absoluteValue)
        let rounded: Expression<Double> = double.round()
        let roundedOptional: Expression<Double?> = doubleOptional.round()
        assertSQL("round(\"double\")", rounded)
        assertSQL("round(\"double\", 1)", double.round(1))
        assertSQL("round(\"doubleOptional\")", roundedOptional)
        assertSQL("round(\"doubleOptional\", 1)", doubleOptional.round(1))
    }

    @Test func `random numbers and blobs, and zeros`() throws {
        assertSQL("random()", Expression<Int64>.random())
        assertSQL("random()", Expression<Int>.random())
        let blob: Expression<Data> = Expression<Data>.random(4)
        assertSQL("randomblob(4)", blob)
        assertSQL("zeroblob(4)", Expression<Data>.allZeros(4))
        let length: Expression<Int> = data.length
        let lengthOptional: Expression<Int?> = dataOptional.length
        assertSQL("length(\"data\")", length)
        assertSQL("length(\"dataOptional\")", lengthOptional)
    }

    @Test func `length and case`() {
        let length: Expression<Int> = string.length
        let lengthOptional: Expression<Int?> = stringOptional.length
        assertSQL("length(\"string\")", length)
        assertSQL("length(\"stringOptional\")", lengthOptional)
        let lower: Expression<String> = string.lowercaseString
        let upperOptional: Expression<String?> = stringOptional.uppercaseString
        assertSQL("lower(\"string\")", lower)
        assertSQL("lower(\"stringOptional\")", stringOptional.lowercaseString)
        assertSQL("upper(\"string\")", string.uppercaseString)
        assertSQL("upper(\"stringOptional\")", upperOptional)
    }

    @Test func `like, with values and expressions and an escape`() {
        let like: Expression<Bool> = string.like("a%")
        let likeOptional: Expression<Bool?> = stringOptional.like("b%")
        assertSQL("(\"string\" LIKE 'a%')", like)
        assertSQL("(\"stringOptional\" LIKE 'b%')", likeOptional)
        assertSQL("(\"string\" LIKE '%\\%' ESCAPE '\\')", string.like("%\\%", escape: "\\"))
        assertSQL("(\"stringOptional\" LIKE '_\\_' ESCAPE '\\')", stringOptional.like("_\\_", escape: "\\"))
        let expression: Expression<Bool> = string.like(Expression<String>("a"))
        let expressionOptional: Expression<Bool?> = stringOptional.like(Expression<String>("a"))
        assertSQL("(\"string\" LIKE \"a\")", expression)
        assertSQL("(\"stringOptional\" LIKE \"a\")", expressionOptional)
        assertSQL("(\"string\" LIKE \"a\" ESCAPE '\\')", string.like(Expression<String>("a"), escape: "\\"))
        assertSQL("(\"stringOptional\" LIKE \"a\" ESCAPE '\\')", stringOptional.like(Expression<String>("a"), escape: "\\"))
        let reversed: Expression<Bool> = "string".like(Expression<String>("a"))
        assertSQL("('string' LIKE \"a\")", reversed)
        assertSQL("('string' LIKE \"a\" ESCAPE '\\')", "string".like(Expression<String>("a"), escape: "\\"))
    }

    @Test func `glob, match, regexp and collate`() {
        let glob: Expression<Bool> = string.glob("*")
        let globOptional: Expression<Bool?> = stringOptional.glob("*")
        let match: Expression<Bool> = string.match("a")
        let matchOptional: Expression<Bool> = stringOptional.match("a")
        let regexp: Expression<Bool> = string.regexp("^a")
        let regexpOptional: Expression<Bool?> = stringOptional.regexp("^a")
        assertSQL("(\"string\" GLOB '*')", glob)
        assertSQL("(\"stringOptional\" GLOB '*')", globOptional)
        assertSQL("(\"string\" MATCH 'a')", match)
        assertSQL("(\"stringOptional\" MATCH 'a')", matchOptional)
        assertSQL("(\"string\" REGEXP '^a')", regexp)
        assertSQL("(\"stringOptional\" REGEXP '^a')", regexpOptional)
        let collated: Expression<String> = string.collate(.nocase)
        let collatedOptional: Expression<String?> = stringOptional.collate(.rtrim)
        assertSQL("(\"string\" COLLATE NOCASE)", collated)
        assertSQL("(\"stringOptional\" COLLATE RTRIM)", collatedOptional)
        assertSQL("(\"string\" COLLATE BINARY)", string.collate(.binary))
        assertSQL("(\"string\" COLLATE \"TRIM\")", string.collate(.custom("TRIM")))
    }

    @Test func `the trimming functions take a set of characters`() {
        let trimmed: Expression<String> = string.trim()
        let trimmedOptional: Expression<String?> = stringOptional.trim([" "])
        assertSQL("trim(\"string\")", trimmed)
        assertSQL("trim(\"stringOptional\", ' ')", trimmedOptional)
        assertSQL("ltrim(\"string\")", string.ltrim())
        assertSQL("ltrim(\"stringOptional\")", stringOptional.ltrim())
        assertSQL("ltrim(\"string\", ' ')", string.ltrim([" "]))
        assertSQL("ltrim(\"stringOptional\", ' ')", stringOptional.ltrim([" "]))
        assertSQL("rtrim(\"string\")", string.rtrim())
        assertSQL("rtrim(\"stringOptional\")", stringOptional.rtrim())
        assertSQL("rtrim(\"string\", ' ')", string.rtrim([" "]))
        assertSQL("rtrim(\"stringOptional\", ' ')", stringOptional.rtrim([" "]))
        assertSQL("trim(\"stringOptional\")", stringOptional.trim())
        assertSQL("trim(\"string\", ' ')", string.trim([" "]))
    }

    @Test func `replace and substring`() {
        let replaced: Expression<String> = string.replace("@example.com", with: "@example.net")
        let replacedOptional: Expression<String?> = stringOptional.replace("a", with: "b")
        assertSQL("replace(\"string\", '@example.com', '@example.net')", replaced)
        assertSQL("replace(\"stringOptional\", 'a', 'b')", replacedOptional)
        assertSQL("substr(\"string\", 1, 2)", string.substring(1, length: 2))
        assertSQL("substr(\"string\", 1)", string.substring(1))
        assertSQL("substr(\"stringOptional\", 1, 2)", stringOptional.substring(1, length: 2))
        let range: Expression<String> = string[1..<3]
        let rangeOptional: Expression<String?> = stringOptional[1..<3]
        assertSQL("substr(\"string\", 1, 2)", range)
        assertSQL("substr(\"stringOptional\", 1, 2)", rangeOptional)
    }

    @Test func `a collection contains an expression`() {
        let contains: Expression<Bool> = ["hello", "world"].contains(string)
        let containsOptional: Expression<Bool?> = ["hello", "world"].contains(stringOptional)
        assertSQL("(\"string\" IN ('hello', 'world'))", contains)
        assertSQL("(\"stringOptional\" IN ('hello', 'world'))", containsOptional)
        assertSQL("(\"int\" IN (1, 2))", [1, 2].contains(int))
        assertSQL("(\"string\" IN ())", [String]().contains(string))
        #expect(Set([1]).contains(int).template == "(\"int\" IN (?))")
        #expect((1...3).contains(int).bindings.count == 3)
    }
}

@Suite struct DateFunctionSignatures {
    @Test func `the date functions take a time and modifiers`() {
        let date: Expression<Date?> = DateFunctions.date("now")
        assertSQL("date('now')", date)
        assertSQL("date('now', 'localtime')", DateFunctions.date("now", "localtime"))
        assertSQL("time('now')", DateFunctions.time("now"))
        assertSQL("time('now', 'localtime')", DateFunctions.time("now", "localtime"))
        assertSQL("datetime('now')", DateFunctions.datetime("now"))
        assertSQL("datetime('now', 'localtime')", DateFunctions.datetime("now", "localtime"))
        assertSQL("julianday('now')", DateFunctions.julianday("now"))
        assertSQL("julianday('now', 'localtime')", DateFunctions.julianday("now", "localtime"))
        assertSQL("strftime('%Y-%m-%d', 'now')", DateFunctions.strftime("%Y-%m-%d", "now"))
        assertSQL("strftime('%Y-%m-%d', 'now', 'localtime')", DateFunctions.strftime("%Y-%m-%d", "now", "localtime"))
    }

    @Test func `dates and columns of dates have the functions`() {
        let epoch = Date(timeIntervalSince1970: 0)
        let value: Expression<Date?> = epoch.date
        assertSQL("date('1970-01-01T00:00:00.000')", value)
        assertSQL("time('1970-01-01T00:00:00.000')", epoch.time)
        assertSQL("datetime('1970-01-01T00:00:00.000')", epoch.datetime)
        assertSQL("julianday('1970-01-01T00:00:00.000')", epoch.julianday)
        let column: Expression<Date> = date.date
        assertSQL("date(\"date\")", column)
        assertSQL("time(\"date\")", date.time)
        assertSQL("datetime(\"date\")", date.datetime)
        assertSQL("julianday(\"date\")", date.julianday)
    }

    @Test func `a date that is bound is compared with one that SQLite reads`() throws {
        let db = try Connection()
        let epoch = Date(timeIntervalSince1970: 1)
        #expect(try db.scalar("SELECT julianday(?) = julianday('1970-01-01T00:00:01')", epoch.datatypeValue) as? Int64 == 1)
    }
}

@Suite struct WindowFunctionSignatures {
    @Test func `functions of a column over an order`() {
        let lag: Expression<Int> = int.lag(int.desc)
        assertSQL("lag(\"int\", 0) OVER (ORDER BY \"int\" DESC)", lag)
        assertSQL("lag(\"int\", 1, 5) OVER (ORDER BY \"int\")", int.lag(offset: 1, default: 5, int))
        assertSQL("lag(\"int\", 2, \"int64\") OVER (ORDER BY \"int\")", int.lag(offset: 2, default: int64, int))
        assertSQL("lead(\"int\", 0) OVER (ORDER BY \"int\" DESC)", int.lead(int.desc))
        assertSQL("lead(\"int\", 1, 5) OVER (ORDER BY \"int\")", int.lead(offset: 1, default: 5, int))
        assertSQL("first_value(\"int\") OVER (ORDER BY \"int\" DESC)", int.firstValue(int.desc))
        assertSQL("last_value(\"int\") OVER (ORDER BY \"int\" DESC)", int.lastValue(int.desc))
        assertSQL("nth_value(\"int\", 3) OVER (ORDER BY \"int\" DESC)", int.value(3, int.desc))
    }

    @Test func `functions of the row over an order`() {
        let tile: Expression<Int> = ntile(1, int.desc)
        assertSQL("ntile(1) OVER (ORDER BY \"int\" DESC)", tile)
        assertSQL("row_number() OVER (ORDER BY \"int\" DESC)", rowNumber(int.desc))
        assertSQL("rank() OVER (ORDER BY \"int\" DESC)", rank(int.desc))
        assertSQL("dense_rank() OVER (ORDER BY \"int\" DESC)", denseRank(int.desc))
        let percent: Expression<Double> = percentRank(int.desc)
        assertSQL("percent_rank() OVER (ORDER BY \"int\" DESC)", percent)
        assertSQL("cume_dist() OVER (ORDER BY \"int\" DESC)", cumeDist(int.desc))
    }
}
