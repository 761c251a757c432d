"""The tables and figures of the papers, computed again."""
