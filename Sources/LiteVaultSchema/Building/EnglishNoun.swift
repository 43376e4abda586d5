internal import Foundation

/// Singular and plural, so far as the names of tables need it: `belongsTo("country")` finds the table `countries`.
///
/// Only the last word of a name such as `blogPost` or `blog_post` changes. Whatever this does not know is said with
/// `belongsTo(_:inTable:)`.
enum EnglishNoun {
    private static let irregular = [
        "person": "people", "man": "men", "woman": "women", "child": "children", "foot": "feet", "tooth": "teeth",
        "goose": "geese", "mouse": "mice", "louse": "lice", "ox": "oxen", "die": "dice", "move": "moves",
        "leaf": "leaves", "life": "lives", "knife": "knives", "wife": "wives", "half": "halves", "shelf": "shelves",
        "wolf": "wolves", "thief": "thieves", "self": "selves", "calf": "calves", "loaf": "loaves", "elf": "elves",
        "index": "indices", "matrix": "matrices", "vertex": "vertices", "quiz": "quizzes", "analysis": "analyses",
        "basis": "bases", "crisis": "crises", "thesis": "theses", "axis": "axes", "datum": "data", "medium": "media",
        "criterion": "criteria", "phenomenon": "phenomena", "hero": "heroes", "potato": "potatoes",
        "tomato": "tomatoes", "echo": "echoes", "bus": "buses", "gas": "gases", "status": "statuses",
        "virus": "viruses", "octopus": "octopuses", "alias": "aliases", "campus": "campuses", "bonus": "bonuses",
        "movie": "movies", "cookie": "cookies", "tie": "ties", "shoe": "shoes", "cache": "caches", "ache": "aches",
        "house": "houses", "horse": "horses", "database": "databases",
    ]
    private static let uncountable: Set<String> = [
        "equipment", "information", "rice", "money", "species", "series", "fish", "sheep", "deer", "moose", "news",
        "metadata", "music", "software", "hardware", "furniture", "luggage", "feedback", "progress", "traffic",
    ]
    private static let singulars = Dictionary(irregular.map { ($0.value, $0.key) }) { first, _ in first }

    static func plural(_ name: String) -> String {
        changingLastWord(name) { word in
            if uncountable.contains(word) || singulars[word] != nil { return word }
            if let plural = irregular[word] { return plural }
            if word.hasSuffix("y"), let before = word.dropLast().last, !"aeiou".contains(before) {
                return word.dropLast() + "ies"
            }
            if ["s", "x", "z", "ch", "sh"].contains(where: word.hasSuffix) { return word + "es" }
            return word + "s"
        }
    }

    static func singular(_ name: String) -> String {
        changingLastWord(name) { word in
            if uncountable.contains(word) || irregular[word] != nil { return word }
            if let singular = singulars[word] { return singular }
            if word.hasSuffix("ies"), word.count > 4 { return word.dropLast(3) + "y" }
            if ["sses", "xes", "zes", "ches", "shes"].contains(where: word.hasSuffix) {
                return String(word.dropLast(2))
            }
            if word.hasSuffix("s"), !["ss", "us", "is"].contains(where: word.hasSuffix), word.count > 1 {
                return String(word.dropLast())
            }
            return word
        }
    }

    /// The last word starts at the last capital or after the last `_`; its own first letter keeps its case.
    private static func changingLastWord(_ name: String, _ change: (String) -> String) -> String {
        let isUpper = name.contains(where: \.isLetter) && name == name.uppercased()
        let start: String.Index
        if let underscore = name.lastIndex(where: { $0 == "_" || $0 == " " }) {
            start = name.index(after: underscore)
        } else {
            start = isUpper ? name.startIndex : name.lastIndex(where: \.isUppercase) ?? name.startIndex
        }
        let word = String(name[start...])
        guard let first = word.first else { return name }
        let changed = change(word.lowercased())
        if isUpper { return name[..<start] + changed.uppercased() }
        return name[..<start] + (first.isUppercase ? changed.prefix(1).uppercased() + changed.dropFirst() : changed)
    }
}
