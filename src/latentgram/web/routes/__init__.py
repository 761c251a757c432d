"""Parts of the API, each with the JSON that it takes and gives."""
