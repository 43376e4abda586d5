internal import Foundation

// LiteVaultSchemaGenerator --output FILE SCRIPT…
//
// Run by LiteVaultSchemaPlugin. Diagnostics have the form that SwiftPM and editors read: file:line:column: error: message.
exit(Generator.run(Array(CommandLine.arguments.dropFirst())))
