import LiteVaultCore
import Testing

@Suite struct QueryErrorTests {
    @Test func `messages name the missing and the existing columns`() {
        #expect(QueryError.noSuchTable(name: "t").description == "No such table: t")
        #expect(
            QueryError.noSuchColumn(name: "x", columns: ["a", "b"]).description
                == "No such column `x` in columns [\"a\", \"b\"]")
        #expect(
            QueryError.ambiguousColumn(name: "x", similar: ["t.x", "u.x"]).description
                == "Ambiguous column `x` (please disambiguate: [\"t.x\", \"u.x\"])")
        #expect(QueryError.unexpectedNullValue(name: "x").description == "Unexpected null value for column `x`")
        #expect(
            QueryError.unexpectedType(name: "x", expected: "text", found: "a blob").description
                == "Column `x` holds a blob, which cannot be read as text")
        #expect(
            QueryError.malformedValue(name: "x", expected: "date").description
                == "The value of column `x` is not a valid date")
    }
}
