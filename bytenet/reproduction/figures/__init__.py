"""The figures and tables, one module a theme; each module has its `EXPERIMENTS`."""
