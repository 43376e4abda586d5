import LiteVaultCore
import LiteVaultSchema

extension Connection {
    /// The statement that made an object, as the database has it.
    func sql(_ name: String, temp: Bool = false) throws -> String? {
        try schema.objectDefinitions(name: name, temp: temp).first?.sql
    }

    /// The names of the tables, indexes, views and triggers.
    func names() throws -> [String] { try schema.objectDefinitions().filter { !$0.isInternal }.map(\.name).sorted() }

    func refuses(_ sql: String) throws -> Bool {
        do { try run(SQL(sql: sql)) } catch let error as DatabaseError where error.resultCode.primary == .constraint {
            return true
        }
        return false
    }
}

/// Names that break text which is put together without care.
let oddNames = [
    "my \"table\"", "it's", "a b", "select", "naïve 表 🗄️", "semi;colon", "dash--name", "/*x*/", "back`tick", "[bracket]",
    "?", "%_", "new\nline", "group", "1st", "ünï", "sqlit",
]
