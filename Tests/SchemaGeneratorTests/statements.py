"""Checked SQL: what functions come out of named statements, and where it says that something is wrong."""
