"""A model endpoint for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from endpoints import Endpoint


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    served = Endpoint()
    yield served
    served.close()
