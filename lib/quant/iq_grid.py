#!/usr/bin/env python3
"""iq_grid.py - writes iq_grid.c: the points that IQ blocks refer to

Reads them from the package gguf of PyPI (pip install gguf; 0.19.0 was used),
whose gguf/quants.py holds them packed: python3 iq_grid.py >iq_grid.c
"""
import numpy as np
from gguf import quants

TABLES = [
    ("iq2_xxs", quants.IQ2_XXS), ("iq2_xs", quants.IQ2_XS),
    ("iq2_s", quants.IQ2_S), ("iq1", quants.IQ1_S),
    ("iq3_xxs", quants.IQ3_XXS), ("iq3_s", quants.IQ3_S),
]

print("""/* iq_grid.c - the points that IQ blocks refer to
 *
 * Part of the format, with no formula behind them: they were chosen once, as
 * those that occur most. Written by iq_grid.py beside this file. */
#ifndef QUANT_GRID /* else it is where to put them: see cuda/formats_grid.h */
#include "quant/iq_grid.h"
#define QUANT_GRID const uint16_t
#endif

/* clang-format off */""")
for name, table in TABLES:
    table.init_grid()
    points = table.grid.reshape(table.grid_shape)
    bits = 2 if len(table.grid_map) <= 4 else 3
    codes = np.searchsorted(np.array(table.grid_map, np.float32), points)
    shifts = bits * np.arange(points.shape[1])
    words = [f"0x{w:04x}," for w in (codes << shifts).sum(axis=1)]
    print(f"QUANT_GRID quant_{name}_grid[{len(words)}] = {{")
    for i in range(0, len(words), 9):
        print("    " + " ".join(words[i:i + 9]))
    print("};")
