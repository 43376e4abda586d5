internal import Foundation

/// Asks for a key on the terminal, without echo.
struct KeyPrompt {
    /// What the key is for, `for notes.db`.
    let subject: String
    /// Whether it is a key about to be set: asked twice then, because a typing error would lock the data away.
    let confirms: Bool
    let terminal: Terminal

    /// - Throws: `key-rejected` without a terminal, at end of file, or when the two answers differ three times.
    func ask(format: KeyFormat) throws -> SecretBuffer {
        let console = try Console.open(terminal)
        defer { console.close() }
        let noun = format == .hex ? "hexadecimal key" : "passphrase"
        let what = confirms ? "New " + noun : noun.prefix(1).uppercased() + noun.dropFirst()
        for attempt in 1...3 {
            let first = try answer(on: console, "\(what) \(subject): ")
            guard confirms else { return first }
            guard first.count > 0 else {
                console.show("It can not be empty.\n")
                continue
            }
            let second = try answer(on: console, "The same again: ")
            if first.equals(second) { return first }
            console.show(attempt < 3 ? "They differ. Once more.\n" : "They differ.\n")
        }
        throw Failure(.keyRejected, "no key was set: the answers differed or were empty")
    }

    private func answer(on console: Console, _ question: String) throws -> SecretBuffer {
        try console.withoutEcho {
            console.show(question)
            let buffer = SecretBuffer()
            let complete = try buffer.fillLine(from: console.descriptor)
            // The newline that was typed is not echoed either.
            console.show("\n")
            guard complete || buffer.count > 0 else { throw Failure(.keyRejected, "no key was entered") }
            return buffer
        }
    }
}
