"""Runs the examples of docs/python.md."""

import doctest
import pathlib
import unittest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


class Page(unittest.TestCase):
    def test_page(self):
        failed, run = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
        self.assertEqual(failed, 0)
        self.assertGreaterEqual(run, 12)
