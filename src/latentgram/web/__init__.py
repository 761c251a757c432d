"""The browser page and its JSON API."""
