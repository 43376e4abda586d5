import Foundation
import LiteVault

// notes KEYFILE DATABASE add TITLE     (the text comes from standard input)
// notes KEYFILE DATABASE list [TEXT]
// notes KEYFILE DATABASE remove NUMBER

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("notes: \(message)\n".utf8))
    exit(1)
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 3 else { fail("notes KEYFILE DATABASE add TITLE | list [TEXT] | remove NUMBER") }

do {
    let store = try NoteStore(path: arguments[1], key: KeyFile.key(at: arguments[0]))
    switch (arguments[2], arguments.dropFirst(3).first) {
    case ("add", let title?):
        let body = String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)
        print("note", try store.add(title: title, body: body))
    case ("list", let text):
        for note in try store.notes(containing: text ?? "") {
            print("\(note.id)\t\(note.title)\t\(note.body.split(separator: "\n").first ?? "")")
        }
    case ("remove", let number?):
        guard let id = Int64(number), try store.remove(id) else { fail("there is no note \(number)") }
    default:
        fail("add TITLE, list [TEXT] or remove NUMBER")
    }
} catch let error as VaultError {
    // Says which file, what is wrong with it and what to do; never a key.
    fail("\(error)")
} catch {
    fail(error.localizedDescription)
}
