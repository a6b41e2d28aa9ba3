"""How tests of tables ask for an error and read its message."""

import pytest

from topdag.data.table import Table
from topdag.errors import TableError


def refused(source, *parts, **options):
    """Checks that no table can be made of the source, for reasons in which every part occurs."""
    with pytest.raises(TableError) as caught:
        Table(source, **options)
    for part in parts:
        assert part in str(caught.value), str(caught.value)
