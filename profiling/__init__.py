"""Traces of training and decoding: capture, grouping by model part, throughput, reports.

Nothing is built here yet. The folder lies at the top of the repository and is imported as
`bytenet.profiling`.
"""
