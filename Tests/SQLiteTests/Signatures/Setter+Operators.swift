// Each signature of the inventory is spelled out: the local function `l352` compiles only while line 352 of
// SQLite.swift has its equal here. Then the text, through that function and written out.

import SQLite
import Testing

@Suite struct SetterOperatorsSignatures {
    @Test func `operator <- assigns`() {
        func l84<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Setter where V : Value { lhs <- rhs }
        assertSQL("\"int64\" = \"int64\"", l84(int64, int64))
        assertSQL("\"int64\" = \"int64\"", int64 <- int64)
        func l87<V>(_ lhs: Expression<V>, _ rhs: V) -> Setter where V : Value { lhs <- rhs }
        assertSQL("\"int64\" = 7", l87(int64, 7))
        assertSQL("\"int64\" = 7", int64 <- 7)
        func l90<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Setter where V : Value { lhs <- rhs }
        assertSQL("\"int64Optional\" = \"int64\"", l90(int64Optional, int64))
        assertSQL("\"int64Optional\" = \"int64\"", int64Optional <- int64)
        func l93<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Setter where V : Value { lhs <- rhs }
        assertSQL("\"int64Optional\" = \"int64Optional\"", l93(int64Optional, int64Optional))
        assertSQL("\"int64Optional\" = \"int64Optional\"", int64Optional <- int64Optional)
        func l96<V>(_ lhs: Expression<V?>, _ rhs: V?) -> Setter where V : Value { lhs <- rhs }
        assertSQL("\"int64Optional\" = 7", l96(int64Optional, 7))
        assertSQL("\"int64Optional\" = 7", int64Optional <- 7)
        assertSQL("\"int64Optional\" = NULL", int64Optional <- nil)
    }

