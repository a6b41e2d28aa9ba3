"""What every package may use: a run's clock and limits, progress, memory, sets as bits, classes of networks as such,
messages, safe writing.

Comes in: plain values. Goes out: plain values. Knows: ``errors`` only.
"""
