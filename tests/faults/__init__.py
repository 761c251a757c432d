"""Commands that are killed, interrupted and starved of room at random moments."""
