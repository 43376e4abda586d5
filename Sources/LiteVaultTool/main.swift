internal import Foundation

exit(Main.run(Array(CommandLine.arguments.dropFirst())))
