"""Compiled loops over chains and automata: arrays in, arrays out."""
