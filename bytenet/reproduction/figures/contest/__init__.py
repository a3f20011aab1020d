"""Beyond the thesis: the families of models on equal terms."""
