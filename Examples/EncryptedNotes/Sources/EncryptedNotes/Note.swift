import Foundation

/// One note.
struct Note {
    let id: Int64
    let title: String
    let body: String
    let written: Date
}
