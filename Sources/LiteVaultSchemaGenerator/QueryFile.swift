internal import Foundation

/// A statement of a file of queries, with what the comments above it say.
///
///     -- name: notesContaining(text:) :many :indexed
///     -- Notes with a text in their titles.
///     -- param text: String
///     -- column matches: Int64
///     -- result: NoteSummary
///     SELECT …;
struct NamedStatement {
    /// What a call returns.
    enum Kind: String, CaseIterable {
        case many, one, optional, exec, rowid, count

        /// Whether the statement has to return rows; if not, it must not.
        var readsRows: Bool {
            switch self {
            case .many, .one, .optional: true
            case .exec, .rowid, .count: false
            }
        }
    }

    /// A parameter of the Swift function, as its name says it.
    struct Label {
        /// The name at the call; `_` for none, nil for that of the parameter.
        let external: String?
        let name: String
    }

    struct Annotation {
        let type: String
        let location: Location
    }

    let name: String
    /// nil if the name is written without parentheses.
    let labels: [Label]?
    let kind: Kind
    let isIndexed: Bool
    let location: Location
    let documentation: [String]
    let parameters: [String: Annotation]
    let columns: [String: Annotation]
    let result: Annotation?
    let file: Script
    /// Where the SQL begins in the file, in bytes.
    let start: Int
    let bytes: [UInt8]
    let tokens: [Token]

    /// The SQL without what is before its first and after its last token.
    var sql: String { String(decoding: bytes[tokenRange], as: UTF8.self) }

    /// The bytes from the first token to the last.
    var tokenRange: Range<Int> {
        guard let first = tokens.first, tokens.count > 1 else { return 0..<0 }
        return first.range.lowerBound..<tokens[tokens.count - 2].range.upperBound
    }

    /// The place of a byte of the SQL.
    func location(at offset: Int) -> Location { file.location(at: start + offset) }
}

/// Reads the named statements of a file.
struct QueryFileReader {
    let file: Script

    /// - Throws: ``Diagnostics``, with one for each statement that is not understood.
    func statements() throws -> [NamedStatement] {
        let lines = file.numberedLines
        let comments = file.commentLines
        let heads = lines.indices.filter {
            Self.content(lines[$0].text, after: "name:") != nil && comments.contains(lines[$0].offset)
        }
        var statements: [NamedStatement] = []
        var wrong: [Diagnostic] = []
        let before = heads.first.map { lines[$0].offset } ?? file.bytes.count
        if file.start(after: 0) < before {
            wrong.append(
                Diagnostic(
                    location: file.location(at: file.start(after: 0)),
                    message: "a statement needs a name: write '-- name: functionName(parameter:) :many' above it"))
        }
        for (index, head) in heads.enumerated() {
            let end = index + 1 < heads.count ? heads[index + 1] : lines.count
            do { statements.append(try statement(lines[head..<end])) } catch let diagnostics as Diagnostics {
                wrong += diagnostics.list
            }
        }
        try Diagnostics.throwIfAny(wrong)
        return statements
    }

    /// What a comment says after a word: `-- name: …`.
    private static func content(_ line: String, after word: String) -> Substring? {
        let line = line.trimmingPrefix { $0.isWhitespace }
        guard line.hasPrefix("--") else { return nil }
        let comment = line.dropFirst(2).trimmingPrefix { $0.isWhitespace }
        guard comment.hasPrefix(word) else { return nil }
        return comment.dropFirst(word.count).trimmingPrefix { $0.isWhitespace }
    }

