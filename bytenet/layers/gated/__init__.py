"""Stacks of convolutions with gated linear units and attention, the layers of ConvS2S."""
