// Each signature of the inventory is spelled out: the local function `l352` compiles only while line 352 of
// SQLite.swift has its equal here. Then the text, through that function and written out.

import SQLite
import Testing

@Suite struct OperatorsComparisonSignatures {
    @Test func `operator > is greater`() {
        func l460<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Expression<Bool> where V : Value, V.Datatype : Comparable { lhs > rhs }
        assertSQL("(\"int64\" > \"int64\")", l460(int64, int64))
        assertSQL("(\"int64\" > \"int64\")", int64 > int64)
        func l463<V>(_ lhs: Expression<V>, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Comparable { lhs > rhs }
        assertSQL("(\"int64\" > \"int64Optional\")", l463(int64, int64Optional))
        assertSQL("(\"int64\" > \"int64Optional\")", int64 > int64Optional)
        func l466<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Expression<Bool?> where V : Value, V.Datatype : Comparable { lhs > rhs }
        assertSQL("(\"int64Optional\" > \"int64\")", l466(int64Optional, int64))
        assertSQL("(\"int64Optional\" > \"int64\")", int64Optional > int64)
        func l469<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Comparable { lhs > rhs }
        assertSQL("(\"int64Optional\" > \"int64Optional\")", l469(int64Optional, int64Optional))
        assertSQL("(\"int64Optional\" > \"int64Optional\")", int64Optional > int64Optional)
        func l472<V>(_ lhs: Expression<V>, _ rhs: V) -> Expression<Bool> where V : Value, V.Datatype : Comparable { lhs > rhs }
        assertSQL("(\"int64\" > 7)", l472(int64, 7))
        assertSQL("(\"int64\" > 7)", int64 > 7)
        func l475<V>(_ lhs: Expression<V?>, _ rhs: V) -> Expression<Bool?> where V : Value, V.Datatype : Comparable { lhs > rhs }
        assertSQL("(\"int64Optional\" > 7)", l475(int64Optional, 7))
        assertSQL("(\"int64Optional\" > 7)", int64Optional > 7)
        func l478<V>(_ lhs: V, _ rhs: Expression<V>) -> Expression<Bool> where V : Value, V.Datatype : Comparable { lhs > rhs }
        assertSQL("(7 > \"int64\")", l478(7, int64))
        assertSQL("(7 > \"int64\")", 7 > int64)
        func l481<V>(_ lhs: V, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Comparable { lhs > rhs }
        assertSQL("(7 > \"int64Optional\")", l481(7, int64Optional))
        assertSQL("(7 > \"int64Optional\")", 7 > int64Optional)
    }

    @Test func `operator >= is greater or equal`() {
        func l485<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Expression<Bool> where V : Value, V.Datatype : Comparable { lhs >= rhs }
        assertSQL("(\"int64\" >= \"int64\")", l485(int64, int64))
        assertSQL("(\"int64\" >= \"int64\")", int64 >= int64)
        func l488<V>(_ lhs: Expression<V>, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Comparable { lhs >= rhs }
        assertSQL("(\"int64\" >= \"int64Optional\")", l488(int64, int64Optional))
        assertSQL("(\"int64\" >= \"int64Optional\")", int64 >= int64Optional)
        func l491<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Expression<Bool?> where V : Value, V.Datatype : Comparable { lhs >= rhs }
        assertSQL("(\"int64Optional\" >= \"int64\")", l491(int64Optional, int64))
        assertSQL("(\"int64Optional\" >= \"int64\")", int64Optional >= int64)
        func l494<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Comparable { lhs >= rhs }
        assertSQL("(\"int64Optional\" >= \"int64Optional\")", l494(int64Optional, int64Optional))
        assertSQL("(\"int64Optional\" >= \"int64Optional\")", int64Optional >= int64Optional)
        func l497<V>(_ lhs: Expression<V>, _ rhs: V) -> Expression<Bool> where V : Value, V.Datatype : Comparable { lhs >= rhs }
        assertSQL("(\"int64\" >= 7)", l497(int64, 7))
        assertSQL("(\"int64\" >= 7)", int64 >= 7)
        func l500<V>(_ lhs: Expression<V?>, _ rhs: V) -> Expression<Bool?> where V : Value, V.Datatype : Comparable { lhs >= rhs }
        assertSQL("(\"int64Optional\" >= 7)", l500(int64Optional, 7))
        assertSQL("(\"int64Optional\" >= 7)", int64Optional >= 7)
        func l503<V>(_ lhs: V, _ rhs: Expression<V>) -> Expression<Bool> where V : Value, V.Datatype : Comparable { lhs >= rhs }
        assertSQL("(7 >= \"int64\")", l503(7, int64))
        assertSQL("(7 >= \"int64\")", 7 >= int64)
        func l506<V>(_ lhs: V, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Comparable { lhs >= rhs }
        assertSQL("(7 >= \"int64Optional\")", l506(7, int64Optional))
        assertSQL("(7 >= \"int64Optional\")", 7 >= int64Optional)
    }

    @Test func `operator < is less`() {
        func l510<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Expression<Bool> where V : Value, V.Datatype : Comparable { lhs < rhs }
        assertSQL("(\"int64\" < \"int64\")", l510(int64, int64))
        assertSQL("(\"int64\" < \"int64\")", int64 < int64)
        func l513<V>(_ lhs: Expression<V>, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Comparable { lhs < rhs }
        assertSQL("(\"int64\" < \"int64Optional\")", l513(int64, int64Optional))
        assertSQL("(\"int64\" < \"int64Optional\")", int64 < int64Optional)
        func l516<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Expression<Bool?> where V : Value, V.Datatype : Comparable { lhs < rhs }
        assertSQL("(\"int64Optional\" < \"int64\")", l516(int64Optional, int64))
        assertSQL("(\"int64Optional\" < \"int64\")", int64Optional < int64)
        func l519<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Comparable { lhs < rhs }
        assertSQL("(\"int64Optional\" < \"int64Optional\")", l519(int64Optional, int64Optional))
        assertSQL("(\"int64Optional\" < \"int64Optional\")", int64Optional < int64Optional)
        func l522<V>(_ lhs: Expression<V>, _ rhs: V) -> Expression<Bool> where V : Value, V.Datatype : Comparable { lhs < rhs }
        assertSQL("(\"int64\" < 7)", l522(int64, 7))
        assertSQL("(\"int64\" < 7)", int64 < 7)
        func l525<V>(_ lhs: Expression<V?>, _ rhs: V) -> Expression<Bool?> where V : Value, V.Datatype : Comparable { lhs < rhs }
        assertSQL("(\"int64Optional\" < 7)", l525(int64Optional, 7))
        assertSQL("(\"int64Optional\" < 7)", int64Optional < 7)
        func l528<V>(_ lhs: V, _ rhs: Expression<V>) -> Expression<Bool> where V : Value, V.Datatype : Comparable { lhs < rhs }
        assertSQL("(7 < \"int64\")", l528(7, int64))
        assertSQL("(7 < \"int64\")", 7 < int64)
        func l531<V>(_ lhs: V, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Comparable { lhs < rhs }
        assertSQL("(7 < \"int64Optional\")", l531(7, int64Optional))
        assertSQL("(7 < \"int64Optional\")", 7 < int64Optional)
    }

    @Test func `operator <= is less or equal`() {
        func l535<V>(_ lhs: Expression<V>, _ rhs: Expression<V>) -> Expression<Bool> where V : Value, V.Datatype : Comparable { lhs <= rhs }
        assertSQL("(\"int64\" <= \"int64\")", l535(int64, int64))
        assertSQL("(\"int64\" <= \"int64\")", int64 <= int64)
        func l538<V>(_ lhs: Expression<V>, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Comparable { lhs <= rhs }
        assertSQL("(\"int64\" <= \"int64Optional\")", l538(int64, int64Optional))
        assertSQL("(\"int64\" <= \"int64Optional\")", int64 <= int64Optional)
        func l541<V>(_ lhs: Expression<V?>, _ rhs: Expression<V>) -> Expression<Bool?> where V : Value, V.Datatype : Comparable { lhs <= rhs }
        assertSQL("(\"int64Optional\" <= \"int64\")", l541(int64Optional, int64))
        assertSQL("(\"int64Optional\" <= \"int64\")", int64Optional <= int64)
        func l544<V>(_ lhs: Expression<V?>, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Comparable { lhs <= rhs }
        assertSQL("(\"int64Optional\" <= \"int64Optional\")", l544(int64Optional, int64Optional))
        assertSQL("(\"int64Optional\" <= \"int64Optional\")", int64Optional <= int64Optional)
        func l547<V>(_ lhs: Expression<V>, _ rhs: V) -> Expression<Bool> where V : Value, V.Datatype : Comparable { lhs <= rhs }
        assertSQL("(\"int64\" <= 7)", l547(int64, 7))
        assertSQL("(\"int64\" <= 7)", int64 <= 7)
        func l550<V>(_ lhs: Expression<V?>, _ rhs: V) -> Expression<Bool?> where V : Value, V.Datatype : Comparable { lhs <= rhs }
        assertSQL("(\"int64Optional\" <= 7)", l550(int64Optional, 7))
        assertSQL("(\"int64Optional\" <= 7)", int64Optional <= 7)
        func l553<V>(_ lhs: V, _ rhs: Expression<V>) -> Expression<Bool> where V : Value, V.Datatype : Comparable { lhs <= rhs }
        assertSQL("(7 <= \"int64\")", l553(7, int64))
        assertSQL("(7 <= \"int64\")", 7 <= int64)
        func l556<V>(_ lhs: V, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V.Datatype : Comparable { lhs <= rhs }
        assertSQL("(7 <= \"int64Optional\")", l556(7, int64Optional))
        assertSQL("(7 <= \"int64Optional\")", 7 <= int64Optional)
    }

    @Test func `operator ~= matches a range`() {
        func l560<V>(_ lhs: ClosedRange<V>, _ rhs: Expression<V>) -> Expression<Bool> where V : Value, V : Comparable, V.Datatype : Value, V.Datatype : Comparable { lhs ~= rhs }
        assertSQL("(\"int64\" BETWEEN 2 AND 5)", l560(2...5, int64))
        assertSQL("(\"int64\" BETWEEN 2 AND 5)", (2...5) ~= int64)
        func l564<V>(_ lhs: ClosedRange<V>, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V : Comparable, V.Datatype : Value, V.Datatype : Comparable { lhs ~= rhs }
        assertSQL("(\"int64Optional\" BETWEEN 2 AND 5)", l564(2...5, int64Optional))
        assertSQL("(\"int64Optional\" BETWEEN 2 AND 5)", (2...5) ~= int64Optional)
        func l568<V>(_ lhs: Range<V>, _ rhs: Expression<V>) -> Expression<Bool> where V : Value, V : Comparable, V.Datatype : Value, V.Datatype : Comparable { lhs ~= rhs }
        assertSQL("(\"int64\" >= 2 AND \"int64\" < 5)", l568(2..<5, int64))
        assertSQL("(\"int64\" >= 2 AND \"int64\" < 5)", (2..<5) ~= int64)
        func l573<V>(_ lhs: Range<V>, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V : Comparable, V.Datatype : Value, V.Datatype : Comparable { lhs ~= rhs }
        assertSQL("(\"int64Optional\" >= 2 AND \"int64Optional\" < 5)", l573(2..<5, int64Optional))
        assertSQL("(\"int64Optional\" >= 2 AND \"int64Optional\" < 5)", (2..<5) ~= int64Optional)
        func l578<V>(_ lhs: PartialRangeThrough<V>, _ rhs: Expression<V>) -> Expression<Bool> where V : Value, V : Comparable, V.Datatype : Value, V.Datatype : Comparable { lhs ~= rhs }
        assertSQL("(\"int64\" <= 5)", l578(...5, int64))
        assertSQL("(\"int64\" <= 5)", (...5) ~= int64)
        func l582<V>(_ lhs: PartialRangeThrough<V>, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V : Comparable, V.Datatype : Value, V.Datatype : Comparable { lhs ~= rhs }
        assertSQL("(\"int64Optional\" <= 5)", l582(...5, int64Optional))
        assertSQL("(\"int64Optional\" <= 5)", (...5) ~= int64Optional)
        func l586<V>(_ lhs: PartialRangeUpTo<V>, _ rhs: Expression<V>) -> Expression<Bool> where V : Value, V : Comparable, V.Datatype : Value, V.Datatype : Comparable { lhs ~= rhs }
        assertSQL("(\"int64\" < 5)", l586(..<5, int64))
        assertSQL("(\"int64\" < 5)", (..<5) ~= int64)
        func l590<V>(_ lhs: PartialRangeUpTo<V>, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V : Comparable, V.Datatype : Value, V.Datatype : Comparable { lhs ~= rhs }
        assertSQL("(\"int64Optional\" < 5)", l590(..<5, int64Optional))
        assertSQL("(\"int64Optional\" < 5)", (..<5) ~= int64Optional)
        func l594<V>(_ lhs: PartialRangeFrom<V>, _ rhs: Expression<V>) -> Expression<Bool> where V : Value, V : Comparable, V.Datatype : Value, V.Datatype : Comparable { lhs ~= rhs }
        assertSQL("(\"int64\" >= 2)", l594(2..., int64))
        assertSQL("(\"int64\" >= 2)", (2...) ~= int64)
        func l598<V>(_ lhs: PartialRangeFrom<V>, _ rhs: Expression<V?>) -> Expression<Bool?> where V : Value, V : Comparable, V.Datatype : Value, V.Datatype : Comparable { lhs ~= rhs }
        assertSQL("(\"int64Optional\" >= 2)", l598(2..., int64Optional))
        assertSQL("(\"int64Optional\" >= 2)", (2...) ~= int64Optional)
    }
}
