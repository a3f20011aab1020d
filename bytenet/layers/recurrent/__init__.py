"""Layers of recurrent translators: cells, encoders, attention to the source, and decoders.

All decoders have these methods, for B sources, S source symbols and T target characters:

- `remember(encoded, states, source_ids)`: the memory, from the encoder's results. A nest of tensors of B rows.
- `decode(embedded, memory, training)`: all steps, float `(B, T, channels)` → `(B, T, channels)` for the head.
- `attention_weights(embedded, memory)`: those of all steps, float `(B, T, S)`, or None without attention.
- `initial_state(memory, beam_size)`: the state before the first step, of R = B · beam_size rows. A search rearranges
  the rows of `state["hypotheses"]`, a list of tensors with a row for each hypothesis.
- `step(embedded, state, memory, position)`: one step, from float `(R, channels)`. Returns float `(R, channels)` for the
  head, and the next state.
"""
