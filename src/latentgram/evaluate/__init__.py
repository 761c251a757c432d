"""Scores that can be added, compared and printed."""
