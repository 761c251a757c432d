"""Compiled loops over charts and trees: arrays in, arrays out."""
