// The engine that the package trait `SQLCipher` chose. Everything above imports this module and never the other two.
#if SQLCipher
    @_exported public import CSQLCipher
#else
    @_exported public import CSQLite3
#endif