    @Test func `operator += assigns the result of +`() {
        func l100(_ lhs: Expression<String>, _ rhs: Expression<String>) -> Setter { lhs += rhs }
        assertSQL("\"string\" = (\"string\" || \"string\")", l100(string, string))
        assertSQL("\"string\" = (\"string\" || \"string\")", string += string)
        func l103(_ lhs: Expression<String>, _ rhs: String) -> Setter { lhs += rhs }
        assertSQL("\"string\" = (\"string\" || 'x')", l103(string, "x"))
        assertSQL("\"string\" = (\"string\" || 'x')", string += "x")
        func l106(_ lhs: Expression<String?>, _ rhs: Expression<String>) -> Setter { lhs += rhs }
        assertSQL("\"stringOptional\" = (\"stringOptional\" || \"string\")", l106(stringOptional, string))
        assertSQL("\"stringOptional\" = (\"stringOptional\" || \"string\")", stringOptional += string)
        func l109(_ lhs: Expression<String?>, _ rhs: Expression<String?>) -> Setter { lhs += rhs }
        assertSQL("\"stringOptional\" = (\"stringOptional\" || \"stringOptional\")", l109(stringOptional, stringOptional))
        assertSQL("\"stringOptional\" = (\"stringOptional\" || \"stringOptional\")", stringOptional += stringOptional)
        func l112(_ lhs: Expression<String?>, _ rhs: String) -> Setter { lhs += rhs }
        assertSQL("\"stringOptional\" = (\"stringOptional\" || 'x')", l112(stringOptional, "x"))
        assertSQL("\"stringOptional\" = (\"stringOptional\" || 'x')", stringOptional += "x")
        func l116<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Setter where V : Value, V.Datatype : Number { lhs += rhs }
        assertSQL("\"double\" = (\"double\" + \"double\")", l116(double, double))
        assertSQL("\"double\" = (\"double\" + \"double\")", double += double)
        func l119<V>(_ lhs: Expression<V>, _ rhs: V) -> Setter where V : Value, V.Datatype : Number { lhs += rhs }
        assertSQL("\"double\" = (\"double\" + 2.5)", l119(double, 2.5))
        assertSQL("\"double\" = (\"double\" + 2.5)", double += 2.5)
        func l122<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Setter where V : Value, V.Datatype : Number { lhs += rhs }
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" + \"double\")", l122(doubleOptional, double))
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" + \"double\")", doubleOptional += double)
        func l125<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Setter where V : Value, V.Datatype : Number { lhs += rhs }
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" + \"doubleOptional\")", l125(doubleOptional, doubleOptional))
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" + \"doubleOptional\")", doubleOptional += doubleOptional)
        func l128<V>(_ lhs: Expression<V?>, _ rhs: V) -> Setter where V : Value, V.Datatype : Number { lhs += rhs }
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" + 2.5)", l128(doubleOptional, 2.5))
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" + 2.5)", doubleOptional += 2.5)
    }

    @Test func `operator -= assigns the result of -`() {
        func l132<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Setter where V : Value, V.Datatype : Number { lhs -= rhs }
        assertSQL("\"double\" = (\"double\" - \"double\")", l132(double, double))
        assertSQL("\"double\" = (\"double\" - \"double\")", double -= double)
        func l135<V>(_ lhs: Expression<V>, _ rhs: V) -> Setter where V : Value, V.Datatype : Number { lhs -= rhs }
        assertSQL("\"double\" = (\"double\" - 2.5)", l135(double, 2.5))
        assertSQL("\"double\" = (\"double\" - 2.5)", double -= 2.5)
        func l138<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Setter where V : Value, V.Datatype : Number { lhs -= rhs }
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" - \"double\")", l138(doubleOptional, double))
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" - \"double\")", doubleOptional -= double)
        func l141<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Setter where V : Value, V.Datatype : Number { lhs -= rhs }
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" - \"doubleOptional\")", l141(doubleOptional, doubleOptional))
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" - \"doubleOptional\")", doubleOptional -= doubleOptional)
        func l144<V>(_ lhs: Expression<V?>, _ rhs: V) -> Setter where V : Value, V.Datatype : Number { lhs -= rhs }
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" - 2.5)", l144(doubleOptional, 2.5))
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" - 2.5)", doubleOptional -= 2.5)
    }

    @Test func `operator *= assigns the result of *`() {
        func l148<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Setter where V : Value, V.Datatype : Number { lhs *= rhs }
        assertSQL("\"double\" = (\"double\" * \"double\")", l148(double, double))
        assertSQL("\"double\" = (\"double\" * \"double\")", double *= double)
        func l151<V>(_ lhs: Expression<V>, _ rhs: V) -> Setter where V : Value, V.Datatype : Number { lhs *= rhs }
        assertSQL("\"double\" = (\"double\" * 2.5)", l151(double, 2.5))
        assertSQL("\"double\" = (\"double\" * 2.5)", double *= 2.5)
        func l154<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Setter where V : Value, V.Datatype : Number { lhs *= rhs }
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" * \"double\")", l154(doubleOptional, double))
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" * \"double\")", doubleOptional *= double)
        func l157<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Setter where V : Value, V.Datatype : Number { lhs *= rhs }
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" * \"doubleOptional\")", l157(doubleOptional, doubleOptional))
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" * \"doubleOptional\")", doubleOptional *= doubleOptional)
        func l160<V>(_ lhs: Expression<V?>, _ rhs: V) -> Setter where V : Value, V.Datatype : Number { lhs *= rhs }
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" * 2.5)", l160(doubleOptional, 2.5))
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" * 2.5)", doubleOptional *= 2.5)
    }

    @Test func `operator /= assigns the result of /`() {
        func l164<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Setter where V : Value, V.Datatype : Number { lhs /= rhs }
        assertSQL("\"double\" = (\"double\" / \"double\")", l164(double, double))
        assertSQL("\"double\" = (\"double\" / \"double\")", double /= double)
        func l167<V>(_ lhs: Expression<V>, _ rhs: V) -> Setter where V : Value, V.Datatype : Number { lhs /= rhs }
        assertSQL("\"double\" = (\"double\" / 2.5)", l167(double, 2.5))
        assertSQL("\"double\" = (\"double\" / 2.5)", double /= 2.5)
        func l170<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Setter where V : Value, V.Datatype : Number { lhs /= rhs }
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" / \"double\")", l170(doubleOptional, double))
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" / \"double\")", doubleOptional /= double)
        func l173<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Setter where V : Value, V.Datatype : Number { lhs /= rhs }
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" / \"doubleOptional\")", l173(doubleOptional, doubleOptional))
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" / \"doubleOptional\")", doubleOptional /= doubleOptional)
        func l176<V>(_ lhs: Expression<V?>, _ rhs: V) -> Setter where V : Value, V.Datatype : Number { lhs /= rhs }
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" / 2.5)", l176(doubleOptional, 2.5))
        assertSQL("\"doubleOptional\" = (\"doubleOptional\" / 2.5)", doubleOptional /= 2.5)
    }

    @Test func `operator %= assigns the result of %`() {
        func l180<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Setter where V : Value, V.Datatype == Int64 { lhs %= rhs }
        assertSQL("\"int\" = (\"int\" % \"int\")", l180(int, int))
        assertSQL("\"int\" = (\"int\" % \"int\")", int %= int)
        func l183<V>(_ lhs: Expression<V>, _ rhs: V) -> Setter where V : Value, V.Datatype == Int64 { lhs %= rhs }
        assertSQL("\"int\" = (\"int\" % 3)", l183(int, 3))
        assertSQL("\"int\" = (\"int\" % 3)", int %= 3)
        func l186<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Setter where V : Value, V.Datatype == Int64 { lhs %= rhs }
        assertSQL("\"intOptional\" = (\"intOptional\" % \"int\")", l186(intOptional, int))
        assertSQL("\"intOptional\" = (\"intOptional\" % \"int\")", intOptional %= int)
        func l189<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Setter where V : Value, V.Datatype == Int64 { lhs %= rhs }
        assertSQL("\"intOptional\" = (\"intOptional\" % \"intOptional\")", l189(intOptional, intOptional))
        assertSQL("\"intOptional\" = (\"intOptional\" % \"intOptional\")", intOptional %= intOptional)
        func l192<V>(_ lhs: Expression<V?>, _ rhs: V) -> Setter where V : Value, V.Datatype == Int64 { lhs %= rhs }
        assertSQL("\"intOptional\" = (\"intOptional\" % 3)", l192(intOptional, 3))
        assertSQL("\"intOptional\" = (\"intOptional\" % 3)", intOptional %= 3)
    }

    @Test func `operator <<= assigns the result of <<`() {
        func l196<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Setter where V : Value, V.Datatype == Int64 { lhs <<= rhs }
        assertSQL("\"int\" = (\"int\" << \"int\")", l196(int, int))
        assertSQL("\"int\" = (\"int\" << \"int\")", int <<= int)
        func l199<V>(_ lhs: Expression<V>, _ rhs: V) -> Setter where V : Value, V.Datatype == Int64 { lhs <<= rhs }
        assertSQL("\"int\" = (\"int\" << 3)", l199(int, 3))
        assertSQL("\"int\" = (\"int\" << 3)", int <<= 3)
        func l202<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Setter where V : Value, V.Datatype == Int64 { lhs <<= rhs }
        assertSQL("\"intOptional\" = (\"intOptional\" << \"int\")", l202(intOptional, int))
        assertSQL("\"intOptional\" = (\"intOptional\" << \"int\")", intOptional <<= int)
        func l205<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Setter where V : Value, V.Datatype == Int64 { lhs <<= rhs }
        assertSQL("\"intOptional\" = (\"intOptional\" << \"intOptional\")", l205(intOptional, intOptional))
        assertSQL("\"intOptional\" = (\"intOptional\" << \"intOptional\")", intOptional <<= intOptional)
        func l208<V>(_ lhs: Expression<V?>, _ rhs: V) -> Setter where V : Value, V.Datatype == Int64 { lhs <<= rhs }
        assertSQL("\"intOptional\" = (\"intOptional\" << 3)", l208(intOptional, 3))
        assertSQL("\"intOptional\" = (\"intOptional\" << 3)", intOptional <<= 3)
    }

    @Test func `operator >>= assigns the result of >>`() {
        func l212<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Setter where V : Value, V.Datatype == Int64 { lhs >>= rhs }
        assertSQL("\"int\" = (\"int\" >> \"int\")", l212(int, int))
        assertSQL("\"int\" = (\"int\" >> \"int\")", int >>= int)
        func l215<V>(_ lhs: Expression<V>, _ rhs: V) -> Setter where V : Value, V.Datatype == Int64 { lhs >>= rhs }
        assertSQL("\"int\" = (\"int\" >> 3)", l215(int, 3))
        assertSQL("\"int\" = (\"int\" >> 3)", int >>= 3)
        func l218<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Setter where V : Value, V.Datatype == Int64 { lhs >>= rhs }
        assertSQL("\"intOptional\" = (\"intOptional\" >> \"int\")", l218(intOptional, int))
        assertSQL("\"intOptional\" = (\"intOptional\" >> \"int\")", intOptional >>= int)
        func l221<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Setter where V : Value, V.Datatype == Int64 { lhs >>= rhs }
        assertSQL("\"intOptional\" = (\"intOptional\" >> \"intOptional\")", l221(intOptional, intOptional))
        assertSQL("\"intOptional\" = (\"intOptional\" >> \"intOptional\")", intOptional >>= intOptional)
        func l224<V>(_ lhs: Expression<V?>, _ rhs: V) -> Setter where V : Value, V.Datatype == Int64 { lhs >>= rhs }
        assertSQL("\"intOptional\" = (\"intOptional\" >> 3)", l224(intOptional, 3))
        assertSQL("\"intOptional\" = (\"intOptional\" >> 3)", intOptional >>= 3)
    }

    @Test func `operator &= assigns the result of &`() {
        func l228<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Setter where V : Value, V.Datatype == Int64 { lhs &= rhs }
        assertSQL("\"int\" = (\"int\" & \"int\")", l228(int, int))
        assertSQL("\"int\" = (\"int\" & \"int\")", int &= int)
        func l231<V>(_ lhs: Expression<V>, _ rhs: V) -> Setter where V : Value, V.Datatype == Int64 { lhs &= rhs }
        assertSQL("\"int\" = (\"int\" & 3)", l231(int, 3))
        assertSQL("\"int\" = (\"int\" & 3)", int &= 3)
        func l234<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Setter where V : Value, V.Datatype == Int64 { lhs &= rhs }
        assertSQL("\"intOptional\" = (\"intOptional\" & \"int\")", l234(intOptional, int))
        assertSQL("\"intOptional\" = (\"intOptional\" & \"int\")", intOptional &= int)
        func l237<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Setter where V : Value, V.Datatype == Int64 { lhs &= rhs }
        assertSQL("\"intOptional\" = (\"intOptional\" & \"intOptional\")", l237(intOptional, intOptional))
        assertSQL("\"intOptional\" = (\"intOptional\" & \"intOptional\")", intOptional &= intOptional)
        func l240<V>(_ lhs: Expression<V?>, _ rhs: V) -> Setter where V : Value, V.Datatype == Int64 { lhs &= rhs }
        assertSQL("\"intOptional\" = (\"intOptional\" & 3)", l240(intOptional, 3))
        assertSQL("\"intOptional\" = (\"intOptional\" & 3)", intOptional &= 3)
    }

    @Test func `operator |= assigns the result of |`() {
        func l244<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Setter where V : Value, V.Datatype == Int64 { lhs |= rhs }
        assertSQL("\"int\" = (\"int\" | \"int\")", l244(int, int))
        assertSQL("\"int\" = (\"int\" | \"int\")", int |= int)
        func l247<V>(_ lhs: Expression<V>, _ rhs: V) -> Setter where V : Value, V.Datatype == Int64 { lhs |= rhs }
        assertSQL("\"int\" = (\"int\" | 3)", l247(int, 3))
        assertSQL("\"int\" = (\"int\" | 3)", int |= 3)
        func l250<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Setter where V : Value, V.Datatype == Int64 { lhs |= rhs }
        assertSQL("\"intOptional\" = (\"intOptional\" | \"int\")", l250(intOptional, int))
        assertSQL("\"intOptional\" = (\"intOptional\" | \"int\")", intOptional |= int)
        func l253<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Setter where V : Value, V.Datatype == Int64 { lhs |= rhs }
        assertSQL("\"intOptional\" = (\"intOptional\" | \"intOptional\")", l253(intOptional, intOptional))
        assertSQL("\"intOptional\" = (\"intOptional\" | \"intOptional\")", intOptional |= intOptional)
        func l256<V>(_ lhs: Expression<V?>, _ rhs: V) -> Setter where V : Value, V.Datatype == Int64 { lhs |= rhs }
        assertSQL("\"intOptional\" = (\"intOptional\" | 3)", l256(intOptional, 3))
        assertSQL("\"intOptional\" = (\"intOptional\" | 3)", intOptional |= 3)
    }

    @Test func `operator ^= assigns the result of ^`() {
        func l260<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Setter where V : Value, V.Datatype == Int64 { lhs ^= rhs }
        assertSQL("\"int\" = (~((\"int\" & \"int\")) & (\"int\" | \"int\"))", l260(int, int))
        assertSQL("\"int\" = (~((\"int\" & \"int\")) & (\"int\" | \"int\"))", int ^= int)
        func l263<V>(_ lhs: Expression<V>, _ rhs: V) -> Setter where V : Value, V.Datatype == Int64 { lhs ^= rhs }
        assertSQL("\"int\" = (~((\"int\" & 3)) & (\"int\" | 3))", l263(int, 3))
        assertSQL("\"int\" = (~((\"int\" & 3)) & (\"int\" | 3))", int ^= 3)
        func l266<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Setter where V : Value, V.Datatype == Int64 { lhs ^= rhs }
        assertSQL("\"intOptional\" = (~((\"intOptional\" & \"int\")) & (\"intOptional\" | \"int\"))", l266(intOptional, int))
        assertSQL("\"intOptional\" = (~((\"intOptional\" & \"int\")) & (\"intOptional\" | \"int\"))", intOptional ^= int)
        func l269<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Setter where V : Value, V.Datatype == Int64 { lhs ^= rhs }
        assertSQL("\"intOptional\" = (~((\"intOptional\" & \"intOptional\")) & (\"intOptional\" | \"intOptional\"))", l269(intOptional, intOptional))
        assertSQL("\"intOptional\" = (~((\"intOptional\" & \"intOptional\")) & (\"intOptional\" | \"intOptional\"))", intOptional ^= intOptional)
        func l272<V>(_ lhs: Expression<V?>, _ rhs: V) -> Setter where V : Value, V.Datatype == Int64 { lhs ^= rhs }
        assertSQL("\"intOptional\" = (~((\"intOptional\" & 3)) & (\"intOptional\" | 3))", l272(intOptional, 3))
        assertSQL("\"intOptional\" = (~((\"intOptional\" & 3)) & (\"intOptional\" | 3))", intOptional ^= 3)
    }

    @Test func `operator ++ increments`() {
        func l276<V>(_ lhs: Expression<V>) -> Setter where V : Value, V.Datatype == Int64 { lhs++ }
        assertSQL("\"int\" = (\"int\" + 1)", l276(int))
        assertSQL("\"int\" = (\"int\" + 1)", int++)
        func l279<V>(_ lhs: Expression<V?>) -> Setter where V : Value, V.Datatype == Int64 { lhs++ }
        assertSQL("\"intOptional\" = (\"intOptional\" + 1)", l279(intOptional))
        assertSQL("\"intOptional\" = (\"intOptional\" + 1)", intOptional++)
    }

    @Test func `operator -- decrements`() {
        func l283<V>(_ lhs: Expression<V>) -> Setter where V : Value, V.Datatype == Int64 { lhs-- }
        assertSQL("\"int\" = (\"int\" - 1)", l283(int))
        assertSQL("\"int\" = (\"int\" - 1)", int--)
        func l286<V>(_ lhs: Expression<V?>) -> Setter where V : Value, V.Datatype == Int64 { lhs-- }
        assertSQL("\"intOptional\" = (\"intOptional\" - 1)", l286(intOptional))
        assertSQL("\"intOptional\" = (\"intOptional\" - 1)", intOptional--)
    }
}
