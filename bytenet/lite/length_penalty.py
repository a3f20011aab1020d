"""The length penalty, by which hypotheses of different lengths are compared."""

from typing import Literal, get_args

LengthPenaltyRule = Literal["gnmt", "length"]


def check_rule(rule: object) -> LengthPenaltyRule:
    """The rule itself.

    Raises:
        ValueError: there is no such rule.
    """
    if rule not in get_args(LengthPenaltyRule):
        raise ValueError(f"length_penalty_rule is {rule!r}; expected gnmt or length.")
    return rule  # type: ignore[return-value]


def length_penalty_divisor(lengths, alpha: float, rule: LengthPenaltyRule = "gnmt"):
    """What the log-probability of a hypothesis is divided by, in the shape of `lengths`; 1 for `alpha` 0.

    Args:
        lengths: numbers of symbols, a float array or tensor. The end symbol counts.
        alpha: of the rule, at least 0.
        rule: "gnmt": ((5 + length) / 6)^alpha. "length": length^alpha.

    Reference:
        Wu et al. 2016, "Google's Neural Machine Translation System", equation 14; Gehring et al. 2017, section 4.2, for
        the length itself.
    """
    return ((5.0 + lengths) / 6.0 if rule == "gnmt" else lengths) ** alpha
