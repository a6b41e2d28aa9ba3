"""Pictures of networks: layers, routes of edges, SVG and matplotlib.

Comes in: names and edges by number. Goes out: a picture. Knows: nothing of networks.
"""
