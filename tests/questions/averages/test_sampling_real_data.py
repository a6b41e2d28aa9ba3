"""Samples on real tables against exact probabilities: the score less the log evidence."""

from __future__ import annotations

import numpy as np
import pytest
from list_checks import scores_of
from sampling_truth import FIT, misfit

import topdag as td

LOG_EVIDENCE = {"tic_tac_toe": -9418.289140, "wine": -1244.530716, "voting": -4610.444408}


@pytest.mark.parametrize("name", LOG_EVIDENCE)
def test_probable_networks_on_real_data(name: str) -> None:
    """The networks within a factor of 20 of the best occur as often as they should, the others the rest of the time."""
    scores = scores_of(name, "BDeu")
    near = td.networks_within(scores, 20)
    drawn = td.sample_networks(scores, 100_000, seed=11)
    numbers = {tuple(row): number for number, row in enumerate(near.parents.tolist())}
    counts = np.zeros(len(near) + 1)
    for network, count in zip(drawn.parents[drawn._groups[0]].tolist(), drawn._groups[1].tolist(), strict=True):
        counts[numbers.get(tuple(network), len(near))] += count
    probabilities = np.exp(near.scores - LOG_EVIDENCE[name])
    assert misfit(counts, np.append(probabilities, 1 - probabilities.sum())) < FIT
