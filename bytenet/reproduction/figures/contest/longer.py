"""Beyond the thesis: the contest of the families again, for an hour each, and each with the best of three settings.

The steps of `family-contest` were planned with other lengths of sentences than those of captions, and with times of
another machine. Here, the time of a step was measured with captions' lengths on the core that trains.
"""

from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Scale
from bytenet.reproduction.figures.contest import quality
from bytenet.reproduction.figures.contest.systems import TUNED, tuned_trainings
from bytenet.reproduction.jobs.training_run import TrainingRun

_MINUTES = 60


def runs_of(scale: Scale) -> dict[str, TrainingRun]:
    """The trainings by their systems."""
    return tuned_trainings(TUNED, scale, _MINUTES)


EXPERIMENTS = (
    Experiment(
        name="family-contest-longer",
        is_thesis=False,
        title="The families of models, steps of an hour on one core, each with the best of three tried settings",
        thesis="Not in the thesis. Of other families, it trains one recurrent model, on Synthetic Digits. The ConvS2S "
        "with a short encoder was found with more tries than the other systems had, so it is not on equal terms.",
        needs=Needs(
            corpus="Multi30k",
            time={
                "smoke": "2 min, on Synthetic Digits",
                "cpu": "5 h for a seed with --jobs 2",
                "thesis": "as cpu",
            },
        ),
        basis=Basis("trained, beyond the thesis", "d = 128 to 256, steps of an hour on one core"),
        runs=lambda scale: list(runs_of(scale).values()),
        measure=lambda work: quality.measure(work, runs_of(work.scale)),
        verdicts=quality.verdicts,
        plot=quality.plot,
        labels=lambda scale: [quality.label(name) for name in TUNED],
        measured_with=quality.measured_with,
    ),
)
