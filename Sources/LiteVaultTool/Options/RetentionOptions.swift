internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultSupport

/// `--keep-…`: which snapshots stay.
struct RetentionOptions: ParsableArguments {
    @Option(name: .customLong("keep-last"), help: .init("Keep the newest N.", valueName: "n"))
    var last: Int?

    @Option(name: .customLong("keep-hourly"), help: .init("Keep the newest of each of N hours.", valueName: "n"))
    var hourly: Int?

    @Option(name: .customLong("keep-daily"), help: .init("Keep the newest of each of N days (UTC).", valueName: "n"))
    var daily: Int?

    @Option(name: .customLong("keep-weekly"), help: .init("Keep the newest of each of N weeks.", valueName: "n"))
    var weekly: Int?

    @Option(name: .customLong("keep-monthly"), help: .init("Keep the newest of each of N months.", valueName: "n"))
    var monthly: Int?

    @Option(name: .customLong("keep-yearly"), help: .init("Keep the newest of each of N years.", valueName: "n"))
    var yearly: Int?

    @Option(
        name: .customLong("keep-within"),
        help: .init("Keep all that are not older than this: 36h, 30d, 8w.", valueName: "time"),
        transform: Duration.seconds(parsing:))
    var within: Double?

    /// The rules as the library has them.
    ///
    /// - Throws: `usage` without any rule, and for numbers below 1.
    func policy() throws(Failure) -> RetentionPolicy {
        var policy = RetentionPolicy()
        policy.last = last
        policy.hourly = hourly
        policy.daily = daily
        policy.weekly = weekly
        policy.monthly = monthly
        policy.yearly = yearly
        policy.within = within.map { Duration(seconds: $0) }
        guard !policy.isEmpty else {
            throw Failure(
                .usage, "no rule says which snapshots to keep",
                remedy: "Give at least one: --keep-last, --keep-daily, --keep-within …")
        }
        guard [last, hourly, daily, weekly, monthly, yearly].allSatisfy({ $0 ?? 1 > 0 }) else {
            throw Failure(.usage, "a --keep-… option wants a number above 0")
        }
        return policy
    }
}

extension Duration {
    /// `90s`, `15m`, `36h`, `30d`, `8w` in seconds.
    static func seconds(parsing text: String) throws -> Double {
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        guard let unit = text.last, let factor = units[unit], let number = Double(text.dropLast()), number >= 0,
            number.isFinite
        else { throw ValidationError("a time is a number with a unit: 90s, 15m, 36h, 30d or 8w") }
        return number * factor
    }
}
