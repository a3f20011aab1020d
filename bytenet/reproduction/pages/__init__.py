"""Pages of Markdown on the results: an overview, the conclusions of the thesis, and a page for each chapter."""
