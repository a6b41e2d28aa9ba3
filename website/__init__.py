"""The site of the docs: pages that are made when it is built, and the notebooks' outputs."""