    private func statement(_ lines: ArraySlice<(offset: Int, text: String)>) throws -> NamedStatement {
        guard let head = lines.first, let last = lines.last else { throw Diagnostics([]) }
        let location = file.location(at: head.offset)
        let (name, labels, flags) = try Self.signature(Self.content(head.text, after: "name:") ?? "", location)
        guard flags.count(where: { NamedStatement.Kind(rawValue: $0) != nil }) == 1,
            let kind = flags.lazy.compactMap(NamedStatement.Kind.init).first,
            flags.allSatisfy({ NamedStatement.Kind(rawValue: $0) != nil || $0 == "indexed" })
        else {
            throw Diagnostics(
                location,
                "after the name comes one of :many, :one, :optional, :exec, :rowid and :count, and :indexed if wanted")
        }
        var comments = Comments()
        var start = head.offset + head.text.utf8.count
        for line in lines.dropFirst() {
            guard line.text.trimmingPrefix(while: \.isWhitespace).hasPrefix("--") else { break }
            try comments.read(line.text, file.location(at: line.offset))
            start = line.offset + line.text.utf8.count
        }
        let bytes = Array(
            file.bytes[min(start, file.bytes.count)..<min(last.offset + last.text.utf8.count, file.bytes.count)])
        let tokens = try Self.tokens(bytes, name, file, start)
        return NamedStatement(
            name: name, labels: labels, kind: kind, isIndexed: flags.contains("indexed"), location: location,
            documentation: comments.documentation, parameters: comments.parameters, columns: comments.columns,
            result: comments.result, file: file, start: start, bytes: bytes, tokens: tokens)
    }

    private static func tokens(
        _ bytes: [UInt8], _ name: String, _ file: Script, _ start: Int
    ) throws -> [Token] {
        do {
            let tokens = try Tokenizer.statement(bytes)
            let end = tokens.last?.range.upperBound ?? bytes.count
            guard tokens.count > 1 else {
                throw Diagnostics(file.location(at: start), "there is no statement below the name \(name)")
            }
            let rest = try Tokenizer.statement(bytes, from: end)
            guard rest.count == 1 else {
                throw Diagnostics(
                    file.location(at: start + rest[0].range.lowerBound),
                    "each statement needs a name of its own: write '-- name: functionName(parameter:) :many' above it")
            }
            return tokens
        } catch let error as SQLSyntaxError {
            throw Diagnostics(file.location(at: start + error.offset), error.message)
        }
    }

    /// Reads `notesContaining(text:) :many :indexed`.
    private static func signature(
        _ text: Substring, _ location: Location
    ) throws -> (name: String, labels: [NamedStatement.Label]?, flags: [String]) {
        let wrong = Diagnostics(location, "not understood: write '-- name: functionName(parameter:) :many'")
        let name = text.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        guard let first = name.first, !first.isNumber else { throw wrong }
        var rest = text.dropFirst(name.count)
        var labels: [NamedStatement.Label]?
        if rest.first == "(" {
            guard let end = rest.firstIndex(of: ")") else { throw wrong }
            let list = rest[rest.index(after: rest.startIndex)..<end]
            rest = rest[rest.index(after: end)...]
            labels = try list.split(separator: ":", omittingEmptySubsequences: false).dropLast().map { label in
                let words = label.split { $0.isWhitespace || $0 == "," }.map(String.init)
                guard words.count == 1 || words.count == 2 else { throw wrong }
                return NamedStatement.Label(external: words.count == 2 ? words[0] : nil, name: words[words.count - 1])
            }
            guard list.isEmpty || list.last == ":" else { throw wrong }
        }
        let flags = rest.split(whereSeparator: \.isWhitespace)
        guard flags.allSatisfy({ $0.hasPrefix(":") }) else { throw wrong }
        return (String(name), labels, flags.map { String($0.dropFirst()) })
    }

    /// What the comments between the name and the SQL say.
    private struct Comments {
        var documentation: [String] = []
        var parameters: [String: NamedStatement.Annotation] = [:]
        var columns: [String: NamedStatement.Annotation] = [:]
        var result: NamedStatement.Annotation?

        mutating func read(_ line: String, _ location: Location) throws {
            if let text = content(line, after: "param ") {
                let (name, type) = try annotation(text, location)
                parameters[name] = type
            } else if let text = content(line, after: "column ") {
                let (name, type) = try annotation(text, location)
                columns[name] = type
            } else if let text = content(line, after: "result:") {
                result = .init(type: String(text.prefix { !$0.isWhitespace }), location: location)
            } else if let text = content(line, after: ""), !text.hasPrefix("litevault:") {
                documentation.append(String(text))
            }
        }

        private func annotation(
            _ text: Substring, _ location: Location
        ) throws -> (String, NamedStatement.Annotation) {
            let parts = text.split(separator: ":", maxSplits: 1).map { part in
                part.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            }
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                throw Diagnostics(location, "not understood: write '-- param name: Type' or '-- column name: Type'")
            }
            return (parts[0], .init(type: parts[1], location: location))
        }
    }
}
