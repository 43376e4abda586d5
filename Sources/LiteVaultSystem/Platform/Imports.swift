// The part of Foundation that needs no ICU, and the C library. This is the only file of the library and the tool that imports
// them; the other files of this target see what it exports, and other targets import this module. The rest of Foundation (Thread,
// FileHandle, String.range(of:), DateFormatter, ...) would add 45 MB to a statically linked program:
// Documentation.docc/Decisions/0044-foundation-essentials.md. What it is used for elsewhere has a replacement in this target.

#if canImport(FoundationEssentials)
    @_exported public import FoundationEssentials
#else
    // Apple's systems have one Foundation, which is part of the system.
    @_exported public import Foundation
#endif

#if canImport(Darwin)
    @_exported public import Darwin
#elseif canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#elseif canImport(Android)
    @_exported public import Android
#endif
