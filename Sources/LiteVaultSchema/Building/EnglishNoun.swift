internal import LiteVaultSystem

/// English plurals of table names: `belongsTo("country")` finds the table `countries`.
///
/// This is a convenience for regular names. `belongsTo(_:inTable:)` names the table, which works for every name and in
/// every language; prefer it where a plural is not obvious.
///
/// A word can have several plurals, such as `indices` and `indexes`. All of them are candidates, the most common one first,
/// and the first that is the name of a table is used. Only the last word of a name such as `blogPost` or `blog_post`
/// changes.
enum EnglishNoun {
    /// Endings of words, so that `salesperson` follows `person`, with their plurals and the words that are exceptions.
    private static let irregularEndings: [(singular: String, plural: String, except: Set<String>)] = [
        ("person", "people", []), ("child", "children", []), ("foot", "feet", []), ("tooth", "teeth", []),
        ("man", "men", ["human", "german", "roman", "norman", "ottoman", "shaman", "talisman", "caiman", "toman"]),
        ("goose", "geese", ["mongoose"]), ("mouse", "mice", []), ("louse", "lice", ["blouse"]),
        ("quiz", "quizzes", []), ("datum", "data", []), ("medium", "media", []), ("criterion", "criteria", []),
        ("phenomenon", "phenomena", []), ("genus", "genera", []), ("corpus", "corpora", []),
        ("index", "indices", []), ("vertex", "vertices", []), ("vortex", "vortices", []), ("codex", "codices", []),
        ("apex", "apices", []), ("matrix", "matrices", []), ("appendix", "appendices", []), ("die", "dice", []),
        ("cow", "kine", []), ("penny", "pence", []), ("stomach", "stomachs", []), ("monarch", "monarchs", []),
        ("epoch", "epochs", []), ("leaf", "leaves", []), ("loaf", "loaves", []), ("thief", "thieves", []),
    ]
    private static let uncountable: Set<String> = [
        "equipment", "information", "rice", "money", "fish", "sheep", "deer", "moose", "jeans", "police", "metadata",
        "music", "software", "hardware", "furniture", "luggage", "feedback", "progress", "traffic", "offspring",
        "swine",
        "bison", "salmon", "trout", "aircraft", "spacecraft",
    ]
    /// Endings of words that are their own plurals, such as `miniseries`.
    private static let uncountableEndings = ["series", "species", "news"]

    /// The plurals of a name in the singular, the most common one first.
    static func plurals(_ name: String) -> [String] { changingLastWord(name, plurals(ofWord:)) }

    private static func plurals(ofWord word: String) -> [String] {
        if uncountable.contains(word) || uncountableEndings.contains(where: word.hasSuffix) { return [word] }
        var found = word == "ox" ? ["oxen"] : []
        for ending in irregularEndings where word.hasSuffix(ending.singular) && !ending.except.contains(word) {
            found.append(word.dropLast(ending.singular.count) + ending.plural)
        }
        found += regularPlurals(ofWord: word)
        return found
    }

    private static func regularPlurals(ofWord word: String) -> [String] {
        if word.hasSuffix("y"), let before = word.dropLast().last, !"aeiou".contains(before) || word.hasSuffix("quy") {
            return [word.dropLast() + "ies", word + "s"]
        }
        // analysis, axis, testis; and iris.
        if word.hasSuffix("is") { return [word.dropLast(2) + "es", word + "es"] }
        // focus; and cactus, octopus.
        if word.hasSuffix("us") { return [word + "es", word.dropLast(2) + "i"] }
        if ["s", "x", "z", "ch", "sh"].contains(where: word.hasSuffix) { return [word + "es", word + "s"] }
        // photo, and hero.
        if word.hasSuffix("o") { return [word + "s", word + "es"] }
        // stadium.
        if word.hasSuffix("um") { return [word + "s", word.dropLast(2) + "a"] }
        // safe, wife; roof, half.
        if word.hasSuffix("fe") { return [word + "s", word.dropLast(2) + "ves"] }
        if word.hasSuffix("f") { return [word + "s", word.dropLast() + "ves"] }
        return [word + "s"]
    }

    /// Changes the last word, which starts at the last capital or after the last `_`. Its first letter keeps its case.
    private static func changingLastWord(_ name: String, _ change: (String) -> [String]) -> [String] {
        let isUpper = name.contains(where: \.isLetter) && name == name.uppercased()
        let start: String.Index
        if let underscore = name.lastIndex(where: { $0 == "_" || $0 == " " }) {
            start = name.index(after: underscore)
        } else {
            start = isUpper ? name.startIndex : name.lastIndex(where: \.isUppercase) ?? name.startIndex
        }
        let word = String(name[start...])
        guard let first = word.first else { return [] }
        return change(word.lowercased()).map { changed in
            if isUpper { return name[..<start] + changed.uppercased() }
            return name[..<start] + (first.isUppercase ? changed.prefix(1).uppercased() + changed.dropFirst() : changed)
        }
    }
}
