"""Capture what TensorFlow's profiler records during some steps of real training, or during some searches.

TensorBoard's Profile tab shows the captured file. The file `capture.json` beside it holds what was captured, and how
long such steps take while the profiler is off.
"""

from bytenet.profiling.traces.capture.searches import Search, capture_decoding_of
from bytenet.profiling.traces.capture.training_steps import capture_training

__all__ = ["Search", "capture_decoding_of", "capture_training"]
