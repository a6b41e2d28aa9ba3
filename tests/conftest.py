"""What all tests share: how hypothesis runs. Examples are the same on every run, so that a failure can be repeated."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "topdag", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("topdag")
