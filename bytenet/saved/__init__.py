"""Reading of saved arrays and models: descriptions and sizes are checked before anything is allocated."""
