"""What is in the larder: items with an amount and the day until which they keep."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Item:
    name: str
    amount: int
    keeps_until: date


class Stock:
    """Items by name; of one name, what keeps shortest comes first."""

    def __init__(self) -> None:
        self._items: list[Item] = []

    def add(self, name: str, amount: int, keeps_until: date) -> None:
        if amount <= 0:
            raise ValueError(f"nothing to add: {amount} of {name}")
        self._items.append(Item(name, amount, keeps_until))
        self._items.sort(key=lambda item: (item.name, item.keeps_until))

    def items(self) -> tuple[Item, ...]:
        return tuple(self._items)

    def amount_of(self, name: str) -> int:
        return sum(item.amount for item in self._items if item.name == name)
