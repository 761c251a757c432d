"""What head automata are learned from: modifier sequences, events in contexts. Statistics add."""
