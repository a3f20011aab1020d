"""The seconds of each step of a `fit`."""

import time

import keras


class StepTimes(keras.callbacks.Callback):
    """Measures the seconds of each step until its loss is known. Training, too, reads the loss after every step.

    Attributes:
        seconds: of the steps of the latest `fit`, in order.
    """

    seconds: list[float]

    def on_train_begin(self, logs=None):
        self.seconds = []

    def on_train_batch_begin(self, batch, logs=None):
        if batch == 0:
            self._last = time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        float(logs["loss"])
        now = time.perf_counter()
        self.seconds.append(now - self._last)
        self._last = now
