import LiteVaultOperators
import LiteVaultQuery
import SQLite
import Testing

private let text = SQLExpression<String>("string")
private let virtual = VirtualTable("virtual_table")

private func arguments(_ module: Module) -> String { module.asSQL() }

@Suite struct `Statements of virtual tables` {
    private let date = SQLExpression<String>("date")

    @Test func `FTS4 takes columns and a tokenizer`() {
        #expect(virtual.create(.FTS4()) == #"CREATE VIRTUAL TABLE "virtual_table" USING fts4()"#)
        #expect(arguments(.FTS4(text)) == #"fts4("string")"#)
        #expect(arguments(.FTS4(text, date)) == #"fts4("string", "date")"#)
        #expect(arguments(.FTS4(tokenize: .Simple)) == "fts4(tokenize=simple)")
        #expect(arguments(.FTS4([text], tokenize: .Porter)) == #"fts4("string", tokenize=porter)"#)
        #expect(
            arguments(.FTS4(tokenize: .Unicode61(removeDiacritics: false)))
                == #"fts4(tokenize=unicode61 "remove_diacritics=0")"#)
        #expect(
            arguments(.FTS4(tokenize: .Unicode61(removeDiacritics: true, tokenchars: ["."], separators: ["X"])))
                == #"fts4(tokenize=unicode61 "remove_diacritics=1" "tokenchars=." "separators=X")"#)
    }

    @Test func `FTS4 takes all of its options`() {
        let config = FTS4Config().columns([int, text]).column(date, [.unindexed]).tokenizer(.Porter).prefix([2, 4])
            .externalContent(Table("table", database: "main")).languageId("lid").compress("c").uncompress("u")
            .matchInfo(.fts3).order(.desc)
        #expect(
            arguments(.FTS4(config))
                == #"fts4("int", "string", "date", tokenize=porter, prefix="2,4", content="table", notindexed="date", languageid="lid", compress="c", uncompress="u", matchinfo="fts3", order="desc")"#
        )
        #expect(arguments(.FTS4(FTS4Config().contentless())) == #"fts4(content="")"#)
    }

    @Test func `FTS5 takes its options`() {
        let config = FTS5Config().column(int).column(text, [.unindexed]).tokenizer(.Porter).prefix([2, 4])
            .externalContent(View("view")).contentRowId(int).columnSize(0).detail(.none)
        #expect(
            arguments(.FTS5(config))
                == #"fts5("int", "string" UNINDEXED, tokenize=porter, prefix="2,4", content="view", content_rowid="int", columnsize=0, detail="none")"#
        )
        #expect(
            arguments(.FTS5(FTS5Config().column(text).tokenizer(.Trigram())))
                == #"fts5("string", tokenize="trigram case_sensitive 0")"#)
        #expect(
            arguments(.FTS5(FTS5Config().column(text).tokenizer(.Unicode61(tokenchars: [".", "'"]))))
                == #"fts5("string", tokenize="unicode61 tokenchars '''.'")"#)
    }

    @Test func `match is a condition and a query`() {
        let condition: SQLExpression<Bool> = virtual.match("string")
        #expect(condition.asSQL() == #"("virtual_table" MATCH 'string')"#)
        let query: any QueryType = virtual.match("string")
        #expect(query.asSQL() == #"SELECT * FROM "virtual_table" WHERE ("virtual_table" MATCH 'string')"#)
        let optional: SQLExpression<Bool?> = virtual.match(SQLExpression<String?>("s"))
        #expect(optional.asSQL() == #"("virtual_table" MATCH "s")"#)
        let alias: SQLExpression<Bool> = virtual.alias("v").match("x")
        #expect(alias.asSQL() == #"("v"."virtual_table" MATCH 'x')"#)
        #expect(text.match("x").asSQL() == #"("string" MATCH 'x')"#)
    }

    @Test func `functions and commands of full-text tables`() {
        #expect(virtual.rank.asSQL() == #""rank""#)
        #expect(virtual.bm25(10, 1).asSQL() == #"bm25("virtual_table", 10.0, 1.0)"#)
        #expect(
            virtual.highlight(column: 1, "<b>", "</b>").asSQL() == #"highlight("virtual_table", 1, '<b>', '</b>')"#)
        #expect(
            virtual.snippet("<b>", "</b>").asSQL() == #"snippet("virtual_table", -1, '<b>', '</b>', '…', 15)"#)
        #expect(
            virtual.fts4Snippet("[", "]", words: 5).asSQL() == #"snippet("virtual_table", '[', ']', '…', -1, 5)"#)
        #expect(
            virtual.optimize().asSQL() == #"INSERT INTO "virtual_table" ("virtual_table") VALUES ('optimize')"#)
    }

    @Test func `R*Tree takes pairs of coordinates`() {
        let id = SQLExpression<Int64>("id"), low = SQLExpression<Double>("low"), high = SQLExpression<Double>("high")
        #expect(
            virtual.create(.RTree(id, (low, high)))
                == #"CREATE VIRTUAL TABLE "virtual_table" USING rtree("id", "low", "high")"#)
        #expect(arguments(.RTree(integers: id, (int, int))) == #"rtree_i32("id", "int", "int")"#)
    }
}
