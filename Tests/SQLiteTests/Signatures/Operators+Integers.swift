// Each signature of the inventory is spelled out: the local function `l352` compiles only while line 352 of
// SQLite.swift has its equal here. Then the text, through that function and written out.

import SQLite
import Testing

@Suite struct OperatorsIntegersSignatures {
    @Test func `operator % is the remainder`() {
        func l193<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype == Int64 { lhs % rhs }
        assertSQL("(\"int\" % \"int\")", l193(int, int))
        assertSQL("(\"int\" % \"int\")", int % int)
        func l196<V>(_ lhs: Expression<V>, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs % rhs }
        assertSQL("(\"int\" % \"intOptional\")", l196(int, intOptional))
        assertSQL("(\"int\" % \"intOptional\")", int % intOptional)
        func l199<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs % rhs }
        assertSQL("(\"intOptional\" % \"int\")", l199(intOptional, int))
        assertSQL("(\"intOptional\" % \"int\")", intOptional % int)
        func l202<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs % rhs }
        assertSQL("(\"intOptional\" % \"intOptional\")", l202(intOptional, intOptional))
        assertSQL("(\"intOptional\" % \"intOptional\")", intOptional % intOptional)
        func l205<V>(_ lhs: Expression<V>, _ rhs: V) -> Expression<V> where V : Value, V.Datatype == Int64 { lhs % rhs }
        assertSQL("(\"int\" % 3)", l205(int, 3))
        assertSQL("(\"int\" % 3)", int % 3)
        func l208<V>(_ lhs: Expression<V?>, _ rhs: V) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs % rhs }
        assertSQL("(\"intOptional\" % 3)", l208(intOptional, 3))
        assertSQL("(\"intOptional\" % 3)", intOptional % 3)
        func l211<V>(_ lhs: V, _ rhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype == Int64 { lhs % rhs }
        assertSQL("(3 % \"int\")", l211(3, int))
        assertSQL("(3 % \"int\")", 3 % int)
        func l214<V>(_ lhs: V, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs % rhs }
        assertSQL("(3 % \"intOptional\")", l214(3, intOptional))
        assertSQL("(3 % \"intOptional\")", 3 % intOptional)
    }

    @Test func `operator << shifts left`() {
        func l218<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype == Int64 { lhs << rhs }
        assertSQL("(\"int\" << \"int\")", l218(int, int))
        assertSQL("(\"int\" << \"int\")", int << int)
        func l221<V>(_ lhs: Expression<V>, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs << rhs }
        assertSQL("(\"int\" << \"intOptional\")", l221(int, intOptional))
        assertSQL("(\"int\" << \"intOptional\")", int << intOptional)
        func l224<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs << rhs }
        assertSQL("(\"intOptional\" << \"int\")", l224(intOptional, int))
        assertSQL("(\"intOptional\" << \"int\")", intOptional << int)
        func l227<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs << rhs }
        assertSQL("(\"intOptional\" << \"intOptional\")", l227(intOptional, intOptional))
        assertSQL("(\"intOptional\" << \"intOptional\")", intOptional << intOptional)
        func l230<V>(_ lhs: Expression<V>, _ rhs: V) -> Expression<V> where V : Value, V.Datatype == Int64 { lhs << rhs }
        assertSQL("(\"int\" << 3)", l230(int, 3))
        assertSQL("(\"int\" << 3)", int << 3)
        func l233<V>(_ lhs: Expression<V?>, _ rhs: V) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs << rhs }
        assertSQL("(\"intOptional\" << 3)", l233(intOptional, 3))
        assertSQL("(\"intOptional\" << 3)", intOptional << 3)
        func l236<V>(_ lhs: V, _ rhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype == Int64 { lhs << rhs }
        assertSQL("(3 << \"int\")", l236(3, int))
        assertSQL("(3 << \"int\")", 3 << int)
        func l239<V>(_ lhs: V, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs << rhs }
        assertSQL("(3 << \"intOptional\")", l239(3, intOptional))
        assertSQL("(3 << \"intOptional\")", 3 << intOptional)
    }

    @Test func `operator >> shifts right`() {
        func l243<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype == Int64 { lhs >> rhs }
        assertSQL("(\"int\" >> \"int\")", l243(int, int))
        assertSQL("(\"int\" >> \"int\")", int >> int)
        func l246<V>(_ lhs: Expression<V>, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs >> rhs }
        assertSQL("(\"int\" >> \"intOptional\")", l246(int, intOptional))
        assertSQL("(\"int\" >> \"intOptional\")", int >> intOptional)
        func l249<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs >> rhs }
        assertSQL("(\"intOptional\" >> \"int\")", l249(intOptional, int))
        assertSQL("(\"intOptional\" >> \"int\")", intOptional >> int)
        func l252<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs >> rhs }
        assertSQL("(\"intOptional\" >> \"intOptional\")", l252(intOptional, intOptional))
        assertSQL("(\"intOptional\" >> \"intOptional\")", intOptional >> intOptional)
        func l255<V>(_ lhs: Expression<V>, _ rhs: V) -> Expression<V> where V : Value, V.Datatype == Int64 { lhs >> rhs }
        assertSQL("(\"int\" >> 3)", l255(int, 3))
        assertSQL("(\"int\" >> 3)", int >> 3)
        func l258<V>(_ lhs: Expression<V?>, _ rhs: V) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs >> rhs }
        assertSQL("(\"intOptional\" >> 3)", l258(intOptional, 3))
        assertSQL("(\"intOptional\" >> 3)", intOptional >> 3)
        func l261<V>(_ lhs: V, _ rhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype == Int64 { lhs >> rhs }
        assertSQL("(3 >> \"int\")", l261(3, int))
        assertSQL("(3 >> \"int\")", 3 >> int)
        func l264<V>(_ lhs: V, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs >> rhs }
        assertSQL("(3 >> \"intOptional\")", l264(3, intOptional))
        assertSQL("(3 >> \"intOptional\")", 3 >> intOptional)
    }

    @Test func `operator & is the bitwise and`() {
        func l268<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype == Int64 { lhs & rhs }
        assertSQL("(\"int\" & \"int\")", l268(int, int))
        assertSQL("(\"int\" & \"int\")", int & int)
        func l271<V>(_ lhs: Expression<V>, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs & rhs }
        assertSQL("(\"int\" & \"intOptional\")", l271(int, intOptional))
        assertSQL("(\"int\" & \"intOptional\")", int & intOptional)
        func l274<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs & rhs }
        assertSQL("(\"intOptional\" & \"int\")", l274(intOptional, int))
        assertSQL("(\"intOptional\" & \"int\")", intOptional & int)
        func l277<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs & rhs }
        assertSQL("(\"intOptional\" & \"intOptional\")", l277(intOptional, intOptional))
        assertSQL("(\"intOptional\" & \"intOptional\")", intOptional & intOptional)
        func l280<V>(_ lhs: Expression<V>, _ rhs: V) -> Expression<V> where V : Value, V.Datatype == Int64 { lhs & rhs }
        assertSQL("(\"int\" & 3)", l280(int, 3))
        assertSQL("(\"int\" & 3)", int & 3)
        func l283<V>(_ lhs: Expression<V?>, _ rhs: V) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs & rhs }
        assertSQL("(\"intOptional\" & 3)", l283(intOptional, 3))
        assertSQL("(\"intOptional\" & 3)", intOptional & 3)
        func l286<V>(_ lhs: V, _ rhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype == Int64 { lhs & rhs }
        assertSQL("(3 & \"int\")", l286(3, int))
        assertSQL("(3 & \"int\")", 3 & int)
        func l289<V>(_ lhs: V, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs & rhs }
        assertSQL("(3 & \"intOptional\")", l289(3, intOptional))
        assertSQL("(3 & \"intOptional\")", 3 & intOptional)
    }

    @Test func `operator | is the bitwise or`() {
        func l293<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype == Int64 { lhs | rhs }
        assertSQL("(\"int\" | \"int\")", l293(int, int))
        assertSQL("(\"int\" | \"int\")", int | int)
        func l296<V>(_ lhs: Expression<V>, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs | rhs }
        assertSQL("(\"int\" | \"intOptional\")", l296(int, intOptional))
        assertSQL("(\"int\" | \"intOptional\")", int | intOptional)
        func l299<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs | rhs }
        assertSQL("(\"intOptional\" | \"int\")", l299(intOptional, int))
        assertSQL("(\"intOptional\" | \"int\")", intOptional | int)
        func l302<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs | rhs }
        assertSQL("(\"intOptional\" | \"intOptional\")", l302(intOptional, intOptional))
        assertSQL("(\"intOptional\" | \"intOptional\")", intOptional | intOptional)
        func l305<V>(_ lhs: Expression<V>, _ rhs: V) -> Expression<V> where V : Value, V.Datatype == Int64 { lhs | rhs }
        assertSQL("(\"int\" | 3)", l305(int, 3))
        assertSQL("(\"int\" | 3)", int | 3)
        func l308<V>(_ lhs: Expression<V?>, _ rhs: V) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs | rhs }
        assertSQL("(\"intOptional\" | 3)", l308(intOptional, 3))
        assertSQL("(\"intOptional\" | 3)", intOptional | 3)
        func l311<V>(_ lhs: V, _ rhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype == Int64 { lhs | rhs }
        assertSQL("(3 | \"int\")", l311(3, int))
        assertSQL("(3 | \"int\")", 3 | int)
        func l314<V>(_ lhs: V, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs | rhs }
        assertSQL("(3 | \"intOptional\")", l314(3, intOptional))
        assertSQL("(3 | \"intOptional\")", 3 | intOptional)
    }

    @Test func `operator ^ is the bitwise exclusive or`() {
        func l318<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype == Int64 { lhs ^ rhs }
        assertSQL("(~((\"int\" & \"int\")) & (\"int\" | \"int\"))", l318(int, int))
        assertSQL("(~((\"int\" & \"int\")) & (\"int\" | \"int\"))", int ^ int)
        func l321<V>(_ lhs: Expression<V>, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs ^ rhs }
        assertSQL("(~((\"int\" & \"intOptional\")) & (\"int\" | \"intOptional\"))", l321(int, intOptional))
        assertSQL("(~((\"int\" & \"intOptional\")) & (\"int\" | \"intOptional\"))", int ^ intOptional)
        func l324<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs ^ rhs }
        assertSQL("(~((\"intOptional\" & \"int\")) & (\"intOptional\" | \"int\"))", l324(intOptional, int))
        assertSQL("(~((\"intOptional\" & \"int\")) & (\"intOptional\" | \"int\"))", intOptional ^ int)
        func l327<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs ^ rhs }
        assertSQL("(~((\"intOptional\" & \"intOptional\")) & (\"intOptional\" | \"intOptional\"))", l327(intOptional, intOptional))
        assertSQL("(~((\"intOptional\" & \"intOptional\")) & (\"intOptional\" | \"intOptional\"))", intOptional ^ intOptional)
        func l330<V>(_ lhs: Expression<V>, _ rhs: V) -> Expression<V> where V : Value, V.Datatype == Int64 { lhs ^ rhs }
        assertSQL("(~((\"int\" & 3)) & (\"int\" | 3))", l330(int, 3))
        assertSQL("(~((\"int\" & 3)) & (\"int\" | 3))", int ^ 3)
        func l333<V>(_ lhs: Expression<V?>, _ rhs: V) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs ^ rhs }
        assertSQL("(~((\"intOptional\" & 3)) & (\"intOptional\" | 3))", l333(intOptional, 3))
        assertSQL("(~((\"intOptional\" & 3)) & (\"intOptional\" | 3))", intOptional ^ 3)
        func l336<V>(_ lhs: V, _ rhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype == Int64 { lhs ^ rhs }
        assertSQL("(~((3 & \"int\")) & (3 | \"int\"))", l336(3, int))
        assertSQL("(~((3 & \"int\")) & (3 | \"int\"))", 3 ^ int)
        func l339<V>(_ lhs: V, _ rhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype == Int64 { lhs ^ rhs }
        assertSQL("(~((3 & \"intOptional\")) & (3 | \"intOptional\"))", l339(3, intOptional))
        assertSQL("(~((3 & \"intOptional\")) & (3 | \"intOptional\"))", 3 ^ intOptional)
    }

    @Test func `operator ~ is the bitwise complement`() {
        func l343<V>(_ lhs: Expression<V>) -> Expression<V> where V : Value, V.Datatype == Int64 { ~lhs }
        assertSQL("~(\"int\")", l343(int))
        assertSQL("~(\"int\")", ~int)
        func l346<V>(_ lhs: Expression<V?>) -> Expression<V?> where V : Value, V.Datatype == Int64 { ~lhs }
        assertSQL("~(\"intOptional\")", l346(intOptional))
        assertSQL("~(\"intOptional\")", ~intOptional)
    }
}
