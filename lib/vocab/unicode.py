#!/usr/bin/env python3
# unicode.py - writes unicode_tables.h: the classes of characters that split
# rules speak of
#
# python3 unicode.py > unicode_tables.h
#
# Needs Unicode 16.0, the version of the regular expressions in the tokenizers
# that people compare with (Hugging Face tokenizers 0.23, tiktoken 0.9):
# Python 3.14, or the package unicodedata2 16.0.0 of PyPI.
import sys

try:
    import unicodedata2 as unicodedata
except ImportError:
    import unicodedata

if unicodedata.unidata_version != '16.0.0':
    sys.exit('unicode.py: this is Unicode %s, not 16.0.0'
             % unicodedata.unidata_version)

BLOCK = 128
# The property White_Space of PropList.txt.
SPACES = {*range(9, 14), 0x20, 0x85, 0xa0, 0x1680, *range(0x2000, 0x200b),
          0x2028, 0x2029, 0x202f, 0x205f, 0x3000}
# Number k > 0 is the bit 1 << (k - 1) of enum unicode_class.
CLASSES = {'Ll': 1, 'Lu': 2, 'Lt': 2, 'Lm': 3, 'Lo': 3,
           'N': 4, 'P': 6, 'M': 7, 'S': 8}


def class_of(cp):
    category = unicodedata.category(chr(cp))
    return 5 if cp in SPACES else CLASSES.get(
        category, CLASSES.get(category[0], 0))


def rows(values):
    line = '   '
    for v in values:
        if len(line) + len(' %d,' % v) > 80:
            yield line
            line = '   '
        line += ' %d,' % v
    yield line


blocks, index = [], []
for start in range(0, 0x110000, BLOCK):
    block = tuple(class_of(cp) for cp in range(start, start + BLOCK))
    if block not in blocks:
        blocks.append(block)
    index.append(blocks.index(block))
while index[-1] == index[-2]:
    index.pop()
# Two characters a byte: the low half is the even one's class.
packed = [b[i] | b[i + 1] << 4 for b in blocks for i in range(0, BLOCK, 2)]

print('/* unicode_tables.h - classes of characters; made by unicode.py */')
print('#define UNICODE_VERSION "%s"' % unicodedata.unidata_version)
print('enum { UNICODE_BLOCK = %d, UNICODE_BLOCKS = %d };'
      % (BLOCK, len(index)))
print('/* Blocks from here on are as the last one. */')
print('static const uint%d_t unicode_index[UNICODE_BLOCKS] = {'
      % (8 if len(blocks) <= 256 else 16))
print('\n'.join(rows(index)))
print('};')
print('static const uint8_t unicode_classes[] = {')
print('\n'.join(rows(packed)))
print('};')
