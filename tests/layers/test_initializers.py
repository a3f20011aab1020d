"""Bounds of the initial weights equal the worked examples at width 400."""

import keras
import numpy as np
import pytest
from keras.ops import convert_to_numpy

from bytenet.layers import ResidualStack, ThesisCodeUniform, initializers_for
from bytenet.layers.initializers import JointGlorotUniform, OpenGates

DILATED, RECOVER = (5, 200, 200), (1, 200, 400)


def assert_uniform(values, bound):
    """Check that all numbers are within the bound and have the spread of a uniform distribution."""
    values = convert_to_numpy(values)
    assert 0.99 * bound < np.abs(values).max() <= bound * (1 + 1e-6)
    np.testing.assert_allclose(values.std(), bound / np.sqrt(3), rtol=0.02)
    np.testing.assert_allclose(values.mean(), 0, atol=0.02 * bound)


@pytest.mark.parametrize(
    ("name", "shape", "bound"),
    [
        ("thesis_code", DILATED, (5 * 200 * 200) ** -0.25),  # .047
        ("thesis_code", RECOVER, (200 * 400) ** -0.25),  # .059
        ("he", DILATED, (6 / 1000) ** 0.5),  # .077
        ("he", RECOVER, (6 / 200) ** 0.5),  # .173
        ("lecun", DILATED, (3 / 1000) ** 0.5),  # .055
        ("lecun", RECOVER, (3 / 200) ** 0.5),  # .122
    ],
)
def test_bounds_at_width_400(name, shape, bound):
    initializers = initializers_for(name, "relu", num_blocks=15)
    for make in (initializers.hidden, initializers.residual, initializers.head):
        assert_uniform(make()(shape), bound)


def test_bound_of_a_thesis_code_matrix_depends_on_its_rows():
    assert_uniform(initializers_for("thesis_code", "relu", 15).embedding()((299, 400)), 299**-0.5)


@pytest.mark.parametrize(("activation", "gain"), [("relu", 6), ("selu", 3)])
def test_auto_follows_the_activation_and_the_depth(activation, gain):
    initializers = initializers_for("auto", activation, num_blocks=15)
    assert_uniform(initializers.hidden()(DILATED), (gain / 1000) ** 0.5)
    assert_uniform(initializers.residual()(RECOVER), (3 / 200 / 15) ** 0.5)
    assert_uniform(initializers.head()((1, 800, 300)), (0.3 / 800) ** 0.5)
    np.testing.assert_allclose(convert_to_numpy(initializers.embedding()((300, 400))).std(), 1, rtol=0.02)


def test_unknown_scheme_or_activation_is_refused():
    with pytest.raises(ValueError, match="Unknown initializer 'xavier'; known are auto, he, lecun, thesis_code"):
        initializers_for("xavier", "relu", 1)
    with pytest.raises(ValueError, match="Unknown activation 'gelu'; known are relu, selu"):
        initializers_for("auto", "gelu", 1)


@pytest.mark.parametrize("name", ["auto", "he", "lecun", "thesis_code"])
def test_no_two_kernels_get_the_same_values(name):
    stack = ResidualStack(2, [1, 2], dim=4, kernel_size=1, causal=True, initializer=name)
    stack.build((None, None, 4))
    kernels = [convert_to_numpy(weight).ravel()[:4] for weight in stack.weights if weight.name == "kernel"]
    assert len(np.unique(np.stack(kernels).round(6), axis=0)) == len(kernels) == 12


def test_drawn_weights_follow_the_global_seed():
    def draw():
        keras.utils.set_random_seed(3)
        return [convert_to_numpy(ThesisCodeUniform()((2, 3))) for _ in range(2)]

    first, second = draw(), draw()
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(*first)


def test_serialised_initialiser_draws_the_same():
    initializer = ThesisCodeUniform()
    copy = keras.initializers.get(keras.initializers.serialize(initializer))
    np.testing.assert_array_equal(copy((2, 3, 4)), initializer((2, 3, 4)))


def test_thesis_selu_is_the_thesis_code_times_the_root_of_three():
    initializers = initializers_for("thesis_selu", "selu", num_blocks=15)
    for make in (initializers.hidden, initializers.residual, initializers.head):
        assert_uniform(make()(DILATED), 3**0.5 * (5 * 200 * 200) ** -0.25)
    assert_uniform(initializers.embedding()((299, 400)), 299**-0.5)


def test_joint_bounds_of_a_gru_equal_its_bounds_in_tensorflow_1():
    # Inputs have size 50, the state has size 200. Gates come from (250, 400), the candidate from (250, 200).
    values = convert_to_numpy(JointGlorotUniform(250, (400, 200))((50, 600)))
    assert_uniform(values[:, :400], (6 / 650) ** 0.5)
    assert_uniform(values[:, 400:], (6 / 450) ** 0.5)
    recurrent = convert_to_numpy(JointGlorotUniform(250, (400, 200))((200, 600)))
    assert not np.array_equal(values, recurrent[:50])


def test_gates_start_open():
    np.testing.assert_array_equal(convert_to_numpy(OpenGates()((6,))), [1, 1, 1, 1, 0, 0])


@pytest.mark.parametrize(
    ("initializer", "shape"),
    [(JointGlorotUniform(250, (400, 200)), (5, 600)), (ThesisCodeUniform(gain=2.0), (5, 600)), (OpenGates(), (600,))],
)
def test_initialisers_are_saved(initializer, shape):
    again = keras.initializers.get(keras.initializers.serialize(initializer))
    np.testing.assert_array_equal(convert_to_numpy(again(shape)), convert_to_numpy(initializer(shape)))
