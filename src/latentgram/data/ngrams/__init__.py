"""Counts of n-grams: in memory, with temporary files, as tables and as ARPA files."""
