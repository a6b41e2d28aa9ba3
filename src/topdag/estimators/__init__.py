"""The scikit-learn way in: structures and classifiers with ``fit`` and ``predict``.

Comes in: a frame or array. Goes out: fitted estimators. Knows: ``questions`` and all below them.
"""
