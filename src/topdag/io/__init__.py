"""Files: scores, lists, posteriors, constraints and networks with probabilities, read and written.

``read_scores``, ``write_scores``; ``read_list``, ``write_list``; ``read_posteriors``, ``write_posteriors``;
``read_bootstrap``, ``write_bootstrap``; ``read_constraints``, and ``constraints_from`` for knowledge of pgmpy or
causal-learn; ``read_fitted``, a network with its probabilities, and ``read_bif``, the same from BIF in a file of any
name. At the top: ``topdag.read_network``, ``topdag.write_network``, ``topdag.read_table`` and ``topdag.write_report``.

Comes in: a path, or an object and a path. Goes out: an object, or a file written whole or not at all.
Knows: ``answers`` and all below them.
"""

from __future__ import annotations

from topdag._util.on_demand import opener

TYPE_CHECKING = False
if TYPE_CHECKING:
    from topdag.io.bootstraps import read_bootstrap, write_bootstrap
    from topdag.io.constraints import constraints_from, read_constraints
    from topdag.io.lists import read_list, write_list
    from topdag.io.networks import read_bif, read_fitted
    from topdag.io.posteriors import read_posteriors, write_posteriors
    from topdag.io.scores import read_scores, write_scores

_PLACES = {
    "io.bootstraps": "read_bootstrap write_bootstrap",
    "io.constraints": "constraints_from read_constraints",
    "io.lists": "read_list write_list",
    "io.networks": "read_bif read_fitted",
    "io.posteriors": "read_posteriors write_posteriors",
    "io.scores": "read_scores write_scores",
}
__getattr__ = opener(__name__, _PLACES)


def __dir__() -> list[str]:
    return __all__


__all__ = [
    "constraints_from",
    "read_bif",
    "read_bootstrap",
    "read_constraints",
    "read_fitted",
    "read_list",
    "read_posteriors",
    "read_scores",
    "write_bootstrap",
    "write_list",
    "write_posteriors",
    "write_scores",
]
