"""A stand-in for the training in real worker processes."""

# Each process imports this first. The width of the model selects what the stand-in training does.
PROGRAM = """
import os, signal, sys, time, types
from pathlib import Path

class ModelPool:
    made = 0
    def __init__(self):
        ModelPool.made += 1

def train(config, run, resume, models):
    from bytenet.errors import InputError
    folder = Path(run)
    folder.mkdir(parents=True, exist_ok=True)
    threads = os.environ["TF_NUM_INTRAOP_THREADS"], os.environ["TF_NUM_INTEROP_THREADS"]
    cache = "--tf_xla_persistent_cache_directory" in os.environ.get("TF_XLA_FLAGS", "")
    print("process", os.getpid(), "pools", models.made, "threads", *threads, "cache", cache, "resume", resume)
    os.write(2, b"from below Python\\n")
    if config.model.dim == 6:
        raise InputError("the loss is nan")
    if config.model.dim == 8:
        os.kill(os.getpid(), signal.SIGKILL)
    if config.model.dim == 10:
        raise RuntimeError("a mistake of the program")
    if config.model.dim == 14:
        models.compiled = b"x" * 500_000_000
    if config.model.dim == 16:  # until the other run has begun, in another process
        other = folder.parent.parent / "two"
        while not any(path.is_dir() for path in other.glob("seed-*")):
            time.sleep(0.01)
    if config.model.dim == 12:
        def stop(number, frame):
            (folder / "checkpoint").touch()
            raise KeyboardInterrupt("Stopped, all saved.")
        signal.signal(signal.SIGTERM, stop)
        (folder / "training").touch()
        time.sleep(60)
    (folder / "config.yaml").write_text(config.to_yaml(), encoding="utf-8")

for name in ("bytenet.training", "bytenet.training.compiled_models.model_pool"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(train=train, ModelPool=ModelPool)
"""
