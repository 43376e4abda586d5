// Each signature of the inventory is spelled out: the local function `l352` compiles only while line 352 of
// SQLite.swift has its equal here. Then the text, through that function and written out.

import SQLite
import Testing

@Suite struct OperatorsArithmeticSignatures {
    @Test func `operator + adds or concatenates`() {
        func l56(_ lhs: Expression<String>, _ rhs: Expression<String>) -> Expression<String> { lhs + rhs }
        assertSQL("(\"string\" || \"string\")", l56(string, string))
        assertSQL("(\"string\" || \"string\")", string + string)
        func l60(_ lhs: Expression<String>, _ rhs: Expression<String?>) -> Expression<String?> { lhs + rhs }
        assertSQL("(\"string\" || \"stringOptional\")", l60(string, stringOptional))
        assertSQL("(\"string\" || \"stringOptional\")", string + stringOptional)
        func l63(_ lhs: Expression<String?>, _ rhs: Expression<String>) -> Expression<String?> { lhs + rhs }
        assertSQL("(\"stringOptional\" || \"string\")", l63(stringOptional, string))
        assertSQL("(\"stringOptional\" || \"string\")", stringOptional + string)
        func l66(_ lhs: Expression<String?>, _ rhs: Expression<String?>) -> Expression<String?> { lhs + rhs }
        assertSQL("(\"stringOptional\" || \"stringOptional\")", l66(stringOptional, stringOptional))
        assertSQL("(\"stringOptional\" || \"stringOptional\")", stringOptional + stringOptional)
        func l69(_ lhs: Expression<String>, _ rhs: String) -> Expression<String> { lhs + rhs }
        assertSQL("(\"string\" || 'x')", l69(string, "x"))
        assertSQL("(\"string\" || 'x')", string + "x")
        func l72(_ lhs: Expression<String?>, _ rhs: String) -> Expression<String?> { lhs + rhs }
        assertSQL("(\"stringOptional\" || 'x')", l72(stringOptional, "x"))
        assertSQL("(\"stringOptional\" || 'x')", stringOptional + "x")
        func l75(_ lhs: String, _ rhs: Expression<String>) -> Expression<String> { lhs + rhs }
        assertSQL("('x' || \"string\")", l75("x", string))
        assertSQL("('x' || \"string\")", "x" + string)
        func l78(_ lhs: String, _ rhs: Expression<String?>) -> Expression<String?> { lhs + rhs }
        assertSQL("('x' || \"stringOptional\")", l78("x", stringOptional))
        assertSQL("('x' || \"stringOptional\")", "x" + stringOptional)
        func l84<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype : Number { lhs + rhs }
        assertSQL("(\"double\" + \"double\")", l84(double, double))
        assertSQL("(\"double\" + \"double\")", double + double)
        func l87<V>(_ lhs: Expression<V>, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype : Number { lhs + rhs }
        assertSQL("(\"double\" + \"doubleOptional\")", l87(double, doubleOptional))
        assertSQL("(\"double\" + \"doubleOptional\")", double + doubleOptional)
        func l90<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Expression<V?> where V : Value, V.Datatype : Number { lhs + rhs }
        assertSQL("(\"doubleOptional\" + \"double\")", l90(doubleOptional, double))
        assertSQL("(\"doubleOptional\" + \"double\")", doubleOptional + double)
        func l93<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype : Number { lhs + rhs }
        assertSQL("(\"doubleOptional\" + \"doubleOptional\")", l93(doubleOptional, doubleOptional))
        assertSQL("(\"doubleOptional\" + \"doubleOptional\")", doubleOptional + doubleOptional)
        func l96<V>(_ lhs: Expression<V>, _ rhs: V) -> Expression<V> where V : Value, V.Datatype : Number { lhs + rhs }
        assertSQL("(\"double\" + 2.5)", l96(double, 2.5))
        assertSQL("(\"double\" + 2.5)", double + 2.5)
        func l99<V>(_ lhs: Expression<V?>, _ rhs: V) -> Expression<V?> where V : Value, V.Datatype : Number { lhs + rhs }
        assertSQL("(\"doubleOptional\" + 2.5)", l99(doubleOptional, 2.5))
        assertSQL("(\"doubleOptional\" + 2.5)", doubleOptional + 2.5)
        func l102<V>(_ lhs: V, _ rhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype : Number { lhs + rhs }
        assertSQL("(2.5 + \"double\")", l102(2.5, double))
        assertSQL("(2.5 + \"double\")", 2.5 + double)
        func l105<V>(_ lhs: V, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype : Number { lhs + rhs }
        assertSQL("(2.5 + \"doubleOptional\")", l105(2.5, doubleOptional))
        assertSQL("(2.5 + \"doubleOptional\")", 2.5 + doubleOptional)
    }

    @Test func `operator - subtracts or negates`() {
        func l109<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype : Number { lhs - rhs }
        assertSQL("(\"double\" - \"double\")", l109(double, double))
        assertSQL("(\"double\" - \"double\")", double - double)
        func l112<V>(_ lhs: Expression<V>, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype : Number { lhs - rhs }
        assertSQL("(\"double\" - \"doubleOptional\")", l112(double, doubleOptional))
        assertSQL("(\"double\" - \"doubleOptional\")", double - doubleOptional)
        func l115<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Expression<V?> where V : Value, V.Datatype : Number { lhs - rhs }
        assertSQL("(\"doubleOptional\" - \"double\")", l115(doubleOptional, double))
        assertSQL("(\"doubleOptional\" - \"double\")", doubleOptional - double)
        func l118<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype : Number { lhs - rhs }
        assertSQL("(\"doubleOptional\" - \"doubleOptional\")", l118(doubleOptional, doubleOptional))
        assertSQL("(\"doubleOptional\" - \"doubleOptional\")", doubleOptional - doubleOptional)
        func l121<V>(_ lhs: Expression<V>, _ rhs: V) -> Expression<V> where V : Value, V.Datatype : Number { lhs - rhs }
        assertSQL("(\"double\" - 2.5)", l121(double, 2.5))
        assertSQL("(\"double\" - 2.5)", double - 2.5)
        func l124<V>(_ lhs: Expression<V?>, _ rhs: V) -> Expression<V?> where V : Value, V.Datatype : Number { lhs - rhs }
        assertSQL("(\"doubleOptional\" - 2.5)", l124(doubleOptional, 2.5))
        assertSQL("(\"doubleOptional\" - 2.5)", doubleOptional - 2.5)
        func l127<V>(_ lhs: V, _ rhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype : Number { lhs - rhs }
        assertSQL("(2.5 - \"double\")", l127(2.5, double))
        assertSQL("(2.5 - \"double\")", 2.5 - double)
        func l130<V>(_ lhs: V, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype : Number { lhs - rhs }
        assertSQL("(2.5 - \"doubleOptional\")", l130(2.5, doubleOptional))
        assertSQL("(2.5 - \"doubleOptional\")", 2.5 - doubleOptional)
        func l184<V>(_ lhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype : Number { -lhs }
        assertSQL("-(\"double\")", l184(double))
        assertSQL("-(\"double\")", -double)
        func l187<V>(_ lhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype : Number { -lhs }
        assertSQL("-(\"doubleOptional\")", l187(doubleOptional))
        assertSQL("-(\"doubleOptional\")", -doubleOptional)
    }

    @Test func `operator * multiplies`() {
        func l134<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype : Number { lhs * rhs }
        assertSQL("(\"double\" * \"double\")", l134(double, double))
        assertSQL("(\"double\" * \"double\")", double * double)
        func l137<V>(_ lhs: Expression<V>, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype : Number { lhs * rhs }
        assertSQL("(\"double\" * \"doubleOptional\")", l137(double, doubleOptional))
        assertSQL("(\"double\" * \"doubleOptional\")", double * doubleOptional)
        func l140<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Expression<V?> where V : Value, V.Datatype : Number { lhs * rhs }
        assertSQL("(\"doubleOptional\" * \"double\")", l140(doubleOptional, double))
        assertSQL("(\"doubleOptional\" * \"double\")", doubleOptional * double)
        func l143<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype : Number { lhs * rhs }
        assertSQL("(\"doubleOptional\" * \"doubleOptional\")", l143(doubleOptional, doubleOptional))
        assertSQL("(\"doubleOptional\" * \"doubleOptional\")", doubleOptional * doubleOptional)
        func l146<V>(_ lhs: Expression<V>, _ rhs: V) -> Expression<V> where V : Value, V.Datatype : Number { lhs * rhs }
        assertSQL("(\"double\" * 2.5)", l146(double, 2.5))
        assertSQL("(\"double\" * 2.5)", double * 2.5)
        func l149<V>(_ lhs: Expression<V?>, _ rhs: V) -> Expression<V?> where V : Value, V.Datatype : Number { lhs * rhs }
        assertSQL("(\"doubleOptional\" * 2.5)", l149(doubleOptional, 2.5))
        assertSQL("(\"doubleOptional\" * 2.5)", doubleOptional * 2.5)
        func l152<V>(_ lhs: V, _ rhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype : Number { lhs * rhs }
        assertSQL("(2.5 * \"double\")", l152(2.5, double))
        assertSQL("(2.5 * \"double\")", 2.5 * double)
        func l155<V>(_ lhs: V, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype : Number { lhs * rhs }
        assertSQL("(2.5 * \"doubleOptional\")", l155(2.5, doubleOptional))
        assertSQL("(2.5 * \"doubleOptional\")", 2.5 * doubleOptional)
    }

    @Test func `operator / divides`() {
        func l159<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype : Number { lhs / rhs }
        assertSQL("(\"double\" / \"double\")", l159(double, double))
        assertSQL("(\"double\" / \"double\")", double / double)
        func l162<V>(_ lhs: Expression<V>, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype : Number { lhs / rhs }
        assertSQL("(\"double\" / \"doubleOptional\")", l162(double, doubleOptional))
        assertSQL("(\"double\" / \"doubleOptional\")", double / doubleOptional)
        func l165<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Expression<V?> where V : Value, V.Datatype : Number { lhs / rhs }
        assertSQL("(\"doubleOptional\" / \"double\")", l165(doubleOptional, double))
        assertSQL("(\"doubleOptional\" / \"double\")", doubleOptional / double)
        func l168<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype : Number { lhs / rhs }
        assertSQL("(\"doubleOptional\" / \"doubleOptional\")", l168(doubleOptional, doubleOptional))
        assertSQL("(\"doubleOptional\" / \"doubleOptional\")", doubleOptional / doubleOptional)
        func l171<V>(_ lhs: Expression<V>, _ rhs: V) -> Expression<V> where V : Value, V.Datatype : Number { lhs / rhs }
        assertSQL("(\"double\" / 2.5)", l171(double, 2.5))
        assertSQL("(\"double\" / 2.5)", double / 2.5)
        func l174<V>(_ lhs: Expression<V?>, _ rhs: V) -> Expression<V?> where V : Value, V.Datatype : Number { lhs / rhs }
        assertSQL("(\"doubleOptional\" / 2.5)", l174(doubleOptional, 2.5))
        assertSQL("(\"doubleOptional\" / 2.5)", doubleOptional / 2.5)
        func l177<V>(_ lhs: V, _ rhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype : Number { lhs / rhs }
        assertSQL("(2.5 / \"double\")", l177(2.5, double))
        assertSQL("(2.5 / \"double\")", 2.5 / double)
        func l180<V>(_ lhs: V, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype : Number { lhs / rhs }
        assertSQL("(2.5 / \"doubleOptional\")", l180(2.5, doubleOptional))
        assertSQL("(2.5 / \"doubleOptional\")", 2.5 / doubleOptional)
    }
}
