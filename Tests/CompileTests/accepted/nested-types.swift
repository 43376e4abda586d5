// A value's own nested types have any names.
import SQLite

struct Tally: Value {
    enum Count { case none, some }
    struct Logical {}
    struct Base {}

    let number: Int64

    static var declaredDatatype: String { Int64.declaredDatatype }
    static func fromDatatypeValue(_ value: Int64) -> Tally { Tally(number: value) }
    var datatypeValue: Int64 { number }
}

let tally = SQLite.Expression<Tally>("tally")
let last = SQLite.Expression<Tally?>("last")
let setters = [tally <- Tally(number: 1), last <- nil, last <- tally]
let found = Table("tallies").filter(tally == Tally(number: 1) && last == tally || last == nil)
