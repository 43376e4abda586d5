internal import CEngineSupport
internal import LiteVaultEngine
func x() -> Int32 { sqlite3_libversion_number() + lv_header_version_number() }
