import Foundation
import SQLite
import Testing

// Foundation has an Expression, too: with it imported a project says which one it means, as with SQLite.swift.
typealias Expression = SQLite.Expression

// The columns that the tests of the signatures use, as a test suite for SQLite.swift declares them.
let bool = Expression<Bool>("bool")
let boolOptional = Expression<Bool?>("boolOptional")
let int = Expression<Int>("int")
let intOptional = Expression<Int?>("intOptional")
let int64 = Expression<Int64>("int64")
let int64Optional = Expression<Int64?>("int64Optional")
let double = Expression<Double>("double")
let doubleOptional = Expression<Double?>("doubleOptional")
let string = Expression<String>("string")
let stringOptional = Expression<String?>("stringOptional")
let blob = Expression<Blob>("blob")
let blobOptional = Expression<Blob?>("blobOptional")
let data = Expression<Data>("data")
let dataOptional = Expression<Data?>("dataOptional")
let date = Expression<Date>("date")
let dateOptional = Expression<Date?>("dateOptional")
let table = Table("table")
let qualifiedTable = Table("table", database: "main")

/// The text of an expression, given where only `Expressible` is asked for: the operators have to find their types alone.
func assertSQL(
    _ expected: @autoclosure () -> String, _ expression: @autoclosure () throws -> any Expressible,
    sourceLocation: SourceLocation = #_sourceLocation
) rethrows {
    let text = try expression().asSQL()
    #expect(text == expected(), sourceLocation: sourceLocation)
}
