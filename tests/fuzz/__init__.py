"""Input that nobody would write: it must be refused in one sentence, or do no harm."""
