// Keys that SQLite would refuse, or take for something else.
import SQLite

let users = Table("users")
let id = Expression<Int64>("id")
let optionalID = Expression<Int64?>("id")
let email = Expression<String>("email")
let optionalEmail = Expression<String?>("email")
let balance = Expression<Double>("balance")

func optionalKey() -> String { users.create { $0.column(optionalID, primaryKey: true) } }  // refused
func optionalTextKey() -> String { users.create { $0.column(optionalEmail, primaryKey: true) } }  // refused
func optionalAutoincrement() -> String { users.create { $0.column(optionalID, primaryKey: .autoincrement) } }  // refused
func optionalCompositeKey() -> String { users.create { $0.primaryKey(id, optionalEmail) } }  // refused
func autoincrementText() -> String { users.create { $0.column(email, primaryKey: .autoincrement) } }  // refused
func autoincrementReal() -> String { users.create { $0.column(balance, primaryKey: .autoincrement) } }  // refused
func keyOfAKind() -> String { users.create { $0.column(id, primaryKey: .autoincrement, references: users, id) } }  // refused
func textReference() -> String { users.create { $0.column(email, references: users, email) } }  // refused
func otherReference() -> String { users.create { $0.column(id, references: users, balance) } }  // refused
func uniqueKey() -> String { users.create { $0.column(id, unique: true, primaryKey: true) } }  // refused
func collatedNumber() -> String { users.create { $0.column(id, collate: .nocase) } }  // refused
func defaultOfAnotherType() -> String { users.create { $0.column(id, defaultValue: "x") } }  // refused
