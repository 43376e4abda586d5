/// What relations are called: one row in the singular, several in the plural, whichever of them the table's name is.
///
/// For regular English names, and the most usual others. A relation that should be called otherwise is one line by hand.
enum RelationNames {
    private static let irregular: [(singular: String, plural: String)] = [
        ("person", "people"), ("child", "children"), ("man", "men"), ("foot", "feet"), ("tooth", "teeth"),
        ("mouse", "mice"),
        ("index", "indices"), ("vertex", "vertices"), ("matrix", "matrices"), ("medium", "media"),
        ("criterion", "criteria"),
        ("quiz", "quizzes"), ("leaf", "leaves"), ("shelf", "shelves"), ("half", "halves"), ("knife", "knives"),
        ("wife", "wives"), ("life", "lives"), ("wolf", "wolves"), ("thief", "thieves"), ("analysis", "analyses"),
        ("basis", "bases"), ("diagnosis", "diagnoses"), ("movie", "movies"), ("cookie", "cookies"), ("tie", "ties"),
        ("calorie", "calories"), ("cache", "caches"), ("axe", "axes"), ("hero", "heroes"), ("potato", "potatoes"),
    ]
    /// Words that are their own plurals, or have none.
    private static let uncountable: Set = [
        "data", "metadata", "equipment", "information", "money", "news", "series", "species", "staff", "feedback",
        "progress", "traffic", "music", "software", "hardware", "fish", "sheep", "history", "media",
    ]
    private static let exceptions: Set = ["human", "german", "roman", "woman"]

    /// `noteTags` becomes `noteTag`; a name in the singular stays as it is.
    static func singular(_ name: String) -> String { changingLastWord(name, singular(ofWord:)) }

    /// `noteTag` becomes `noteTags`; a name in the plural stays as it is.
    static func plural(_ name: String) -> String {
        changingLastWord(name) { singular(ofWord: $0) == $0 ? plural(ofWord: $0) : $0 }
    }

    private static func singular(ofWord word: String) -> String {
        if uncountable.contains(word) { return word }
        if word.hasSuffix("women") { return word.dropLast(2) + "an" }
        if let (singular, plural) = irregular.first(where: { word.hasSuffix($0.plural) }) {
            return word.dropLast(plural.count) + singular
        }
        if word.hasSuffix("ies"), word.count > 4 { return word.dropLast(3) + "y" }
        // addresses, boxes, batches; statuses, but houses and clauses.
        if ["sses", "xes", "zzes", "ches", "shes"].contains(where: word.hasSuffix) { return String(word.dropLast(2)) }
        if word.hasSuffix("uses"), let before = word.dropLast(4).last, !"aeo".contains(before) {
            return String(word.dropLast(2))
        }
        if ["ss", "us", "is"].contains(where: word.hasSuffix) || !word.hasSuffix("s") || word.count < 3 { return word }
        return String(word.dropLast())
    }

    private static func plural(ofWord word: String) -> String {
        if uncountable.contains(word) { return word }
        if word == "woman" { return "women" }
        if !exceptions.contains(word), let (singular, plural) = irregular.first(where: { word.hasSuffix($0.singular) })
        {
            return word.dropLast(singular.count) + plural
        }
        if word.hasSuffix("y"), let before = word.dropLast().last, !"aeiou".contains(before) {
            return word.dropLast() + "ies"
        }
        return word + (["s", "x", "z", "ch", "sh"].contains(where: word.hasSuffix) ? "es" : "s")
    }

    /// Changes the last word, which starts at the last capital.
    private static func changingLastWord(_ name: String, _ change: (String) -> String) -> String {
        let start = name.lastIndex(where: \.isUppercase) ?? name.startIndex
        let word = String(name[start...])
        let changed = change(word.lowercased())
        return name[..<start]
            + (word.first?.isUppercase == true ? changed.prefix(1).uppercased() + changed.dropFirst() : changed)
    }
}
