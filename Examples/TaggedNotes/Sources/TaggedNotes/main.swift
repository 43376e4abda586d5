import Foundation
import LiteVault
import Observation

// Takes a notebook through its life and checks each step: the program is its own test. The argument is an empty directory.

// Before any key: a crash prints no memory.
CrashReports.disable()

guard CommandLine.arguments.count == 2 else {
    print("usage: TaggedNotes DIRECTORY")
    exit(64)
}
let place = URL(fileURLWithPath: CommandLine.arguments[1])

func check(_ condition: Bool, _ step: String) {
    print(condition ? "ok" : "FAILED", step)
    if !condition { exit(1) }
}

/// Waits until what `read` reads has changed after `change`.
@MainActor func wait<T>(for read: () -> T, after change: () async throws -> Void) async throws -> T {
    let (changes, continuation) = AsyncStream<Void>.makeStream()
    withObservationTracking {
        _ = read()
    } onChange: {
        continuation.yield()
    }
    try await change()
    var iterator = changes.makeAsyncIterator()
    _ = await iterator.next()
    return read()
}

let key = try DatabaseKey.passphrase("correct horse battery staple")
let path = place.appendingPathComponent("notes.db").path
var notebook = try Notebook(path: path, key: key)

let milk = try await notebook.add(title: "Shopping", body: "milk, eggs", tags: ["home", "urgent", "home"])
let safe = try await notebook.add(title: "Safe", body: "behind the painting", tags: ["home"])
check(try await notebook.overview().map(\.title) == ["Safe", "Shopping"], "notes come newest first")
check(try await notebook.overview(text: "eggs").map(\.id) == [milk], "a text is found")
check(try await notebook.overview(tag: "urgent").map(\.tags) == [2], "a tag is found")
check(try await notebook.overview(text: "eggs", tag: "work").isEmpty, "both conditions count")

check(try await notebook.rename(safe, to: "The safe"), "a note is renamed")
check(try await !notebook.rename(safe, to: "The safe"), "an equal title writes nothing")

let picture = place.appendingPathComponent("picture.raw")
let pixels = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
try pixels.write(to: picture)
let attached = try await notebook.attach(picture, to: safe)
let copy = place.appendingPathComponent("copy.raw")
try await notebook.export(attached, to: copy)
check(try Data(contentsOf: copy) == pixels, "an attachment comes back")
try FileManager.default.removeItem(at: picture)

let found = try await notebook.note(safe)
check(found?.0.title == "The safe" && found?.1.map(\.name) == ["home"], "a note has its tags")
check(found?.2.map(\.size) == [300_000], "a note has its attachments")

let screen = try notebook.screen(tag: "home")
check(screen.value.count == 2, "a screen has its value at once")
let shown = try await wait(for: { screen.value }) {
    _ = try await notebook.add(title: "Keys", body: "under the carpet", tags: ["home"])
}
check(shown.map(\.title) == ["Keys", "The safe", "Shopping"], "a screen follows the notes")

check(try await notebook.remove(safe), "a note is removed")
check(try await notebook.note(safe) == nil, "it is gone")
check(try await !notebook.remove(safe), "it cannot be removed twice")
screen.cancel()
try await notebook.close()

notebook = try Notebook(path: path, key: key)
check(try await notebook.overview().map(\.title) == ["Keys", "Shopping"], "a reopened notebook has its notes")
try await notebook.close()
