"""How fast things are, and where the time goes. Imported as `bytenet.profiling`.

`traces`: `capture` records real training or decoding, `trace` reads the record, `breakdown` sums it up by the parts of
the model (`grouping` says which those are), `report` and `plots` write it down.

`benchmarks`: `training` (against `peak`, counted by `flops`, beside `baseline`), `decoding`, `pipeline`, `startup` and
`memory`; `measurement` has how all of them repeat and take turns.
"""
