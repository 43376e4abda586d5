import Foundation
import LiteVault

// Before any key: a crash prints no memory.
CrashReports.disable()

let usage = "notes KEYFILE DATABASE add TITLE (text from standard input) | list [TEXT] | remove NUMBER | backup FILE"

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("notes: \(message)\n".utf8))
    exit(1)
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 3 else { fail(usage) }

do {
    let store = try NoteStore(path: arguments[1], key: KeyFile.key(at: arguments[0]))
    switch (arguments[2], arguments.dropFirst(3).first) {
    case ("add", let title?):
        let body = String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)
        print("note", try store.add(title: title, body: body))
    case ("list", let text):
        for note in try store.notes(containing: text) {
            print("\(note.id)\t\(note.title)\t\(note.body.split(separator: "\n").first ?? "")")
        }
    case ("remove", let number?):
        guard let id = Int64(number), try store.remove(id) else { fail("there is no note \(number)") }
    case ("backup", let file?):
        try store.backUp(to: file)
    default:
        fail(usage)
    }
} catch let error as VaultError {
    // Names the file, what is wrong with it and what to do; never a key.
    fail("\(error)")
} catch {
    fail(error.localizedDescription)
}
