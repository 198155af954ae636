#!/usr/bin/env python3
# vocab_golden.py - makes the figures that test_vocab_golden.c compares with
#
# python3 vocab_golden.py FOLDER   (of gpt-2.gguf and llama-spm.gguf)
#
# They come from other people's programs on the same text: the split from the
# package regex, GPT-2's ids from tokenizers, LLaMA's from sentencepiece (all
# of PyPI; the file is read with gguf, and unicodedata2 16.0.0 says which
# characters were assigned by then).
import struct
import sys

import gguf
import regex
import sentencepiece
import unicodedata2
from sentencepiece import sentencepiece_model_pb2 as pb
from tokenizers import Tokenizer, models, pre_tokenizers

GPT2 = (r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+"
        r"| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
RANGES = [(0x61, 26), (0x41, 26), (0x30, 10), (0x21, 15), (0x3a, 7),
          (0xc0, 23), (0x391, 17), (0x430, 32), (0x5d0, 27), (0x620, 43),
          (0x660, 10), (0x904, 54), (0xe01, 46), (0x2070, 2), (0x2160, 16),
          (0x3041, 86), (0x4e00, 20902), (0xac00, 11172), (0xff10, 10),
          (0x1f600, 80), (0x1d400, 85), (0x300, 112), (0x2000, 64), (9, 24)]
BETWEEN = ['', '', ' ', ' ', ' ', '  ', '\n', '\n\n', '\t', "'s", "'re",
           "'LL", '1', '.', '...', '\u00a0', '\u3000', '\r\n', '\x1c', '   ']


class Random:
    def __init__(self):
        self.state = 2024

    def below(self, n):
        self.state = (self.state * 6364136223846793005
                      + 1442695040888963407) % 2 ** 64
        return (self.state >> 33) % n


def mixed(words):
    rnd, out = Random(), []
    for _ in range(words):
        first, n = RANGES[rnd.below(len(RANGES))]
        for _ in range(1 + rnd.below(9)):
            out.append(chr(first + rnd.below(n)))
        out.append(BETWEEN[rnd.below(len(BETWEEN))])
    return ''.join(out).encode()


def damaged(text):
    """Every 31st byte replaced."""
    rnd, out = Random(), bytearray(text)
    for i in range(0, len(out), 31):
        out[i] = rnd.below(256)
    return bytes(out)


def fnv(numbers):
    h = 0xcbf29ce484222325
    for b in b''.join(struct.pack('<I', n) for n in numbers):
        h = (h ^ b) * 0x100000001b3 % 2 ** 64
    return h


def show(name, numbers):
    print('%-16s { %d, 0x%016x }' % (name, len(numbers), fnv(numbers)))


def plain(c):
    """One that every version of Unicode has in the class of c in 16.0."""
    if c < '\x80' or c.isspace():
        return c
    return {'L': 'E', 'N': '2'}.get(unicodedata2.category(c)[0], '\u20ac')


def split(text):
    text = text.decode('utf-8', 'surrogateescape')
    sizes, at = [], 0
    for word in regex.findall(GPT2, ''.join(map(plain, text))):
        part = text[at:at + len(word)]
        sizes.append(len(part.encode('utf-8', 'surrogateescape')))
        at += len(word)
    return sizes


def fields(path):
    return {k: f.contents() for k, f in gguf.GGUFReader(path).fields.items()}


def gpt2(path, text):
    f = fields(path)
    ids = {t: i for i, t in enumerate(f['tokenizer.ggml.tokens'])}
    merges = [tuple(m.split(' ')) for m in f['tokenizer.ggml.merges']]
    t = Tokenizer(models.BPE(ids, merges))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return t.encode(text.decode()).ids


def llama(path, text):
    f, m = fields(path), pb.ModelProto()
    for token, score, kind in zip(f['tokenizer.ggml.tokens'],
                                  f['tokenizer.ggml.scores'],
                                  f['tokenizer.ggml.token_type']):
        m.pieces.add(piece=token, score=score, type=kind)
    m.trainer_spec.model_type = 2
    m.trainer_spec.byte_fallback = True
    m.trainer_spec.vocab_size = len(m.pieces)
    m.normalizer_spec.name = 'identity'
    m.normalizer_spec.remove_extra_whitespaces = False
    p = sentencepiece.SentencePieceProcessor(
        model_proto=m.SerializeToString())
    return p.encode(text.decode())


folder, text = sys.argv[1], mixed(20000)
print('%d bytes' % len(text))
show('split', split(text))
show('split, damaged', split(damaged(text)))
show('gpt-2', gpt2(folder + '/gpt-2.gguf', text))
show('llama-spm', llama(folder + '/llama-spm.gguf', text))
