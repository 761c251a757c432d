"""Compiled loops over the arcs of sentences: arrays in, arrays out."""
