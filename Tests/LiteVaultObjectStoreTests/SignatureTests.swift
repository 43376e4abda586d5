import Foundation
import LiteVaultObjectStore
import Testing

/// The examples of "Authenticating Requests: Using the Authorization Header" in Amazon's S3 API reference.
@Suite struct SignatureTests {
    static let signer = SignatureV4(
        credentials: AWSCredentials(
            accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        region: "us-east-1")

    private func signature(
        _ method: String, _ path: String, _ query: [(String, String)] = [], _ headers: [(String, String)] = [],
        payload: String = SignatureV4.emptyHash
    ) throws -> String {
        let signed = Self.signer.sign(
            method: method, path: URIEncoding.encode(path, keepingSlashes: true), query: URIEncoding.query(query),
            headers: [("host", "examplebucket.s3.amazonaws.com")] + headers, payloadHash: payload,
            time: Date(timeIntervalSince1970: 1_369_353_600))
        let authorization = try #require(signed.last { $0.0 == "authorization" }?.1)
        return String(try #require(authorization.components(separatedBy: "Signature=").last))
    }

    @Test func `the published example of a read is signed as published`() throws {
        #expect(
            try signature("GET", "/test.txt", [], [("range", "bytes=0-9")])
                == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    }

    @Test func `the published example of a write is signed as published`() throws {
        #expect(
            try signature(
                "PUT", "/test$file.text", [],
                [("date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
                payload: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072")
                == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
    }

    @Test func `the published examples of queries are signed as published`() throws {
        #expect(
            try signature("GET", "/", [("lifecycle", "")])
                == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
        #expect(
            try signature("GET", "/", [("prefix", "J"), ("max-keys", "2")])
                == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    }

    @Test func `credentials show no secret in a description or a dump`() {
        let credentials = AWSCredentials(accessKey: "AKIDEXAMPLE", secretKey: "hidden-1", sessionToken: "hidden-2")
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped, "\([credentials])"] {
            #expect(!text.contains("hidden"))
        }
    }
}
