import Foundation
import SQLite
import Testing

@Suite struct ExpressionSignatures {
    @Test func `an expression is a template with values`() {
        let expression = Expression<String>("foo ? bar", ["baz"])
        #expect(expression.template == "foo ? bar" && expression.bindings.count == 1)
        #expect(expression.asSQL() == "foo 'baz' bar")
        #expect(Expression<String>("foo ? bar", ["'baz'"]).asSQL() == "foo '''baz''' bar")
        #expect(expression.description == expression.asSQL() && String(describing: expression) == "foo 'baz' bar")
        #expect(Expression<String>(literal: "literal").template == "literal")
        #expect(Expression<String>("identifier").template == "\"identifier\"")
        #expect(Expression<String>("a \"b\"").template == "\"a \"\"b\"\"\"")
        #expect(Expression<Int64>(int).template == "\"int\"")
        let void: Expression<Void> = int.expression
        #expect(void.template == "\"int\"")
        typealias Underlying = Expression<Int>.UnderlyingType
        #expect(Underlying.self == Int.self)
        var changed = expression
        changed.template = "?"
        changed.bindings = ["x"]
        #expect(changed.asSQL() == "'x'")
    }

    @Test func `a value or NULL is an expression`() {
        assertSQL("1", Expression<Int>(value: 1))
        assertSQL("'a'", Expression<String>(value: "a"))
        assertSQL("NULL", Expression<String?>.null)
        assertSQL("NULL", Expression<String?>(value: nil))
        assertSQL("'a'", Expression<String?>(value: "a"))
        assertSQL("'1970-01-01T00:00:00.000'", Expression<Date>(value: Date(timeIntervalSince1970: 0)))
    }

    @Test func `an expression is ordered, cast and named`() {
        let ascending: any Expressible = int.asc
        assertSQL("\"int\" ASC", ascending)
        assertSQL("\"int\" DESC", int.desc)
        assertSQL("ROWID", rowid)
        let number: Expression<Int64> = rowid
        #expect(number.template == "ROWID")
        let text: Expression<String> = cast(int)
        assertSQL("CAST (\"int\" AS TEXT)", text)
        let optional: Expression<Double?> = cast(stringOptional)
        assertSQL("CAST (\"stringOptional\" AS REAL)", optional)
    }

    @Test func `values are written into the text as literals`() {
        let expression = Expression<Void>(
            "?, ?, ?, ?, ?, ?", [1 as Int64, 2.0, "it's", Blob(bytes: [0xab]), nil, true.datatypeValue])
        #expect(expression.description == "1, 2.0, 'it''s', x'ab', NULL, 1")
    }

    @Test func `star is a function and the name of all columns`() {
        let star: Star = (*)
        #expect(star(nil, nil).template == "*")
        assertSQL("count(*)", count(*))
        func wrapped<T: _OptionalType>(_ value: T) -> T.WrappedType.Type { T.WrappedType.self }
        #expect(wrapped(1 as Int?) == Int.self)
    }
}

@Suite struct AggregateFunctionSignatures {
    @Test func `distinct and count`() {
        assertSQL("DISTINCT \"int\"", int.distinct)
        assertSQL("DISTINCT \"intOptional\"", intOptional.distinct)
        let counted: Expression<Int> = int.count
        assertSQL("count(\"int\")", counted)
        let countedOptional: Expression<Int> = intOptional.count
        assertSQL("count(\"intOptional\")", countedOptional)
        assertSQL("count(DISTINCT \"int\")", int.distinct.count)
        assertSQL("count(DISTINCT \"intOptional\")", intOptional.distinct.count)
    }

    @Test func `max and min`() {
        let max: Expression<Int?> = int.max
        let maxOptional: Expression<Int?> = intOptional.max
        let min: Expression<String?> = string.min
        let minOptional: Expression<Date?> = dateOptional.min
        assertSQL("max(\"int\")", max)
        assertSQL("max(\"intOptional\")", maxOptional)
        assertSQL("min(\"string\")", min)
        assertSQL("min(\"dateOptional\")", minOptional)
        for expression in [double.max, doubleOptional.max] { #expect(expression.template.hasPrefix("max(\"double")) }
    }

    @Test func `average, sum and total`() {
        let average: Expression<Double?> = int.average
        let averageOptional: Expression<Double?> = intOptional.average
        let sum: Expression<Int?> = int.sum
        let sumOptional: Expression<Double?> = doubleOptional.sum
        let total: Expression<Double> = int.total
        let totalOptional: Expression<Double> = doubleOptional.total
        assertSQL("avg(\"int\")", average)
        assertSQL("avg(\"intOptional\")", averageOptional)
        assertSQL("sum(\"int\")", sum)
        assertSQL("sum(\"doubleOptional\")", sumOptional)
        assertSQL("total(\"int\")", total)
        assertSQL("total(\"doubleOptional\")", totalOptional)
        assertSQL("avg(DISTINCT \"int\")", int.distinct.average)
        let counted: Expression<Int> = count(*)
        assertSQL("count(*)", counted)
    }
}

@Suite struct CollationSignatures {
    @Test func `a collation is its name`() {
        #expect([Collation.binary, .nocase, .rtrim, .custom("A \"B\"")].map(\.description)
            == ["BINARY", "NOCASE", "RTRIM", "\"A \"\"B\"\"\""])
        let expression: Expression<Void> = Collation.nocase.expression
        #expect(expression.template == "NOCASE")
    }
}

@Suite struct SetterSignatures {
    @Test func `a setter is printed as an assignment`() {
        let setter: Setter = int <- 1
        #expect(setter.description == "\"int\" = 1" && setter.asSQL() == setter.description)
        let expression: Expression<Void> = setter.expression
        #expect(expression.template == "\"int\" = ?" && expression.bindings.count == 1)
    }
}
