"""Counts of n-grams: in memory, by way of the disk, as tables and as ARPA files."""
