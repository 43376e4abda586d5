// at most 45000 scopes: six terms where only `any Expressible` is asked for, the slowest form there is
import Foundation
import SQLite

let a = SQLite.Expression<Int>("a")
let b = SQLite.Expression<Int?>("b")
let d = SQLite.Expression<Double>("d")

func take(_ expression: any Expressible) {}

func returned() -> any Expressible { a * 2 + a - 3 * a + 4 }
func reals() -> any Expressible { d * 2 + d - 3.5 * d + 4 / d }
func optionals() -> any Expressible { a * 2 + b - 3 * a + 4 }
func columns() -> any Expressible { a + a * a - a / a + a }
func passed() { take(a * 2 + a - 3 * a + 4) }
