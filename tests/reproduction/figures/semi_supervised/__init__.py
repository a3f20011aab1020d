"""The tests of the grid share the made-up tables in `grid_tables`."""
