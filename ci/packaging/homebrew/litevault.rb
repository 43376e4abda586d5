# A Homebrew formula for a tap. NOT RUN YET: neither Homebrew nor macOS was at hand where it was written; ci/lint checks its
# syntax, and ci/version that it names the current version. The address is a placeholder until there is a public one.
class Litevault < Formula
  desc "Encrypted SQLite databases, verified and backed up"
  homepage "https://example.org/litevault"
  url "https://example.org/litevault.git", tag: "0.1.0"
  license "Apache-2.0"
  head "https://example.org/litevault.git", branch: "main"

  depends_on "pkgconf" => :build
  depends_on "libyaml"
  depends_on "sqlcipher"

  uses_from_macos "swift" => :build
  uses_from_macos "sqlite" => :test
  uses_from_macos "zlib"

  on_macos do
    depends_on xcode: ["26.0", :build]
  end

  def install
    # Homebrew has a sandbox of its own, and they cannot be nested.
    system "swift", "build", "--disable-sandbox", "-c", "release", "--product", "litevault"
    bin.install ".build/release/litevault"
    generate_completions_from_executable(bin/"litevault", "--generate-completion-script")
  end

  test do
    assert_match "SQLCipher", shell_output("#{bin}/litevault --version")
    system "sqlite3", "plain.db", "CREATE TABLE note (title TEXT); INSERT INTO note VALUES ('behind the painting')"
    system bin/"litevault", "keygen", "key"
    system bin/"litevault", "encrypt", "plain.db", "vault.db", "--key-file", "key"
    refute_includes (testpath/"vault.db").binread, "behind the painting"
    assert_match "behind the painting",
                 shell_output("#{bin}/litevault query vault.db --key-file key 'SELECT title FROM note'")
  end
end
