"""The residual blocks of ByteNet, and their stacks."""
