"""Compiled loops over arcs, siblings and histories: arrays in, arrays out."""
