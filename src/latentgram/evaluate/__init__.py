"""Scores that add, compare and print themselves."""
