#!/usr/bin/env python3
# unigram_golden.py - makes unigram_golden.h: a vocabulary of Unigram, trained
# here, and the ids that others' programs give for texts
#
# python3 unigram_golden.py FOLDER > unigram_golden.h
#
# FOLDER: gpt-2.gguf and llama-spm.gguf, as for vocab_golden.py. The vocabulary
# is trained with SentencePiece on the texts of vocab_golden.py and on the
# manual; its character map has a few rules of NFKC, and some of its own. Texts
# are normalised by SentencePiece; the search is that of tokenizers, which adds
# up in double precision as we do (SentencePiece's single precision decides
# between ways of the same score by how much stood in front of them).
import glob
import io
import os
import re
import sys
import tempfile
import unicodedata

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as pb
from tokenizers import Tokenizer, models

here = os.path.dirname(os.path.abspath(__file__))
source = open(os.path.join(here, 'vocab_golden.py')).read()
# Its texts and its hash, without what it does with them.
exec(source[:source.index('\nfolder, NEWER = ')])

RULES = {'\t': ' ', '\r': ' ', '\n': ' ', '\u00a0': ' ', '\u3000': ' ',
         '\u0301\u0302': '\u0302', 'A\u0301': '\u00c1', '\u200d': '',
         '\x01': '', '\u2026': '...', '\ufdfa': 'a b', '\U0001d400': 'A'}
for c in [*range(0x41, 0x5b), *range(0xc0, 0xdf), *range(0x391, 0x3a0)]:
    RULES[chr(c)] = chr(c).lower()
for c in [0xaa, 0xb2, 0x1c5, 0x2167, *range(0xff01, 0xff5f)]:
    RULES[chr(c)] = unicodedata.normalize('NFKC', chr(c)).lower()
RULES = {old: new for old, new in RULES.items() if old != new}


def train(folder):
    lines = [x for f in sorted(glob.glob(os.path.join(here, '../../man/*.1')))
             for x in open(f, encoding='utf-8').read().split('\n')]
    text = pieces(60).decode('utf-8', 'ignore') + mixed(300).decode()
    lines += [text[i:i + 200] for i in range(0, len(text), 200)]
    rules = os.path.join(folder, 'rules.tsv')
    with open(rules, 'w', encoding='utf-8') as f:
        for old, new in RULES.items():
            print('%s\t%s' % (' '.join('%x' % ord(c) for c in old),
                              ' '.join('%x' % ord(c) for c in new)), file=f)
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(x for x in lines if x), model_writer=out,
        model_type='unigram', vocab_size=1200, byte_fallback=True,
        character_coverage=0.98, normalization_rule_tsv=rules,
        user_defined_symbols=['<user>', '\u2581\u2581'], num_threads=1,
        hard_vocab_limit=False, minloglevel=2)
    return out.getvalue()


def variant(proto, plain):
    """Without byte tokens; or without a blank in front, and all blanks kept."""
    m = pb.ModelProto()
    m.ParseFromString(proto)
    if plain:
        m.normalizer_spec.add_dummy_prefix = False
        m.normalizer_spec.remove_extra_whitespaces = False
        return m
    m.trainer_spec.byte_fallback = False
    for p in m.pieces:
        if p.type == 6:
            p.type = 5
    return m


def ids_of(m, text):
    """Broken bytes are U+FFFD each. What the user defined is in no text, but
    for two blanks, whose bonus the search is told."""
    text = re.sub('[\udc80-\udcff]', '\ufffd',
                  text.decode('utf-8', 'surrogateescape'))
    s = sentencepiece.SentencePieceProcessor(model_proto=m.SerializeToString())
    vocab = []
    for i, p in enumerate(m.pieces):
        usable = p.type in (1, 4, 6)
        vocab.append((p.piece if usable else '\U0010fffd' * 2 + str(i),
                      p.score if p.type == 1 else
                      0.1 * (len(p.piece.encode()) - 1) if p.type == 4 else 0))
    t = Tokenizer(models.Unigram(vocab, unk_id=0,
                                 byte_fallback=m.trainer_spec.byte_fallback))
    return t.encode(s.normalize(text), add_special_tokens=False).ids


def c_string(b):
    return '"%s"' % ''.join(
        chr(x) if 32 <= x < 127 and x not in b'"\\?' else '\\%03o' % x
        for x in b)


def wrap(items):
    line = '   '
    for item in items:
        if len(line) + len(item) + 2 > 80:
            print(line)
            line = '   '
        line += ' ' + item + ','
    print(line)


with tempfile.TemporaryDirectory() as folder:
    proto = train(folder)
model = variant(proto, True)
print('/* unigram_golden.h - a vocabulary of Unigram, and ids of texts; made'
      ' by\n * unigram_golden.py */')
print('static const struct {\n    const char *text;\n    float score;\n'
      '    int type;\n} unigram_pieces[] = {')
wrap(['{ %s, %r, %d }' % (c_string(p.piece.encode()), p.score, p.type)
      for p in model.pieces])
print('};\nstatic const unsigned char unigram_charsmap[] = {')
wrap([str(x) for x in model.normalizer_spec.precompiled_charsmap])
print('};')
print('/* Of the texts: as it is, damaged, and pieces. */')
print('static const struct {\n    size_t n;\n    uint64_t hash;\n'
      '} unigram_ids[2][3] = {')
for plain in [False, True]:
    print('    {')
    for text in [mixed(), damaged(mixed()), pieces()]:
        print('        %s,' % show(ids_of(variant(proto, plain), text)))
    print('    },')
print('};')
