// seeds 000:328 001:132 002:246 002:452 003:32: every file of these tests begins with it.
import SQLite
import Testing

@Suite struct ExpressionSeeds {
    // seeds 000:528 001:258 002:1284 003:164
    @Test func `columns are expressions with a type`() {
        let id = Expression<Int64>("id")
        let email = Expression<String>("email")
        let balance = Expression<Double>("balance")
        let verified = Expression<Bool>("verified")
        #expect([id.description, email.description] == [#""id""#, #""email""#])
        #expect([balance.description, verified.description] == [#""balance""#, #""verified""#])
    }

    // seeds 000:537 001:265 002:1284 003:173
    @Test func `columns that may be NULL are expressions of optionals`() {
        let name = Expression<String?>("name")
        #expect(name.description == #""name""#)
        #expect(Expression<String>(literal: "lower(name)").description == "lower(name)")
    }

    // seeds 000:562 001:277 002:74 003:189
    @Test func `a table is a query`() throws {
        let users = Table("users")
        expectSQL(users, #"SELECT * FROM "users""#)
        #expect(try Sample().db.scalar(users.count) == 2)
    }
}
