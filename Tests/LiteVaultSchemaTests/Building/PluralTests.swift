import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import LiteVaultSchema
import Testing

/// Words whose plural is a table's name.
private let plurals = [
    "search": "searches", "switch": "switches", "fix": "fixes", "process": "processes", "address": "addresses",
    "case": "cases", "stack": "stacks", "wish": "wishes", "fish": "fish", "jeans": "jeans", "my money": "my money",
    "category": "categories", "query": "queries", "soliloquy": "soliloquies", "ability": "abilities", "movie": "movies",
    "archive": "archives", "index": "indices", "wife": "wives", "safe": "saves", "half": "halves", "move": "moves",
    "salesperson": "salespeople", "spokesman": "spokesmen", "human": "humans", "woman": "women", "basis": "bases",
    "diagnosis": "diagnoses", "diagnosis_a": "diagnosis_as", "datum": "data", "medium": "media", "stadium": "stadia",
    "my_analysis": "my_analyses", "node_child": "node_children", "experience": "experiences", "day": "days",
    "old_news": "old_news", "miniseries": "miniseries", "species": "species", "quiz": "quizzes", "ox": "oxen",
    "photo": "photos", "buffalo": "buffaloes", "tomato": "tomatoes", "elf": "elves", "information": "information",
    "bus": "buses", "status": "statuses", "status_code": "status_codes", "mouse": "mice", "louse": "lice",
    "house": "houses", "octopus": "octopi", "virus": "viri", "alias": "aliases", "portfolio": "portfolios",
    "vertex": "vertices", "matrix": "matrices", "matrix_fu": "matrix_fus", "axis": "axes", "taxi": "taxis",
    "testis": "testes", "crisis": "crises", "shoe": "shoes", "horse": "horses", "prize": "prizes", "edge": "edges",
    "cow": "cows", "database": "databases", "slave": "slaves", "zombie": "zombies", "police": "police",
    "focus": "focuses", "lens": "lenses", "hero": "heroes", "roof": "roofs", "iris": "irises", "genus": "genera",
    "stomach": "stomachs", "die": "dice", "cache": "caches", "tax": "taxes", "buzz": "buzzes", "radius": "radii",
    "Blog Post": "Blog Posts", "USER": "USERS", "goose": "geese", "mongoose": "mongooses", "wolf": "wolves",
    "player1": "players", "player2": "player", "team10": "teams10", "h2o": "h2os",
]

@Suite struct PluralTests {
    @Test(arguments: plurals.sorted { $0.key < $1.key })
    func `H-SCH-05 belongsTo finds the table of a word's plural, which may be the one being created`(
        word: String, table: String
    ) throws {
        let db = try Connection()
        try db.create(table: table) { t in
            t.primaryKey("id", .integer)
            t.belongsTo(word)
        }
        #expect(try db.schema.foreignKeys(table: table).map { $0.toTable.lowercased() } == [table.lowercased()])
        try db.create(table: "other") { t in t.belongsTo(word) }
        #expect(try db.schema.foreignKeys(table: "other").map { $0.toTable.lowercased() } == [table.lowercased()])
    }

    @Test func `a word does not find the table of another word`() throws {
        let db = try Connection()
        for table in ["lenses", "players", "buses"] {
            try db.create(table: table) { t in t.primaryKey("id", .integer) }
        }
        for name in ["len", "play", "bu", "1"] {
            #expect(throws: QueryError.self) { try db.create(table: "t") { t in t.belongsTo(name) } }
        }
    }
}
