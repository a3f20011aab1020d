"""What the computed figures need."""

from bytenet.reproduction.engine.experiment import Needs

COMPUTED = Needs(time={"smoke": "15 s", "cpu": "15 s", "thesis": "15 s"})
