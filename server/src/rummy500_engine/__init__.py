"""The rules of Rummy 500 as a calculator: no wire, clock, dice or disk."""
