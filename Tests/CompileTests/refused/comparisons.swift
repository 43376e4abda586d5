// Comparing what has different types.
import SQLite

let users = Table("users")
let id = Expression<Int64>("id")
let age = Expression<Int>("age")
let email = Expression<String>("email")
let name = Expression<String?>("name")
let balance = Expression<Double>("balance")

func valueOfAnotherType() -> Table { users.filter(id == "x") }  // refused
func valueOfAnotherOrder() -> Table { users.filter(email > 3) }  // refused
func columnOfAnotherType() -> Table { users.filter(id == email) }  // refused
func columnOfAnotherWidth() -> Table { users.filter(id == age) }  // refused
func numberAndText() -> Table { users.filter(balance < email) }  // refused
func optionalOfAnotherType() -> Table { users.filter(name == 7) }  // refused
func identity() -> Table { users.filter(id === "x") }  // refused
func notEqual() -> Table { users.filter(email != id) }  // refused
func nilForNotNull() -> Table { users.filter(email == nil) }  // refused
func rangeOfAnotherType() -> Table { users.filter(("a"..."b") ~= id) }  // refused
func listOfAnotherType() -> Table { users.filter(["a", "b"].contains(id)) }  // refused
