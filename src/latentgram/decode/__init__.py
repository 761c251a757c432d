"""From posteriors to structures."""
