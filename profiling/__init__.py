"""How fast training and decoding are, and where their time goes. Imported as `bytenet.profiling`.

`benchmarks` measures speed and memory (`bytenet benchmark`). `traces` shows which parts of a model take the time of a
step (`bytenet profile`).
"""
