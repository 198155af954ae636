#!/usr/bin/env python3
"""golden_types.py - writes unit/golden_types.h: what others make of blocks

    python3 golden_types.py libggml-base.so >unit/golden_types.h

needs the package gguf of PyPI (0.19.0 was used), which is where the bytes and
floats come from, and, for the errors of quantisers and the types that gguf
lacks, the library ggml (0.21.0, commit d99724f, was used).
"""
import ctypes
import sys
import zlib

import numpy as np
from gguf import GGMLQuantizationType, quants

# id, name, values, bytes, places of F16 scales
TYPES = [
    (2, "Q4_0", 32, 18, [0]), (3, "Q4_1", 32, 20, [0, 2]),
    (6, "Q5_0", 32, 22, [0]), (7, "Q5_1", 32, 24, [0, 2]),
    (8, "Q8_0", 32, 34, [0]), (10, "Q2_K", 256, 84, [80, 82]),
    (11, "Q3_K", 256, 110, [108]), (12, "Q4_K", 256, 144, [0, 2]),
    (13, "Q5_K", 256, 176, [0, 2]), (14, "Q6_K", 256, 210, [208]),
    (16, "IQ2_XXS", 256, 66, [0]), (17, "IQ2_XS", 256, 74, [0]),
    (18, "IQ3_XXS", 256, 98, [0]), (19, "IQ1_S", 256, 50, [0]),
    (20, "IQ4_NL", 32, 18, [0]), (21, "IQ3_S", 256, 110, [0]),
    (22, "IQ2_S", 256, 82, [0]), (23, "IQ4_XS", 256, 136, [0]),
    (29, "IQ1_M", 256, 56, []), (34, "TQ1_0", 256, 54, [52]),
    (35, "TQ2_0", 256, 66, [64]), (39, "MXFP4", 32, 17, []),
    (40, "NVFP4", 64, 36, []), (41, "Q1_0", 128, 18, [0]),
    (42, "Q2_0", 64, 18, [0]),
]
WRITTEN = {2, 3, 6, 7, 8, 10, 11, 12, 13, 14, 18, 20, 21, 22, 23, 34, 35, 39,
           40, 41, 42}
WEIGHTED = {16, 17, 19, 29}  # with weights only
N_BLOCKS = 257
ROWS, LENGTH = 4, 2048


class Random:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state * 6364136223846793005
                      + 1442695040888963407) % 2**64
        return self.state >> 32

    def uniform(self):
        u = self.next()
        return (u - 2**32 if u >= 2**31 else u) / 2**31


def random_blocks(type_id, size, scales):
    """Every pattern of bits, but for scales that are not finite."""
    r = Random(type_id)
    blocks = np.array([r.next() >> 24 for _ in range(N_BLOCKS * size)],
                      np.uint8).reshape(N_BLOCKS, size)
    for at in scales:
        high = blocks[:, at + 1]
        high[high & 0x7C == 0x7C] ^= 0x40
        blocks[5, at] = blocks[5, at + 1] = 0
    if type_id == 29:
        blocks[:, 55] &= 0xBF
    if type_id == 39:
        blocks[:, 0] &= 0x7F
    return blocks


def rows():
    r = Random(1)
    gauss = [sum(r.uniform() for _ in range(12)) / 2
             for _ in range(ROWS * LENGTH)]
    uniform = [r.uniform() for _ in range(ROWS * LENGTH)]
    weights = [r.uniform()**2 + 0.01 for _ in range(LENGTH)]
    as_rows = [np.array(v, np.float32).reshape(ROWS, LENGTH)
               for v in (gauss, uniform)]
    return as_rows, np.array(weights, np.float32)


class Traits(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("values", ctypes.c_int64),
                ("interleave", ctypes.c_int64), ("size", ctypes.c_size_t),
                ("quantized", ctypes.c_bool), ("to_float", ctypes.c_void_p),
                ("from_float", ctypes.c_void_p)]


class Ggml:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.ggml_get_type_traits.restype = ctypes.POINTER(Traits)
        p, i = ctypes.c_void_p, ctypes.c_int64
        self.lib.ggml_quantize_chunk.argtypes = [ctypes.c_int, p, p, i, i, i, p]

        class Params(ctypes.Structure):
            _fields_ = [("size", ctypes.c_size_t), ("buffer", p),
                        ("no_alloc", ctypes.c_bool)]
        self.lib.ggml_init.restype = p
        self.lib.ggml_init.argtypes = [Params]
        self.lib.ggml_init(Params(1 << 16, None, False))  # fills its tables

    def dequantize(self, type_id, blocks):
        traits = self.lib.ggml_get_type_traits(type_id).contents
        n = blocks.size // traits.size * traits.values
        out = np.empty(n, np.float32)
        convert = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p,
                                   ctypes.c_int64)(traits.to_float)
        convert(blocks.ctypes.data, out.ctypes.data, n)
        return out

    def quantize(self, type_id, x, weights):
        traits = self.lib.ggml_get_type_traits(type_id).contents
        out = np.zeros(x.size // traits.values * traits.size, np.uint8)
        self.lib.ggml_quantize_chunk(
            type_id, x.ctypes.data, out.ctypes.data, 0, x.shape[0], x.shape[1],
            None if weights is None else weights.ctypes.data)
        return out


def crc(array):
    return f"0x{zlib.crc32(array.tobytes()):08x}"


def error(ggml, type_id, x, weights):
    back = ggml.dequantize(type_id, ggml.quantize(type_id, x, weights))
    w = 1.0 if weights is None else weights.astype(np.float64)
    e = back.reshape(x.shape).astype(np.float64) - x
    return (w * e**2).sum() / (w * x.astype(np.float64)**2).sum()


def main():
    ggml = Ggml(sys.argv[1])
    inputs, weights = rows()
    print("""/* golden_types.h - what others make of blocks; by golden_types.py
 *
 * CRC-32 of the floats that gguf 0.19.0 (PyPI) reads from random blocks, and
 * of the blocks that it writes, 0 where it does not; of Q1_0 and Q2_0, which
 * it lacks, and the blocks of NVFP4, from ggml 0.21.0 (d99724f). Then that
 * library's normalised squared errors: a bell curve, uniform, both again with
 * weights; 0: not quantised. */
/* clang-format off */""")
    for type_id, name, values, size, scales in TYPES:
        blocks = random_blocks(type_id, size, scales)
        kind = (GGMLQuantizationType(type_id)
                if hasattr(GGMLQuantizationType, name) else None)
        try:
            floats = quants.dequantize(blocks, kind).astype(np.float32)
        except (NotImplementedError, AttributeError):
            floats = ggml.dequantize(type_id, blocks)
        written = "0"
        try:
            written = crc(quants.quantize(inputs[0], kind))
        except (NotImplementedError, AttributeError):
            if type_id in (40, 41, 42):
                written = crc(ggml.quantize(type_id, inputs[0], None))
        errors = ["0"] * 4
        if type_id in WRITTEN:
            errors = [f"{error(ggml, type_id, x, w):.6e}"
                      for w in (None, weights) for x in inputs]
        if type_id in WEIGHTED:
            errors[2:] = [f"{error(ggml, type_id, x, weights):.6e}"
                          for x in inputs]
        places = ", ".join(str(s) for s in scales + [-1, -1][len(scales):])
        print(f"{{ GGML_TYPE_{name}, {values}, {size}, {{ {places} }},\n"
              f"  {crc(floats)}, {written},\n"
              f"  {{ {', '.join(errors)} }} }},")


main()
