/// Why a command ends without having done its work: what the two reporters print and what decides the exit status.
struct Failure: Error, Equatable {
    var code: FailureCode
    /// What happened, without a capital letter and without a full stop.
    var message: String
    /// The file that it is about.
    var path: String?
    /// What to do about it: a sentence.
    var remedy: String?
    /// Of a restore that does not reach what was wanted.
    var times: Times?

    /// The time that was wanted, and the newest that can be had.
    struct Times: Equatable {
        let wanted: String
        let reachable: String
    }

    init(_ code: FailureCode, _ message: String, path: String? = nil, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.path = path
        self.remedy = remedy
    }
}

/// A signal asked for the end. It is no failure: the temporaries are gone and the status says the signal.
struct Interrupted: Error {
    let signal: Int32

    var status: Int32 { 128 + signal }
}
