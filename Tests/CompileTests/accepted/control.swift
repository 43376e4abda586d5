// The same declarations and calls as in refused/, with the types right: what is refused there is not refused for another
// reason.
import SQLite

let users = Table("users")
let id = Expression<Int64>("id")
let age = Expression<Int>("age")
let email = Expression<String>("email")
let name = Expression<String?>("name")
let balance = Expression<Double>("balance")

func comparisons() -> [Table] {
    [
        users.filter(id == 1), users.filter(email == "x"), users.filter(name == nil), users.filter(balance > 1),
        users.filter(email == name), users.filter(age >= 18), users.filter(["a"].contains(email)),
        users.filter(email.like("a%")), users.filter((1...3) ~= age),
    ]
}

func keys() -> [String] {
    [
        users.create { $0.column(id, primaryKey: true) }, users.create { $0.column(id, primaryKey: .autoincrement) },
        users.create { $0.column(email, primaryKey: true) }, users.create { $0.primaryKey(id, email) },
        users.create { $0.column(id, references: users, id) },
        // Signatures of SQLite.swift, which its documentation says it has not.
        users.create { $0.column(id, primaryKey: true, references: users, id) },
    ]
}

func writing() -> [Setter] { [id <- 1, email <- "x", name <- nil, balance += 1.5, email += "x", age++] }
