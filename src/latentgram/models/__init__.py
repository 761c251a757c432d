"""Models: frozen bags of arrays with a meaning."""
