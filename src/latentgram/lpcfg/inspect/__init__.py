"""What the hidden states of a grammar mean."""
