internal import Foundation

/// An access key. Neither its description nor a reflection of it shows the secret parts.
package struct AWSCredentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package let accessKey: String
    package let secretKey: String
    package let sessionToken: String?
    /// When it ends, in seconds since 1970; nil where it does not.
    package let expiration: Double?

    package init(accessKey: String, secretKey: String, sessionToken: String? = nil, expiration: Double? = nil) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
        self.expiration = expiration
    }

    package var description: String { "AWSCredentials(\(accessKey.prefix(4))…)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
