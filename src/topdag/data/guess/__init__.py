"""What a column is: guesses from its name, its values and the order of the rows, each with its reason.

Comes in: columns. Goes out: types of columns, and notes on rows that are not independent. Knows: columns only.
"""
