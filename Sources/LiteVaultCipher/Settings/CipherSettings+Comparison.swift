extension CipherSettings {
    /// The first setting that was asked for and does not hold.
    ///
    /// - Parameters:
    ///   - held: What the engine answers. What it cannot tell is nil there.
    package func firstDifference(to held: CipherSettings) -> String? {
        // A compatibility asks for all of the settings it stands for.
        let asked = compatibility == nil ? self : PageLayout(self, defaultCompatibility: 4).settings
        func differs<T: Equatable>(_ asked: T?, _ held: T?) -> Bool {
            guard let asked, let held else { return false }
            return asked != held
        }
        if differs(asked.pageSize, held.pageSize) { return "page size" }
        if differs(asked.kdfIterations, held.kdfIterations) { return "number of key derivation iterations" }
        if differs(asked.usesHMAC, held.usesHMAC) { return "page authentication" }
        if differs(asked.kdfAlgorithm, held.kdfAlgorithm) { return "key derivation algorithm" }
        if held.usesHMAC != false, differs(asked.hmacAlgorithm, held.hmacAlgorithm) { return "HMAC algorithm" }
        if differs(asked.plaintextHeaderSize, held.plaintextHeaderSize) { return "plaintext header" }
        return nil
    }
}
