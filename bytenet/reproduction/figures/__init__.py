"""The figures and tables, with one module for each theme. The constant `EXPERIMENTS` of a module lists them."""
