// at most 150 scopes: how to write it instead: eight terms, the type said once
import Foundation
import SQLite

let a = SQLite.Expression<Int>("a")
let d = SQLite.Expression<Double>("d")

func take(_ expression: any Expressible) {}

func named() -> any Expressible {
    let price: SQLite.Expression<Int> = a * 2 + a - 3 * a + 4 - (a + 1) * 2
    return price
}
func said() -> any Expressible { (1 + a) * 2 + (3 - a) * 4 + 5 * a as SQLite.Expression<Int> }
func passed() { take(d * 2 + d - 3.5 * d + 4 / d - 1.5 * (d + 2) as SQLite.Expression<Double>) }
func inferred() -> String {
    let sum = a * 2 + a - 3 * a + 4 - (a + 1)
    return sum.asSQL()
}
