internal import Foundation

/// Which repository, and how it is opened.
package struct RepositoryReference: Sendable, Hashable {
    /// A folder, or `s3://BUCKET/PREFIX`.
    package let location: String
    package let endpoint: String?
    package let region: String?
    package let usesPathStyle: Bool
    /// Where the repository's secret is; nil without one.
    package let secret: KeyReference?
    /// Seconds for which it may stay silent, fail or be locked before that is a failure: the limit `store`.
    package var patience = TimeLimits().store

    /// What `section` says, and where it says nothing `inherited`; nil where neither names a repository.
    init?(_ section: ConfigurationSection, folder: String, inherited: RepositoryReference?) throws {
        let secret = try KeyReference(section, prefix: "repository-secret", folder: folder)
        let s3 = try section.section("s3", known: ["endpoint", "region", "path-style"])
        guard let text = try section.text("repository") else {
            guard secret == nil, s3 == nil || inherited == nil else {
                throw section.error(nil, "there is a secret of a repository, but no 'repository'")
            }
            guard let inherited else { return nil }
            location = inherited.location
            endpoint = try s3?.text("endpoint") ?? inherited.endpoint
            region = try s3?.text("region") ?? inherited.region
            usesPathStyle = try s3?.flag("path-style") ?? inherited.usesPathStyle
            self.secret = inherited.secret
            return
        }
        let scheme = text.range(of: "://").map { text[..<$0.lowerBound].lowercased() }
        guard scheme == nil || scheme == "s3" else {
            throw section.error("repository", "'\(text)' is neither a folder nor s3://BUCKET/PREFIX")
        }
        location = scheme == nil && !text.hasPrefix("/") ? "\(folder)/\(text)" : text
        endpoint = try s3?.text("endpoint") ?? inherited?.endpoint
        region = try s3?.text("region") ?? inherited?.region
        usesPathStyle = try s3?.flag("path-style") ?? inherited?.usesPathStyle ?? false
        // A secret belongs to one repository.
        self.secret = secret ?? (location == inherited?.location ? inherited?.secret : nil)
    }
}
