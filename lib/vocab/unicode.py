#!/usr/bin/env python3
# unicode.py - writes unicode_tables.h: the classes of characters that split
# rules speak of; and fold_tables.h: what BERT makes of characters
#
# python3 unicode.py > unicode_tables.h
# python3 unicode.py fold > fold_tables.h
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
# Number k > 0 is the bit 1 << (k - 1) of enum vocab_unicode_class.
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


def in_blocks(value_of):
    """The different blocks, and which of them comes at which place."""
    blocks, index = {}, []
    for start in range(0, 0x110000, BLOCK):
        block = tuple(value_of(cp) for cp in range(start, start + BLOCK))
        index.append(blocks.setdefault(block, len(blocks)))
    while index[-1] == index[-2]:
        index.pop()
    return list(blocks), index


def table(kind, name, values):
    print('static const %s %s = {' % (kind, name))
    print('\n'.join(rows(values)))
    print('};')


def classes():
    blocks, index = in_blocks(class_of)
    # Two characters a byte: the low half is the even one's class.
    packed = [b[i] | b[i + 1] << 4 for b in blocks for i in range(0, BLOCK, 2)]
    print('/* unicode_tables.h - classes of characters; made by unicode.py */')
    print('#define UNICODE_VERSION "%s"' % unicodedata.unidata_version)
    print('enum { UNICODE_BLOCK = %d, UNICODE_BLOCKS = %d };'
          % (BLOCK, len(index)))
    print('/* Blocks from here on are as the last one. */')
    table('uint%d_t' % (8 if len(blocks) <= 256 else 16),
          'unicode_index[UNICODE_BLOCKS]', index)
    table('uint8_t', 'unicode_classes[]', packed)
    decimals()


def decimals():
    """The zeros: nine more digits follow each."""
    zeros = []
    for cp in range(0x110000):
        if unicodedata.category(chr(cp)) == 'Nd':
            if unicodedata.decimal(chr(cp)) == 0:
                zeros.append(cp)
            assert zeros[-1] + unicodedata.decimal(chr(cp)) == cp
    print('/* The zero of each ten decimal digits, \\p{Nd}. */')
    table('uint32_t', 'unicode_zeros[]', zeros)


def folded(c):
    """Without accents, in lower case: one character after the other."""
    bare = [d for d in unicodedata.normalize('NFD', c)
            if unicodedata.category(d) != 'Mn']
    return ''.join('\u03c3' if d == '\u03a3' else d.lower() for d in bare)


def folds():
    pool, places = [], {}

    def value_of(cp):
        c = chr(cp)
        category = unicodedata.category(c)
        if cp in (9, 10, 13) or 0xac00 <= cp < 0xd7a4 or category == 'Cn':
            return 0
        if category[0] == 'C' or cp == 0xfffd:
            return 1
        text = folded(c).encode()
        if not text:
            return 2
        if text == c.encode():
            return 0
        if text not in places:
            places[text] = len(pool) + 3
            pool.extend([len(text), *text])
        return places[text]

    blocks, index = in_blocks(value_of)
    print('/* fold_tables.h - what BERT makes of characters; made by unicode.py'
          '\n *\n * Of Unicode %s. 0: it stays; 1: a control character; 2: a '
          'mark; else what\n * stands at that place of the texts, less 3: a '
          'length and as many bytes. */' % unicodedata.unidata_version)
    print('enum { FOLD_BLOCK = %d, FOLD_BLOCKS = %d };' % (BLOCK, len(index)))
    table('uint8_t', 'fold_index[FOLD_BLOCKS]', index)
    table('uint16_t', 'fold_values[]', [v for b in blocks for v in b])
    table('uint8_t', 'fold_texts[]', pool)


folds() if sys.argv[1:] == ['fold'] else classes()
