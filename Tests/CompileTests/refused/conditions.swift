// Invalid conditions, arithmetic on text, assignments of another type.
import SQLite

let users = Table("users")
let id = Expression<Int64>("id")
let email = Expression<String>("email")
let admin = Expression<Bool>("admin")

func filterByNumber() -> Table { users.filter(id) }  // refused
func checkOfNumber() -> String { users.create { t in t.column(id, check: id) } }  // refused
func indexWhereNumber() -> String { users.createIndex(email, where: id) }  // refused
func addColumnCheckedByText() -> String { users.addColumn(email, check: email, defaultValue: "x") }  // refused
func andOfNumbers() -> Table { users.filter(id && admin) }  // refused
func notOfText() -> Table { users.filter(!email) }  // refused
func textMinusText() -> Expression<String> { email - email }  // refused
func textTimesNumber() -> Expression<String> { email * 2 }  // refused
func bitsOfText() -> Expression<String> { email & email }  // refused
func setAnotherType() -> Setter { id <- "x" }  // refused
func setNilForNotNull() -> Setter { email <- nil }  // refused
func addAnotherType() -> Setter { id += "x" }  // refused
func incrementText() -> Setter { email++ }  // refused
func likeOfNumber() -> Expression<Bool> { id.like("x") }  // refused
func queryWithoutConnection() { for user in users.select(email) { print(user) } }  // refused
