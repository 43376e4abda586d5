internal import ArgumentParser
internal import LiteVault
internal import LiteVaultKeyring

struct UnlockOptions: ParsableArguments {
    @Argument(path: "The keyring.", valueName: "keyring")
    var path: String

    @OptionGroup(title: "Opening the keyring") var opening: OpeningOptions
}

struct OpeningOptions: ParsableArguments {
    @OptionGroup var key: KeyOptions<UnlockRole>

    @Option(
        name: .customLong("unlock"),
        help: .init("What opens the keyring: \(UnlockMethod.names).", valueName: "method"))
    var method: UnlockMethod = .passphrase
}

/// A slot that a command adds or changes.
struct SlotOptions: ParsableArguments {
    @Option(help: .init("Kind of the slot.", valueName: "kind"))
    var kind: NewSlotKind = .passphrase

    @Option(name: .customLong("name"), help: .init("Name of the slot in lists.", valueName: "text"))
    var slotName = ""

    @OptionGroup(title: "Secret of the slot") var secret: KeyOptions<SlotSecretRole>

    @Option(help: .init("Public key of a slot of kind 'recipient'.", valueName: "recipient"))
    var recipient: String?

    @Option(
        help: .init(
            "Of a slot of kind 'command': gets a random secret, and prints what the keyring stores;"
                + " --new-key-command turns it back.",
            valueName: "cmd"))
    var wrapCommand: String?

    @Option(help: .init("Time that a guess of the passphrase takes on this machine.", valueName: "seconds"))
    var derivationTime: Double?

    @Flag(help: "Accept a passphrase that is easy to guess.")
    var allowWeak = false

    func validate() throws {
        if (kind == .recipient) != (recipient != nil) {
            throw ValidationError("--recipient goes with --kind recipient, and the reverse")
        }
        if (kind == .command) != (wrapCommand != nil) {
            throw ValidationError("--wrap-command goes with --kind command, and the reverse")
        }
        if let derivationTime, kind != .passphrase || !(derivationTime > 0 && derivationTime <= 60) {
            throw ValidationError("--derivation-time goes with a passphrase: more than 0 to 60 seconds")
        }
    }
}

/// The kinds of slots that can be added on the command line.
enum NewSlotKind: String, CaseIterable, ExpressibleByArgument {
    case passphrase
    case recovery
    case recipient
    case command
    case credential
    case file
}

// A slot in results.
extension KeyringSlot {
    var members: Members {
        [
            "slot": id, "kind": kind.rawValue, "name": name, "added": Format.time(added),
            "being_removed": isBeingRemoved, "recipient": recipient,
        ]
    }

    /// The public key of a recipient; nil for other kinds.
    var recipient: String? {
        kind == .recipient ? try? KeyringRecipient(publicKey: publicKey).description : nil
    }

    /// `passphrase 'laptop', added 2026-11-22T20:00:00Z`.
    var line: String {
        let name = name.isEmpty ? "" : " '\(Format.visible(name))'"
        return "\(kind.rawValue)\(name), \(isBeingRemoved ? "being removed" : "added \(Format.time(added))")"
    }
}
