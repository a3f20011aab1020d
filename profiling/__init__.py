"""How fast things are, and where the time goes. Imported as `bytenet.profiling`.

So far: what a character costs when it is decoded (`bytenet.profiling.decoding`).
"""
