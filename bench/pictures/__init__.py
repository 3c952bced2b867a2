"""Draws the synthetic pictures of `osce_zh` and of the donor bank: schematic, stamped as such, without any finding."""
