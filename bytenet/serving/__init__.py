"""A translation server: an HTTP interface that the clients of LibreTranslate know, and a page for people.

A request passes these modules: `http` reads it, and `texts` splits its texts into sentences. `work` gathers the
sentences of all requests into batches for a few threads. An engine of `engines` translates them. `page` is what a
browser shows.

Nothing here imports TensorFlow, except an engine that needs it, when it is loaded.
"""
