"""How tests of tables ask for an error and read its message."""

import pytest

from topdag.errors import TableError
from topdag.table import Table


def refused(source, *parts, **options):
    """Checks that no table can be made of the source, for reasons in which every part occurs."""
    with pytest.raises(TableError) as caught:
        Table(source, **options)
    for part in parts:
        assert part in str(caught.value), str(caught.value)
