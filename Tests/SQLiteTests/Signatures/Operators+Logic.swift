// Each signature of the inventory is spelled out: the local function `l352` compiles only while line 352 of
// SQLite.swift has its equal here. Then the text, through that function and written out.

import SQLite
import Testing

@Suite struct OperatorsLogicSignatures {
    @Test func `operator && is AND`() {
        func l610(_ lhs: Expression<Bool>, _ rhs: Expression<Bool>) -> Expression<Bool> { lhs && rhs }
        assertSQL("(\"bool\" AND \"bool\")", l610(bool, bool))
        assertSQL("(\"bool\" AND \"bool\")", bool && bool)
        func l613(_ lhs: Expression<Bool>, _ rhs: Expression<Bool?>) -> Expression<Bool?> { lhs && rhs }
        assertSQL("(\"bool\" AND \"boolOptional\")", l613(bool, boolOptional))
        assertSQL("(\"bool\" AND \"boolOptional\")", bool && boolOptional)
        func l616(_ lhs: Expression<Bool?>, _ rhs: Expression<Bool>) -> Expression<Bool?> { lhs && rhs }
        assertSQL("(\"boolOptional\" AND \"bool\")", l616(boolOptional, bool))
        assertSQL("(\"boolOptional\" AND \"bool\")", boolOptional && bool)
        func l619(_ lhs: Expression<Bool?>, _ rhs: Expression<Bool?>) -> Expression<Bool?> { lhs && rhs }
        assertSQL("(\"boolOptional\" AND \"boolOptional\")", l619(boolOptional, boolOptional))
        assertSQL("(\"boolOptional\" AND \"boolOptional\")", boolOptional && boolOptional)
        func l622(_ lhs: Expression<Bool>, _ rhs: Bool) -> Expression<Bool> { lhs && rhs }
        assertSQL("(\"bool\" AND 1)", l622(bool, true))
        assertSQL("(\"bool\" AND 1)", bool && true)
        func l625(_ lhs: Expression<Bool?>, _ rhs: Bool) -> Expression<Bool?> { lhs && rhs }
        assertSQL("(\"boolOptional\" AND 1)", l625(boolOptional, true))
        assertSQL("(\"boolOptional\" AND 1)", boolOptional && true)
        func l628(_ lhs: Bool, _ rhs: Expression<Bool>) -> Expression<Bool> { lhs && rhs }
        assertSQL("(1 AND \"bool\")", l628(true, bool))
        assertSQL("(1 AND \"bool\")", true && bool)
        func l631(_ lhs: Bool, _ rhs: Expression<Bool?>) -> Expression<Bool?> { lhs && rhs }
        assertSQL("(1 AND \"boolOptional\")", l631(true, boolOptional))
        assertSQL("(1 AND \"boolOptional\")", true && boolOptional)
    }

    @Test func `operator || is OR`() {
        func l641(_ lhs: Expression<Bool>, _ rhs: Expression<Bool>) -> Expression<Bool> { lhs || rhs }
        assertSQL("(\"bool\" OR \"bool\")", l641(bool, bool))
        assertSQL("(\"bool\" OR \"bool\")", bool || bool)
        func l644(_ lhs: Expression<Bool>, _ rhs: Expression<Bool?>) -> Expression<Bool?> { lhs || rhs }
        assertSQL("(\"bool\" OR \"boolOptional\")", l644(bool, boolOptional))
        assertSQL("(\"bool\" OR \"boolOptional\")", bool || boolOptional)
        func l647(_ lhs: Expression<Bool?>, _ rhs: Expression<Bool>) -> Expression<Bool?> { lhs || rhs }
        assertSQL("(\"boolOptional\" OR \"bool\")", l647(boolOptional, bool))
        assertSQL("(\"boolOptional\" OR \"bool\")", boolOptional || bool)
        func l650(_ lhs: Expression<Bool?>, _ rhs: Expression<Bool?>) -> Expression<Bool?> { lhs || rhs }
        assertSQL("(\"boolOptional\" OR \"boolOptional\")", l650(boolOptional, boolOptional))
        assertSQL("(\"boolOptional\" OR \"boolOptional\")", boolOptional || boolOptional)
        func l653(_ lhs: Expression<Bool>, _ rhs: Bool) -> Expression<Bool> { lhs || rhs }
        assertSQL("(\"bool\" OR 1)", l653(bool, true))
        assertSQL("(\"bool\" OR 1)", bool || true)
        func l656(_ lhs: Expression<Bool?>, _ rhs: Bool) -> Expression<Bool?> { lhs || rhs }
        assertSQL("(\"boolOptional\" OR 1)", l656(boolOptional, true))
        assertSQL("(\"boolOptional\" OR 1)", boolOptional || true)
        func l659(_ lhs: Bool, _ rhs: Expression<Bool>) -> Expression<Bool> { lhs || rhs }
        assertSQL("(1 OR \"bool\")", l659(true, bool))
        assertSQL("(1 OR \"bool\")", true || bool)
        func l662(_ lhs: Bool, _ rhs: Expression<Bool?>) -> Expression<Bool?> { lhs || rhs }
        assertSQL("(1 OR \"boolOptional\")", l662(true, boolOptional))
        assertSQL("(1 OR \"boolOptional\")", true || boolOptional)
    }

    @Test func `operator ! is NOT`() {
        func l666(_ lhs: Expression<Bool>) -> Expression<Bool> { !lhs }
        assertSQL("NOT (\"bool\")", l666(bool))
        assertSQL("NOT (\"bool\")", !bool)
        func l670(_ lhs: Expression<Bool?>) -> Expression<Bool?> { !lhs }
        assertSQL("NOT (\"boolOptional\")", l670(boolOptional))
        assertSQL("NOT (\"boolOptional\")", !boolOptional)
    }

    @Test func `operator ?? is ifnull`() {
        func l753<V>(_ lhs: Expression<V?>, _ rhs: V) -> Expression<V> where V : Value { lhs ?? rhs }
        assertSQL("ifnull(\"int64Optional\", 7)", l753(int64Optional, 7))
        assertSQL("ifnull(\"int64Optional\", 7)", int64Optional ?? 7)
        func l773<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Expression<V> where V : Value { lhs ?? rhs }
        assertSQL("ifnull(\"int64Optional\", \"int64\")", l773(int64Optional, int64))
        assertSQL("ifnull(\"int64Optional\", \"int64\")", int64Optional ?? int64)
        func l793<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Expression<V> where V : Value { lhs ?? rhs }
        assertSQL("ifnull(\"int64Optional\", \"int64Optional\")", l793(int64Optional, int64Optional))
        assertSQL("ifnull(\"int64Optional\", \"int64Optional\")", int64Optional ?? int64Optional)
    }
}
