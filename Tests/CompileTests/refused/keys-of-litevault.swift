// `import LiteVault` has no primary key that refers, and no names that clash with Foundation's.
import LiteVault

let users = Table("users")
let id = SQLExpression<Int64>("id")

func keyThatRefers() -> String { users.create { $0.column(id, primaryKey: true, references: users, id) } }  // refused
func anotherName() -> String { Expression<Int64>("id").template }  // refused
