#!/usr/bin/env python3
"""iq_codebook_tables.py - writes iq_codebook_tables.h: the entries that IQ blocks refer to

Reads them from the package gguf of PyPI (pip install gguf; 0.19.0 was used),
whose gguf/quants.py holds them packed: python3 iq_codebook_tables.py >iq_codebook_tables.h
"""
import numpy as np
from gguf import quants

TABLES = [
    ("iq2_xxs", quants.IQ2_XXS), ("iq2_xs", quants.IQ2_XS),
    ("iq2_s", quants.IQ2_S), ("iq1", quants.IQ1_S),
    ("iq3_xxs", quants.IQ3_XXS), ("iq3_s", quants.IQ3_S),
]

print("""/* iq_codebook_tables.h - the entries that IQ blocks refer to: see iq_codebook.h
 *
 * Part of the format, with no formula after them: they were chosen once, as
 * those that occur most. Written by iq_codebook_tables.py next to this file.
 *
 * P(entry) for each of a table; T(name, how many, those) for each table */
#ifndef QUANT_IQ_CODEBOOK_TABLES_H
#define QUANT_IQ_CODEBOOK_TABLES_H

/* clang-format off */""")
tables = []
for name, table in TABLES:
    table.init_grid()
    entries = table.grid.reshape(table.grid_shape)
    bits = 2 if len(table.grid_map) <= 4 else 3
    codes = np.searchsorted(np.array(table.grid_map, np.float32), entries)
    shifts = bits * np.arange(entries.shape[1])
    words = [f"P(0x{w:04x})" for w in (codes << shifts).sum(axis=1)]
    lines = [" ".join(words[i:i + 8]) for i in range(0, len(words), 8)]
    tables.append(f"T({name}, {len(words)}, QUANT_{name.upper()})")
    print(f"#define QUANT_{name.upper()}(P) \\\n    " +
          " \\\n    ".join(lines) + "\n")
print("#define QUANT_CODEBOOKS(T) \\\n    " + " \\\n    ".join(tables) + "\n\n#endif")
