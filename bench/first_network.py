"""The network found from the data while a wide table is scored: its score by seconds of work, beside greedy search.

``python -m bench first_network``. BIC, one thread; nothing is proved here.
"""

from __future__ import annotations

import time
from datetime import date
from pathlib import Path

from bench.measure import machine

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
TABLES = ("plants_valid.csv.gz", "accidents_valid.csv.gz", "alarm1000.csv", "hailfinder500.csv", "carpo500.csv")
SECONDS = (0.1, 1.0, 5.0)


def main() -> None:
    import topdag as td
    from topdag._util.run import Run
    from topdag.questions.first_network import FirstNetwork
    from topdag.questions.request import Request

    print(f"\nA network from the data, BIC. {date.today()}. {machine()}")
    for name in TABLES:
        table = td.read_table(DATA / name)
        first, begin, found = FirstNetwork(Request(table, td.BIC()), Run()), time.process_time(), []
        for seconds in SECONDS:
            while time.process_time() - begin < seconds:
                first.go_on()
            network = first.network
            assert network is not None and network.score is not None
            found.append(f"{network.score:,.1f} after {seconds:g} s")
        print(f"  {name}, {table.n_variables} variables, {table.n_rows:,} rows: {', '.join(found)}")
