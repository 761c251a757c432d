"""What is counted: additive, savable, no linear algebra."""
