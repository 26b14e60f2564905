import unittest
from datetime import date

from larder.stock import Item, Stock


class StockTest(unittest.TestCase):
    def test_what_keeps_shortest_comes_first(self) -> None:
        stock = Stock()
        stock.add("milk", 2, date(2025, 3, 9))
        stock.add("milk", 1, date(2025, 3, 4))
        self.assertEqual(
            stock.items(),
            (Item("milk", 1, date(2025, 3, 4)), Item("milk", 2, date(2025, 3, 9))),
        )

    def test_amounts_of_one_name_are_added_up(self) -> None:
        stock = Stock()
        stock.add("milk", 2, date(2025, 3, 9))
        stock.add("milk", 1, date(2025, 3, 4))
        self.assertEqual(stock.amount_of("milk"), 3)
        self.assertEqual(stock.amount_of("flour"), 0)

    def test_nothing_cannot_be_added(self) -> None:
        with self.assertRaisesRegex(ValueError, "0 of milk"):
            Stock().add("milk", 0, date(2025, 3, 9))


if __name__ == "__main__":
    unittest.main()
