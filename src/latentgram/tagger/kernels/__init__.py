"""Compiled loops over the tags of a sentence: arrays in, arrays out."""
