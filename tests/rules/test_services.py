"""Services: made once, when somebody first asks, and closed in the reverse order."""

import pytest

from tertulia.kernel.services import Service, Services


class Oven:
    pass


class Bread:
    def __init__(self, oven: Oven) -> None:
        self.oven = oven


class Toast:
    def __init__(self, bread: Bread) -> None:
        self.bread = bread


BREAD = Service(Bread, lambda services: Bread(services[Oven]))
TOAST = Service(Toast, lambda services: Toast(services[Bread]))


def test_a_service_is_made_of_others_whatever_the_order_of_the_declarations() -> None:
    oven = Oven()
    services = Services({Oven: oven}, [TOAST, BREAD])
    assert services[Toast].bread is services[Bread]
    assert services[Bread].oven is oven
    assert services.all() == {Oven: oven, Bread: services[Bread], Toast: services[Toast]}


def test_what_nobody_asks_for_is_not_made() -> None:
    services = Services({}, [Service(Oven, lambda _: Oven()), Service(Bread, lambda _: pytest.fail("made"))])
    assert services[Oven] is services[Oven]


def test_a_missing_service_is_named_with_who_needs_it() -> None:
    with pytest.raises(LookupError, match="no feature declares this service: Toast -> Bread -> Oven"):
        Services({}, [BREAD, TOAST])[Toast]


def test_services_that_need_each_other_are_named() -> None:
    with pytest.raises(LookupError, match="services that need each other: Bread -> Toast -> Bread"):
        Services({}, [Service(Bread, lambda services: services[Toast].bread), TOAST])[Bread]


def test_two_services_of_one_type_are_refused() -> None:
    with pytest.raises(ValueError, match="Bread"):
        Services({}, [BREAD, BREAD])
    with pytest.raises(ValueError, match="Bread"):
        Services({Bread: Bread(Oven())}, [BREAD])


async def test_services_are_closed_the_newest_first_even_if_one_fails() -> None:
    ended: list[str] = []

    async def cool(_oven: Oven) -> None:
        ended.append("oven")

    async def eat(_bread: Bread) -> None:
        ended.append("bread")
        raise OSError("burnt")

    services = Services({}, [Service(Oven, lambda _: Oven(), close=cool), Service(Bread, BREAD.make, close=eat)])
    services.all()
    with pytest.raises(OSError, match="burnt"):
        await services.close()
    assert ended == ["bread", "oven"]
