// The engine that the package traits chose. Everything above imports this module and never the other three.
#if SQLCipherPackage
    @_exported public import SQLCipher
#elseif SQLCipher
    @_exported public import CSQLCipher
#else
    @_exported public import CSQLite3
#endif
