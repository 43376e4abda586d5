internal import Foundation

/// Calls a C function that returns -1 and sets `errno`, again while a signal interrupts it.
///
/// - Throws: ``DurableFileError`` with the operation, the path and the error number.
@discardableResult
func systemCall(_ operation: String, _ path: String, _ body: () -> Int32) throws(DurableFileError) -> Int32 {
    while true {
        let result = body()
        if result >= 0 { return result }
        let code = errno
        if code == EINTR { continue }
        throw DurableFileError(.system, operation: operation, path: path, code: code)
    }
}
