public import LiteVaultBackup
internal import LiteVaultSystem

/// Checks an object store against the rules that repositories rely on.
///
/// ```swift
/// let conformance = ObjectStoreConformance { place in try MyStore(bucket: "test", prefix: place) }
/// for result in await conformance.run() { print(result) }
/// ```
///
/// Each rule gets an empty place of its own, and removes the objects that it put there. Nothing else is touched. No test framework is
/// needed: a program prints the results, a test of any framework asserts that none has failed.
///
/// Three promises cannot be seen from outside and are not checked: that an object survives a crash once it is stored, that transient
/// failures are retried, and that files are stored and fetched in constant memory.
public struct ObjectStoreConformance: Sendable {
    /// Opens the store at a place.
    ///
    /// - Parameter place: a name of ASCII letters, digits and `-`, such as a directory or a prefix may have. It is new for each rule. A
    ///   second call with the same name has to make a second client of the same objects.
    public typealias Opening = @Sendable (_ place: String) async throws -> any ObjectStore

    /// Whether opening a place twice makes two clients of the same objects, as for a store on a server. Otherwise, as for a store in
    /// memory, rules about two clients are checked with one. True by default.
    public var hasSeveralClients = true
    /// The size of a large object, in bytes: 70 MiB by default, which is more than `get(_:)` reads, and more than a pack has.
    public var largeObject: Int64 = 70 << 20
    /// How many objects are listed at once; 2,100 by default, which is more than two pages of a listing in S3.
    public var manyObjects = 2_100
    /// How long to wait for a clock to advance and for a cancelled call to end; two minutes by default. Nothing else depends on durations.
    public var patience = Duration.seconds(120)
    /// A local directory for files to store and to fetch; nil for a temporary one.
    public var scratch: String?

    private let open: Opening

    /// Creates a check of the store that `open` opens.
    public init(_ open: @escaping Opening) { self.open = open }

    /// All rules, in the order in which ``run()`` checks them.
    public static let rules =
        Rule.content + Rule.reading + Rule.conditions + Rule.visibility + Rule.listing + Rule.places

    /// Checks all rules, one after the other.
    public func run() async -> [Result] {
        var results: [Result] = []
        for rule in Self.rules { results.append(await run(rule)) }
        return results
    }

    /// Checks one rule in a place of its own, and removes its objects.
    public func run(_ rule: Rule) async -> Result {
        let place = "conformance-" + UUID().uuidString.lowercased()
        let directory = (scratch ?? FileManager.default.temporaryDirectory.path) + "/" + place
        var outcome = Outcome.passed
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let store = try await open(place)
            let examination = Examination(
                store: store, other: hasSeveralClients ? try await open(place) : store, directory: directory,
                settings: self, open: open)
            outcome = await Self.outcome(rule, examination)
            for object in (try? await store.list("")) ?? [] { try? await store.remove(object.name) }
        } catch {
            outcome = .failed(observed: "the place could not be opened: \(error)", expected: "an empty store")
        }
        try? FileManager.default.removeItem(atPath: directory)
        return Result(rule: rule, outcome: outcome)
    }

    private static func outcome(_ rule: Rule, _ examination: Examination) async -> Outcome {
        do {
            try await rule.check(examination)
            return .passed
        } catch let deviation as Deviation {
            return .failed(observed: deviation.observed, expected: deviation.expected)
        } catch let exception as NotApplicable {
            return .notApplicable(exception.reason)
        } catch {
            return .failed(observed: "a call threw \(Examination.describe(error))", expected: "no error")
        }
    }
}

extension ObjectStoreConformance {
    /// A rule that every store has to keep.
    public struct Rule: Sendable, CustomStringConvertible {
        /// The rule, as a sentence.
        public let name: String
        /// What in a repository relies on it.
        public let reason: String
        let check: @Sendable (Examination) async throws -> Void

        init(
            _ name: String, because reason: String, _ check: @escaping @Sendable (Examination) async throws -> Void
        ) {
            (self.name, self.reason, self.check) = (name, reason, check)
        }

        /// The same as ``name``.
        public var description: String { name }
    }

    /// What came of a rule.
    public enum Outcome: Sendable, Equatable {
        /// The store keeps it.
        case passed
        /// The store breaks it.
        case failed(observed: String, expected: String)
        /// The store does without what the rule is about, for this reason.
        case notApplicable(String)
    }

    /// A rule and its outcome.
    public struct Result: Sendable, CustomStringConvertible {
        /// The rule.
        public let rule: Rule
        /// Its outcome.
        public let outcome: Outcome

        /// Whether the store breaks the rule.
        public var isFailure: Bool { if case .failed = outcome { true } else { false } }

        /// The outcome, the rule and, of a broken one, what was observed, what was expected and what relies on it.
        public var description: String {
            switch outcome {
            case .passed: "passed  \(rule.name)"
            case .failed(let observed, let expected):
                "failed  \(rule.name): \(observed); expected: \(expected). \(rule.reason)"
            case .notApplicable(let reason): "skipped  \(rule.name): \(reason)"
            }
        }
    }
}
