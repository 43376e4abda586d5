// DurableFile
