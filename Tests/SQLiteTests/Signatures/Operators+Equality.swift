// Each signature of the inventory is spelled out: the local function `l352` compiles only while line 352 of
// SQLite.swift has its equal here. Then the text, through that function and written out.

import SQLite
import Testing

@Suite struct OperatorsEqualitySignatures {
    @Test func `operator == is equality, and IS NULL for nil`() {
        func l352<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Expression<Bool> where V : Value, V.Datatype : Equatable { lhs == rhs }
        assertSQL("(\"string\" = \"string\")", l352(string, string))
        assertSQL("(\"string\" = \"string\")", string == string)
        func l355<V>(_ lhs: Expression<V>, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Equatable { lhs == rhs }
        assertSQL("(\"string\" = \"stringOptional\")", l355(string, stringOptional))
        assertSQL("(\"string\" = \"stringOptional\")", string == stringOptional)
        func l358<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Expression<Bool?> where V : Value, V.Datatype : Equatable { lhs == rhs }
        assertSQL("(\"stringOptional\" = \"string\")", l358(stringOptional, string))
        assertSQL("(\"stringOptional\" = \"string\")", stringOptional == string)
        func l361<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Equatable { lhs == rhs }
        assertSQL("(\"stringOptional\" = \"stringOptional\")", l361(stringOptional, stringOptional))
        assertSQL("(\"stringOptional\" = \"stringOptional\")", stringOptional == stringOptional)
        func l364<V>(_ lhs: Expression<V>, _ rhs: V) -> Expression<Bool> where V : Value, V.Datatype : Equatable { lhs == rhs }
        assertSQL("(\"string\" = 'x')", l364(string, "x"))
        assertSQL("(\"string\" = 'x')", string == "x")
        func l367<V>(_ lhs: Expression<V?>, _ rhs: V?) -> Expression<Bool?> where V : Value, V.Datatype : Equatable { lhs == rhs }
        assertSQL("(\"stringOptional\" = 'x')", l367(stringOptional, "x"))
        assertSQL("(\"stringOptional\" = 'x')", stringOptional == "x")
        assertSQL("(\"stringOptional\" IS NULL)", stringOptional == nil)
        func l371<V>(_ lhs: V, _ rhs: Expression<V>) -> Expression<Bool> where V : Value, V.Datatype : Equatable { lhs == rhs }
        assertSQL("('x' = \"string\")", l371("x", string))
        assertSQL("('x' = \"string\")", "x" == string)
        func l374<V>(_ lhs: V?, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Equatable { lhs == rhs }
        assertSQL("('x' = \"stringOptional\")", l374("x", stringOptional))
        assertSQL("('x' = \"stringOptional\")", "x" == stringOptional)
        assertSQL("(NULL IS \"stringOptional\")", nil == stringOptional)
    }

    @Test func `operator != is inequality, and IS NOT NULL for nil`() {
        func l406<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Expression<Bool> where V : Value, V.Datatype : Equatable { lhs != rhs }
        assertSQL("(\"string\" != \"string\")", l406(string, string))
        assertSQL("(\"string\" != \"string\")", string != string)
        func l409<V>(_ lhs: Expression<V>, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Equatable { lhs != rhs }
        assertSQL("(\"string\" != \"stringOptional\")", l409(string, stringOptional))
        assertSQL("(\"string\" != \"stringOptional\")", string != stringOptional)
        func l412<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Expression<Bool?> where V : Value, V.Datatype : Equatable { lhs != rhs }
        assertSQL("(\"stringOptional\" != \"string\")", l412(stringOptional, string))
        assertSQL("(\"stringOptional\" != \"string\")", stringOptional != string)
        func l415<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Equatable { lhs != rhs }
        assertSQL("(\"stringOptional\" != \"stringOptional\")", l415(stringOptional, stringOptional))
        assertSQL("(\"stringOptional\" != \"stringOptional\")", stringOptional != stringOptional)
        func l418<V>(_ lhs: Expression<V>, _ rhs: V) -> Expression<Bool> where V : Value, V.Datatype : Equatable { lhs != rhs }
        assertSQL("(\"string\" != 'x')", l418(string, "x"))
        assertSQL("(\"string\" != 'x')", string != "x")
        func l421<V>(_ lhs: Expression<V?>, _ rhs: V?) -> Expression<Bool?> where V : Value, V.Datatype : Equatable { lhs != rhs }
        assertSQL("(\"stringOptional\" != 'x')", l421(stringOptional, "x"))
        assertSQL("(\"stringOptional\" != 'x')", stringOptional != "x")
        assertSQL("(\"stringOptional\" IS NOT NULL)", stringOptional != nil)
        func l425<V>(_ lhs: V, _ rhs: Expression<V>) -> Expression<Bool> where V : Value, V.Datatype : Equatable { lhs != rhs }
        assertSQL("('x' != \"string\")", l425("x", string))
        assertSQL("('x' != \"string\")", "x" != string)
        func l428<V>(_ lhs: V?, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Equatable { lhs != rhs }
        assertSQL("('x' != \"stringOptional\")", l428("x", stringOptional))
        assertSQL("('x' != \"stringOptional\")", "x" != stringOptional)
        assertSQL("(NULL IS NOT \"stringOptional\")", nil != stringOptional)
    }

    @Test func `operator === is IS`() {
        func l379<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Expression<Bool> where V : Value, V.Datatype : Equatable { lhs === rhs }
        assertSQL("(\"string\" IS \"string\")", l379(string, string))
        assertSQL("(\"string\" IS \"string\")", string === string)
        func l382<V>(_ lhs: Expression<V>, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Equatable { lhs === rhs }
        assertSQL("(\"string\" IS \"stringOptional\")", l382(string, stringOptional))
        assertSQL("(\"string\" IS \"stringOptional\")", string === stringOptional)
        func l385<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Expression<Bool?> where V : Value, V.Datatype : Equatable { lhs === rhs }
        assertSQL("(\"stringOptional\" IS \"string\")", l385(stringOptional, string))
        assertSQL("(\"stringOptional\" IS \"string\")", stringOptional === string)
        func l388<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Equatable { lhs === rhs }
        assertSQL("(\"stringOptional\" IS \"stringOptional\")", l388(stringOptional, stringOptional))
        assertSQL("(\"stringOptional\" IS \"stringOptional\")", stringOptional === stringOptional)
        func l391<V>(_ lhs: Expression<V>, _ rhs: V) -> Expression<Bool> where V : Value, V.Datatype : Equatable { lhs === rhs }
        assertSQL("(\"string\" IS 'x')", l391(string, "x"))
        assertSQL("(\"string\" IS 'x')", string === "x")
        func l394<V>(_ lhs: Expression<V?>, _ rhs: V?) -> Expression<Bool?> where V : Value, V.Datatype : Equatable { lhs === rhs }
        assertSQL("(\"stringOptional\" IS 'x')", l394(stringOptional, "x"))
        assertSQL("(\"stringOptional\" IS 'x')", stringOptional === "x")
        assertSQL("(\"stringOptional\" IS NULL)", stringOptional === nil)
        func l398<V>(_ lhs: V, _ rhs: Expression<V>) -> Expression<Bool> where V : Value, V.Datatype : Equatable { lhs === rhs }
        assertSQL("('x' IS \"string\")", l398("x", string))
        assertSQL("('x' IS \"string\")", "x" === string)
        func l401<V>(_ lhs: V?, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Equatable { lhs === rhs }
        assertSQL("('x' IS \"stringOptional\")", l401("x", stringOptional))
        assertSQL("('x' IS \"stringOptional\")", "x" === stringOptional)
        assertSQL("(NULL IS \"stringOptional\")", nil === stringOptional)
    }

    @Test func `operator !== is IS NOT`() {
        func l433<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Expression<Bool> where V : Value, V.Datatype : Equatable { lhs !== rhs }
        assertSQL("(\"string\" IS NOT \"string\")", l433(string, string))
        assertSQL("(\"string\" IS NOT \"string\")", string !== string)
        func l436<V>(_ lhs: Expression<V>, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Equatable { lhs !== rhs }
        assertSQL("(\"string\" IS NOT \"stringOptional\")", l436(string, stringOptional))
        assertSQL("(\"string\" IS NOT \"stringOptional\")", string !== stringOptional)
        func l439<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Expression<Bool?> where V : Value, V.Datatype : Equatable { lhs !== rhs }
        assertSQL("(\"stringOptional\" IS NOT \"string\")", l439(stringOptional, string))
        assertSQL("(\"stringOptional\" IS NOT \"string\")", stringOptional !== string)
        func l442<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Equatable { lhs !== rhs }
        assertSQL("(\"stringOptional\" IS NOT \"stringOptional\")", l442(stringOptional, stringOptional))
        assertSQL("(\"stringOptional\" IS NOT \"stringOptional\")", stringOptional !== stringOptional)
        func l445<V>(_ lhs: Expression<V>, _ rhs: V) -> Expression<Bool> where V : Value, V.Datatype : Equatable { lhs !== rhs }
        assertSQL("(\"string\" IS NOT 'x')", l445(string, "x"))
        assertSQL("(\"string\" IS NOT 'x')", string !== "x")
        func l448<V>(_ lhs: Expression<V?>, _ rhs: V?) -> Expression<Bool?> where V : Value, V.Datatype : Equatable { lhs !== rhs }
        assertSQL("(\"stringOptional\" IS NOT 'x')", l448(stringOptional, "x"))
        assertSQL("(\"stringOptional\" IS NOT 'x')", stringOptional !== "x")
        assertSQL("(\"stringOptional\" IS NOT NULL)", stringOptional !== nil)
        func l452<V>(_ lhs: V, _ rhs: Expression<V>) -> Expression<Bool> where V : Value, V.Datatype : Equatable { lhs !== rhs }
        assertSQL("('x' IS NOT \"string\")", l452("x", string))
        assertSQL("('x' IS NOT \"string\")", "x" !== string)
        func l455<V>(_ lhs: V?, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Equatable { lhs !== rhs }
        assertSQL("('x' IS NOT \"stringOptional\")", l455("x", stringOptional))
        assertSQL("('x' IS NOT \"stringOptional\")", "x" !== stringOptional)
        assertSQL("(NULL IS NOT \"stringOptional\")", nil !== stringOptional)
    }
}
