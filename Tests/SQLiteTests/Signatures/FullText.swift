import SQLite
import Testing

@Suite struct FullTextSignatures {
    let search = VirtualTable("virtual_table")

    private func fts4(_ module: Module) -> String {
        String(search.create(module).dropFirst("CREATE VIRTUAL TABLE \"virtual_table\" USING ".count))
    }

    private func sql(_ config: FTS4Config) -> String { fts4(.FTS4(config)) }
    private func sql(_ config: FTS5Config) -> String { fts4(.FTS5(config)) }

    @Test func `an FTS4 table has columns and a tokenizer`() {
        #expect(fts4(.FTS4()) == "fts4()")
        #expect(fts4(.FTS4(string)) == "fts4(\"string\")")
        #expect(fts4(.FTS4(string, int)) == "fts4(\"string\", \"int\")")
        #expect(fts4(.FTS4([string, int])) == "fts4(\"string\", \"int\")")
        #expect(fts4(.FTS4(tokenize: .Simple)) == "fts4(tokenize=simple)")
        #expect(fts4(.FTS4([string], tokenize: .Porter)) == "fts4(\"string\", tokenize=porter)")
        #expect(
            fts4(.FTS4(tokenize: .Unicode61(removeDiacritics: false))) == "fts4(tokenize=unicode61 \"remove_diacritics=0\")")
        #expect(
            fts4(.FTS4(tokenize: .Unicode61(removeDiacritics: true, tokenchars: ["."], separators: ["X"])))
                == "fts4(tokenize=unicode61 \"remove_diacritics=1\" \"tokenchars=.\" \"separators=X\")")
        #expect(Tokenizer.Custom("mine").description.hasSuffix("\"mine\""))
        #expect(Tokenizer.Trigram().description == "trigram case_sensitive 0")
        #expect(Tokenizer.Trigram(caseSensitive: true).arguments == ["case_sensitive", "1"])
        #expect(Tokenizer.Porter.name == "porter" && Tokenizer.Simple.arguments.isEmpty)
    }

    @Test func `an FTS4 configuration has every option`() {
        #expect(sql(FTS4Config()) == "fts4()")
        #expect(sql(FTS4Config().column(string)) == "fts4(\"string\")")
        #expect(sql(FTS4Config().columns([string, int])) == "fts4(\"string\", \"int\")")
        #expect(sql(FTS4Config().column(string, [.unindexed])) == "fts4(\"string\", notindexed=\"string\")")
        #expect(sql(FTS4Config().externalContent(Table("table"))) == "fts4(content=\"table\")")
        #expect(sql(FTS4Config().externalContent(View("view"))) == "fts4(content=\"view\")")
        #expect(sql(FTS4Config().externalContent(search)) == "fts4(content=\"virtual_table\")")
        #expect(sql(FTS4Config().contentless()) == "fts4(content=\"\")")
        #expect(sql(FTS4Config().tokenizer(.Simple)) == "fts4(tokenize=simple)")
        #expect(sql(FTS4Config().tokenizer(.Porter)) == "fts4(tokenize=porter)")
        #expect(sql(FTS4Config().tokenizer(.Unicode61())) == "fts4(tokenize=unicode61)")
        #expect(sql(FTS4Config().compress("pack").uncompress("unpack")) == "fts4(compress=\"pack\", uncompress=\"unpack\")")
        #expect(sql(FTS4Config().languageId("lang_id")) == "fts4(languageid=\"lang_id\")")
        #expect(sql(FTS4Config().matchInfo(.fts3)) == "fts4(matchinfo=\"fts3\")")
        #expect(sql(FTS4Config().order(.asc)) == "fts4(order=\"asc\")")
        #expect(sql(FTS4Config().prefix([2, 4])) == "fts4(prefix=\"2,4\")")
        #expect(
            sql(
                FTS4Config().tokenizer(.Porter).column(int).column(string, [.unindexed]).column(date, [.unindexed])
                    .externalContent(Table("table")).languageId("lid").matchInfo(.fts3).order(.desc).prefix([2, 4]))
                == "fts4(\"int\", \"string\", \"date\", tokenize=porter, prefix=\"2,4\", content=\"table\", "
                + "notindexed=\"string\", notindexed=\"date\", languageid=\"lid\", matchinfo=\"fts3\", order=\"desc\")")
        #expect(FTS4Config.Order.desc.rawValue == "desc" && FTS4Config.MatchInfo.fts3.rawValue == "fts3")
        let option: FTSConfig.ColumnOption = .unindexed
        #expect(sql(FTS4Config().column(string, [option])).contains("notindexed"))
    }

    @Test func `an FTS5 configuration has every option`() {
        #expect(sql(FTS5Config()) == "fts5()")
        #expect(sql(FTS5Config().column(string)) == "fts5(\"string\")")
        #expect(sql(FTS5Config().columns([string, int])) == "fts5(\"string\", \"int\")")
        #expect(sql(FTS5Config().column(string, [.unindexed])) == "fts5(\"string\" UNINDEXED)")
        #expect(sql(FTS5Config().externalContent(Table("table"))) == "fts5(content=\"table\")")
        #expect(sql(FTS5Config().contentless()) == "fts5(content=\"\")")
        #expect(sql(FTS5Config().contentRowId(string)) == "fts5(content_rowid=\"string\")")
        #expect(sql(FTS5Config().tokenizer(.Porter)) == "fts5(tokenize=porter)")
        #expect(sql(FTS5Config().tokenizer(.Unicode61())) == "fts5(tokenize=unicode61)")
        #expect(sql(FTS5Config().columnSize(1)) == "fts5(columnsize=1)")
        #expect(sql(FTS5Config().detail(.full)) == "fts5(detail=\"full\")")
        #expect([FTS5Config.Detail.full, .column, .none].map(\.rawValue) == ["full", "column", "none"])
        #expect(
            sql(
                FTS5Config().tokenizer(.Porter).column(int).column(string, [.unindexed]).column(date, [.unindexed])
                    .externalContent(Table("table")).prefix([2, 4]))
                == "fts5(\"int\", \"string\" UNINDEXED, \"date\" UNINDEXED, tokenize=porter, prefix=\"2,4\", content=\"table\")")
    }

    @Test func `a configuration can be subclassed`() {
        final class Quiet: FTS4Config {
            override func prefix(_ prefix: [Int]) -> Self { self }
        }
        #expect(sql(Quiet().prefix([1])) == "fts4()")
    }

    @Test func `match is a condition and a query`() {
        let condition: Expression<Bool> = search.match("string")
        let expression: Expression<Bool> = search.match(string)
        let optional: Expression<Bool?> = search.match(stringOptional)
        assertSQL("(\"virtual_table\" MATCH 'string')", condition)
        assertSQL("(\"virtual_table\" MATCH \"string\")", expression)
        assertSQL("(\"virtual_table\" MATCH \"stringOptional\")", optional)
        let query: any QueryType = search.match("string")
        let byExpression: any QueryType = search.match(string)
        let byOptional: any QueryType = search.match(stringOptional)
        #expect(query.asSQL() == "SELECT * FROM \"virtual_table\" WHERE (\"virtual_table\" MATCH 'string')")
        #expect(byExpression.asSQL() == "SELECT * FROM \"virtual_table\" WHERE (\"virtual_table\" MATCH \"string\")")
        #expect(byOptional.asSQL() == "SELECT * FROM \"virtual_table\" WHERE (\"virtual_table\" MATCH \"stringOptional\")")
        assertSQL("SELECT * FROM \"virtual_table\" WHERE (\"virtual_table\" MATCH 'string')", search.filter(search.match("string")))
        let alias = Expression<String>("email")
        assertSQL("(\"email\" MATCH 'x')", alias.match("x"))
    }

    @Test func `an R-Tree has a key and pairs of coordinates`() {
        #expect(
            fts4(.RTree(int64, (double, Expression<Double>("max")))) == "rtree(\"int64\", \"double\", \"max\")")
    }

    @Test func `a search is created, filled and read`() throws {
        let db = try Connection()
        let emails = VirtualTable("emails")
        let subject = Expression<String>("subject")
        let body = Expression<String>("body")
        try db.run(emails.create(.FTS4(FTS4Config().column(subject).column(body))))
        try db.run(emails.insert(subject <- "Lorem", body <- "ipsum dolor"))
        #expect(try db.prepare(emails.match("ipsum")).map { $0[subject] } == ["Lorem"])
        #expect(try db.scalar(emails.filter(emails.match("nothing")).count) == 0)
    }
}
