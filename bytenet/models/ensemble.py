"""Several models that translate together."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import keras
from keras import ops

from bytenet.config import ModelConfig
from bytenet.models.translation_model import TranslationModel


@keras.saving.register_keras_serializable("bytenet")
class Ensemble(TranslationModel):
    """Models whose probabilities are averaged at each step. They may be of different families.

    The logits of the ensemble are the logarithm of the mean probability. So every search and every score works with it.
    It is not for training.

    Args:
        members: models with the same vocabulary, at least one. They must not read padding.

    Raises:
        ValueError: there are no members, the sizes of their vocabularies differ, or one of them reads padding.

    Reference:
        Sutskever et al. 2014, section 3.6; Gehring et al. 2017, section 5.2.
    """

    config_class = ModelConfig

    def __init__(self, members: Sequence[TranslationModel]):
        if not members:
            raise ValueError("An ensemble needs at least one model.")
        sizes = [member.vocab_size for member in members]
        if len(set(sizes)) > 1:
            raise ValueError(f"The members of an ensemble need the same vocabulary; they have {sizes} symbols.")
        if any(member.length_policy.reads_padding for member in members):
            raise ValueError("A model that reads padding (mask_padding: false) cannot be a member of an ensemble.")
        super().__init__(members[0].config, sizes[0], name="ensemble")
        policies = [member.length_policy for member in members]
        # Scale and offset are those of the first member: nothing reads them, because the ensemble has a
        # `max_target_length` of its own.
        self.length_policy = replace(
            policies[0],
            rule="pair" if any(policy.pads_to_pair for policy in policies) else "unfold",
            longest=min((policy.longest for policy in policies if policy.longest is not None), default=None),
        )
        self.members = list(members)
        self.built = True  # all weights are those of the members

    def encode(self, source_ids, training=False):
        return [member.encode(source_ids, training=training) for member in self.members]

    def decode(self, memory, previous_ids, training=False):
        pairs = zip(self.members, memory, strict=True)
        return _log_mean_probability([member.decode(part, previous_ids, training=training) for member, part in pairs])

    def attention_weights(self, memory, previous_ids):
        pairs = zip(self.members, memory, strict=True)
        return [weights for member, part in pairs for weights in member.attention_weights(part, previous_ids)]

    def alignment(self, memory, previous_ids):
        pairs = zip(self.members, memory, strict=True)
        alignments = [member.alignment(part, previous_ids) for member, part in pairs if member.has_attention]
        return ops.mean(ops.stack(alignments), axis=0)

    @property
    def has_attention(self):
        return any(member.has_attention for member in self.members)

    def initial_state(self, memory, max_length, beam_size=1):
        pairs = zip(self.members, memory, strict=True)
        return [member.initial_state(part, max_length, beam_size) for member, part in pairs]

    def make_step(self):
        member_steps = [member.make_step() for member in self.members]

        def step(previous_ids, state, memory, position):
            results = [
                member_step(previous_ids, own_state, own_memory, position)
                for member_step, own_state, own_memory in zip(member_steps, state, memory, strict=True)
            ]
            return _log_mean_probability([logits for logits, _ in results]), [own_state for _, own_state in results]

        return step

    def select(self, state, parents):
        return [member.select(part, parents) for member, part in zip(self.members, state, strict=True)]

    def max_target_length(self, source_length):
        return min(member.max_target_length(source_length) for member in self.members)

    def max_target_lengths(self, source_lengths):
        return reduce(ops.minimum, [member.max_target_lengths(source_lengths) for member in self.members])

    def get_config(self):
        """The members as configurations, for `from_config`."""
        return {"members": [keras.saving.serialize_keras_object(member) for member in self.members]}

    @classmethod
    def from_config(cls, config):
        return cls([keras.saving.deserialize_keras_object(member) for member in config["members"]])


def _log_mean_probability(logits: list):
    """The logarithm of the mean probability: float `(..., vocab_size)` for each member → the same shape."""
    log_probabilities = ops.stack([ops.log_softmax(ops.cast(scores, "float32"), axis=-1) for scores in logits])
    return ops.logsumexp(log_probabilities, axis=0) - ops.log(ops.cast(len(logits), "float32"))
