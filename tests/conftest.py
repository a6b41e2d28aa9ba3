"""What all tests share: how hypothesis runs.

Examples are the same on every run, so that a failure can be repeated. ``--hypothesis-profile=explore`` draws new
ones each time: run it after changing an engine.
"""

from hypothesis import HealthCheck, settings

slow_is_fine = [HealthCheck.too_slow]
settings.register_profile("topdag", deadline=None, derandomize=True, suppress_health_check=slow_is_fine)
settings.register_profile("explore", deadline=None, suppress_health_check=slow_is_fine)
settings.load_profile("topdag")
