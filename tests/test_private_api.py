"""The private names of Keras and TensorFlow that we use still work as needed."""

import keras
import numpy as np
import tensorflow as tf

from bytenet.private_api import (
    all_layers,
    averages_of,
    build_loss_and_metrics,
    build_nothing_in_fit,
    function_graph,
    recurrent_loop,
)


class Outer(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.inner = [keras.layers.Dense(2, name="inner")]

    def call(self, inputs):
        return self.inner[0](inputs)


class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.outer = Outer()

    def call(self, inputs):
        return self.outer(inputs)


def test_all_layers_include_nested_layers():
    model = Model()
    assert {layer.name for layer in all_layers(model)} >= {"inner", model.outer.name}


def test_metrics_have_their_variables_before_the_first_step():
    model = Model()
    model.compile(loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    assert not [variable for variable in model.metrics_variables if "accuracy" in variable.path]
    build_loss_and_metrics(model, keras.KerasTensor((None,), "int32"), keras.KerasTensor((None, 2), "float32"))
    assert [variable for variable in model.metrics_variables if "accuracy" in variable.path]


def test_averages_have_the_order_of_the_weights():
    weights = [keras.Variable(np.full(size, 2.0, "float32")) for size in (1, 3)]
    averaging = keras.optimizers.SGD(1.0, use_ema=True, ema_momentum=0.5)
    averaging.build(weights)
    averaging.apply([tf.ones(1), tf.ones(3)], weights)
    assert [tuple(average.shape) for average in averages_of(averaging)] == [(1,), (3,)]


def test_fit_uses_the_function_it_is_given_and_builds_nothing():
    """Keras would draw a batch under a strategy, to build the model with it."""
    with tf.distribute.OneDeviceStrategy("CPU:0").scope():
        model = Model()
        model.compile()
    build_nothing_in_fit(model)
    seen = []

    def train_function(batches):
        seen.append(float(next(batches)))
        return {"loss": 1.0}

    model.train_function = train_function
    model.fit(tf.data.Dataset.range(3).map(lambda number: tf.cast(number, tf.float32)), verbose=0)
    assert seen == [0.0, 1.0, 2.0]
    assert not model.built


def test_function_graph_finds_the_graph_of_a_called_function():
    inner = tf.function(lambda x: tf.matmul(x, x))
    outer = tf.function(lambda x: inner(x)).get_concrete_function(tf.TensorSpec((2, 2)))
    (call,) = [operation for operation in outer.graph.get_operations() if "PartitionedCall" in operation.type]
    graph = function_graph(outer.graph, call.get_attr("f").name)
    assert "MatMul" in {operation.type for operation in graph.get_operations()}
    assert function_graph(outer.graph, "no such function") is None


def test_a_loop_runs_over_the_steps_in_both_directions():
    inputs = tf.reshape(tf.range(6.0), (1, 3, 2))
    for go_backwards, outputs in ((False, [[0, 1], [2, 4], [6, 9]]), (True, [[6, 9], [6, 8], [4, 5]])):
        sums, (last,) = recurrent_loop(
            lambda now, states: (states[0] + now, [states[0] + now]), inputs, [tf.zeros((1, 2))], go_backwards
        )
        np.testing.assert_array_equal(sums[0], outputs)
        np.testing.assert_array_equal(last[0], outputs[0 if go_backwards else -1])
