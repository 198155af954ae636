#!/usr/bin/env python3
# vocab_golden.py - makes the figures that test_vocab_split.c and
# test_vocab_golden.c compare with
#
# python3 vocab_golden.py FOLDER   (of gpt-2.gguf, llama-spm.gguf and
# bert-bge.gguf)
#
# They come from other people's programs on the same text: the splits from the
# package regex, GPT-2's and BERT's ids from tokenizers, LLaMA's from
# sentencepiece (all of PyPI; the files are read with gguf, and unicodedata2
# 16.0.0 says which characters were assigned by then).
import struct
import sys

import gguf
import regex
import sentencepiece
import unicodedata2
from sentencepiece import sentencepiece_model_pb2 as pb
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

# The split rules: expressions that are applied one after the other, each to
# the pieces that the one before has left. They are those of the tokenizer.json
# of the models, or of tiktoken; falcon and default are llama.cpp's. NEXT: what
# matches is no piece, but the begin of the next one.
NEXT = '(?#next)'
GPT2 = (r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+"
        r"| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
SHORT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
ENDS = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = (SHORT + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
          r"| ?[^\s\p{L}\p{N}]+[\r\n]*" + ENDS)
QWEN35 = (SHORT + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
          r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*" + ENDS)
SEED = (SHORT + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}"
        r"| ?[^\s\p{L}\p{N}\r\n]+" + ENDS)
UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
TEKKEN = (r"[^\r\n\p{L}\p{N}]?" + UPPER + '*' + LOWER + '+'
          r"|[^\r\n\p{L}\p{N}]?" + UPPER + '+' + LOWER + '*'
          r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + ENDS)
GPT4O = (r"[^\r\n\p{L}\p{N}]?" + UPPER + '*' + LOWER + '+' + SHORT + '?'
         r"|[^\r\n\p{L}\p{N}]?" + UPPER + '+' + LOWER + '*' + SHORT + '?'
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + ENDS)
WESTERN = ('A-Za-z\xb5\xc0-\xd6\xd8-\xf6\xf8-\u01ba\u01bc-\u01bf'
           '\u01c4-\u0293\u0295-\u02af\u0370-\u0373\u0376\u0377\u037b-\u037d'
           '\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5'
           '\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5'
           '\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf'
           '\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15'
           '\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b'
           '\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4'
           '\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec'
           '\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115'
           '\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139'
           '\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b'
           '\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b'
           '\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf'
           '\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a'
           '\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb'
           '\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df'
           '\U0001e900-\U0001e943')
MARKS = r'!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002'
CJK = r'[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+'
HAN = r'(?:(?!\p{Han})%s)'
KIMI = (r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?" + HAN % UPPER + '*' + HAN % LOWER
        + '+' + SHORT + r"?|[^\r\n\p{L}\p{N}]?" + HAN % UPPER + '+'
        + HAN % LOWER + '*' + SHORT
        + r"?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*" + ENDS)
EXAONE = (SHORT + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+"
          r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+")
JAIS = (LLAMA3[:-len(r'|\s+(?!\S)|\s+')]
        + ''.join(r'|\s{%d}(?!\S)' % 2 ** i for i in range(9, 1, -1))
        + r'|\s{1,2}(?!\S)|\s{1}')
# What Oniguruma, in Hugging Face's tokenizers, sees as \w: \d\b is \d(?!WORD).
WORD = r'[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\xb2\xb3\xb9\xbc-\xbe]'
BLOOM = r' ?[^(\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+'
LAST_V3 = (r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"""
           r'|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+'
           r'| ?[\p{P}\p{S}]+[\r\n]*' + ENDS)
RULES = {
    'gpt-2': [GPT2],
    'starcoder': [r'\p{N}', GPT2],
    'falcon': [r'[\p{P}$+<=>^`|~]+', GPT2, '[0-9][0-9][0-9]'],
    'default': [r'[\p{P}$+<=>^|~]+', GPT2, r'\p{N}+', '[0-9][0-9][0-9]'],
    'llama-bpe': [LLAMA3],
    'qwen2': [LLAMA3.replace('{1,3}', '')],
    'qwen35': [QWEN35],
    'seed-coder': [SEED],
    'gpt-4o': [GPT4O],
    'tekken': [TEKKEN],
    'deepseek-llm': [r'[\r\n]', r'\s?[' + WESTERN + ']+',
                     r'\s?[' + MARKS + ']+', r'\s+$', CJK, r'\p{N}'],
    'deepseek-coder': [r'[\r\n]', r'\s?\p{L}+', r'\s?\p{P}+', CJK,
                       r'\p{N}'],
    'deepseek-v3': [r'\p{N}{1,3}', r'[\u4e00-\u9fa5\u3040-\u30ff]+', LAST_V3],
    'minicpm5': [r'\p{N}{1,3}', LLAMA3.replace('{1,3}', '+')],
    'laguna': [NEXT + r'(?:\r?\n)+(?!\r?\n)', LLAMA3.replace('{1,3}', '')],
    'exaone-moe': [EXAONE],
    'jais-2': [JAIS],
    'kimi-k2': [KIMI],
    'youtu': [r'[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d'
              r'\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f'
              r'\ufe30-\ufe4f]+|[\u3105-\u312f]+'
              r'|[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+',
              GPT4O.replace('{1,3}', '')],
    'tiny_aya': [r'\d{1,3}(?=(?:\d{3})*(?!' + WORD + '))', GPT4O],
    'afmoe': [r'\p{Nd}{1,510}(?=(?>\p{Nd}{510})*(?:\P{Nd}|$))|\G\p{Nd}{510}',
              r'\A\p{Nd}{1,2}(?=(?:\p{Nd}{3})+\Z)',
              r'\A\p{Nd}{3}|\G\p{Nd}{3}',
              r'[\u4E00-\u9FFF\u3040-\u309F\u30A0-\u30FF\u3400-\u4DBF'
              r'\uf900-\uFAFF\uFF65-\uFF9F\u2F00-\u2FDF]+|[\u0E00-\u0E7F]+'
              r'|[\u0E80-\u0EFF]+|[\u1780-\u17FF]+'
              r'|[\u1000-\u109F\uAA60-\uAA7F\uA9E0-\uA9FF]+'
              r'|[\uAC00-\uD7AF\u1100-\u11FF]+', LAST_V3],
    'bloom': [BLOOM],
    'viking': [BLOOM, r'\p{N}'],
    'chameleon': [r'<sentinel:[0-9]+>',
                  r'(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z',
                  r'([\t\n]|    |  )', r'\p{N}', r'[\p{P}!-/:-@\[-`{-~]', GPT2],
    'superbpe': [r'\p{N}+', r'(?=(\d{3})+(?!\d))'],
}
RANGES = [(0x61, 26), (0x41, 26), (0x30, 10), (0x21, 15), (0x3a, 7),
          (0xc0, 23), (0x391, 17), (0x430, 32), (0x5d0, 27), (0x620, 43),
          (0x660, 10), (0x904, 54), (0xe01, 46), (0x2070, 2), (0x2160, 16),
          (0x3041, 86), (0x4e00, 20902), (0xac00, 11172), (0xff10, 10),
          (0x1f600, 80), (0x1d400, 85), (0x300, 112), (0x2000, 64), (9, 24)]
BETWEEN = ['', '', ' ', ' ', ' ', '  ', '\n', '\n\n', '\t', "'s", "'re",
           "'LL", '1', '.', '...', '\u00a0', '\u3000', '\r\n', '\x1c', '   ']
PIECES = [
    "'", "'s", "'S", "'\u017f", "'LL", "'re", "'vE", "'M", "'d", " ", " ", " ",
    "  ", "   ", "\n", "\n", "\r\n", "\r", "\t", "\x0b", "\x85", "\u3000",
    "\u3000\u3000", "\xa0", "\u2003", "\u2028", "a", "b", "B", "AB", "hello",
    "World", "\xe9", "\xc9", "\xdf", "\u01c5", "\u02b0", "\xaa", "\u4e2d",
    "\u6587\u5b57", "\u306e", "\u30ab\u30bf", "\u30fb", "\u30fc", "\u3099",
    "\u309b", "\ud55c\uad6d", "1", "12", "123", "1234567", "\u0663", "\xb2",
    "\u2167", "\u3007", "\xbd", "!", "?", "/", "//", "$", "`", "``", "+",
    "\u20ac", "\xa9", "\u3002", "\u3001", "\uff01", "\uff21", "\uff42",
    "\uff19", "\u2018", "\u201c", "\u0301", "\u0301\u0302", "\u200d", "\ufe0f",
    "\U0001f44d", "\U0001f3fd", "\x01", "\x7f", "\u0e33",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35",
    "\u0928\u092e\u0938\u094d\u0924\u0947", "\u0627", "\u064b", "\u0416",
    "\u0436", "\u03a9", "\u1ec7", "\u10a0", "\u1d00", "\u2160", "\u2183",
    "\u0378", "\ue000", "\U000e0041", "\U00010400", "\U0001d400", "\udc80",
    "\udcff\udcc3", "\udce4\udcb8", "<|x|>", "_", "__", "-", "--", "...", ",",
    ";", "#",
]
# What only few rules know of.
RARE = [
    "IMGIMG", "IMGIMGAZ", "IMGIMGBCHIZ", "IMGIMGABCDEZ", "A", "Z",
    "<sentinel:12>", " ", " ", "  ", "    ", " " * 37, " " * 523, "\n", "\n",
    "\r\n", "\r", "\t", "\u3000", "\xa0", "a", "b c", "Bc", "it's", "'LL", "0",
    "12", "999", "1234", "\u0663", "\u0967\u0968", "\u0e51", "\u0ed2",
    "\u1041", "\uff11", "\U0001d7d9", "\xb2", "\xbd", "\u2460", "\u2167",
    "\u3007", "\u3021", "_", "\u203f", "\u24b6", "\U0001f130", "\u0301",
    "\u302a", "\u093f", "\u0915", "\u0e01", "\u0e3f", "\u0e34", "\u0e81",
    "\u0ec0", "\u1780", "\u17b6", "\u1000", "\u102b", "\uaa60", "\ua9e1",
    "\u1100", "\uac00", "\ud7ae", "\u3131", "\u3105", "\u4e2d", "\u9fff",
    "\u3400", "\uf900", "\u3042", "\u30a2", "\u30fb", "\u30fc", "\u3040",
    "\uff71", "\uff9f", "\u2f00", "\u2e80", "\u3005", "\u303b", "\u3031",
    "\U00016fe2", "\U00016ff0", "\U00020000", "\U0002b739", "\u2026", "\u3002",
    "\uff0c", "\u3001", "\u0964", "\u06d4", "\u060c", "\uff01", "\u201c",
    "\u2014", "\ufe30", "\uff1a", "(", ")", "|", ".", ",", "!", "?", "/", "$",
    "-", "\u20ac", "\u200d", "\U0001f600", "\udc80", "\ue000",
]
EXAMPLE = ("He'LL've paid $12345 for the caf\u00e9s'  BigTable...\n\n"
           "\tif (x>=10) \u4e2d\u6587\u306e3 \u00bd\u20ac\n/")


class Random:
    def __init__(self, seed=2024):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005
                      + 1442695040888963407) % 2 ** 64
        return (self.state >> 33) % n


def mixed(words=20000):
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


def pieces(rounds=600, seed=2025, of=PIECES):
    rnd, out = Random(seed), []
    for _ in range(rounds):
        k = 2 + rnd.below(7)
        few = [of[rnd.below(len(of))] for _ in range(k)]
        out += [few[rnd.below(k)] for _ in range(80)]
    return ''.join(out).encode('utf-8', 'surrogateescape')


def rare():
    return pieces(400, 2026, RARE)


def fnv(numbers):
    h = 0xcbf29ce484222325
    for b in b''.join(struct.pack('<I', n) for n in numbers):
        h = (h ^ b) * 0x100000001b3 % 2 ** 64
    return h


def show(numbers):
    return '{ %d, UINT64_C(0x%016x) }' % (len(numbers), fnv(numbers))


def newer():
    """Characters whose class in regex is not yet that of Unicode 16.0."""
    every, out = ''.join(map(chr, range(0x110000))), set()
    for name in ['Ll', 'Lu', 'Lt', 'Lm', 'Lo', 'M', 'N', 'P', 'S']:
        out ^= set(regex.findall(r'\p{%s}' % name, every))
        out ^= {c for c in every if unicodedata2.category(c).startswith(name)}
    return {ord(c) for c in out}


def plain(text):
    """One of the class that it has in 16.0 for each of the newer."""
    like = {'Ll': 'e', 'Lu': 'E', 'Lm': '\u02b0', 'Lo': '\u05d0', 'N': '2',
            'P': '!', 'M': '\u0301', 'S': '\u20ac'}
    for c in set(text):
        if ord(c) in NEWER:
            category = unicodedata2.category(c)
            text = text.replace(c, like.get(category, like.get(
                category[0], '\u0378')))
    return text


def isolate(parts, expression):
    for part in parts:
        at = 0
        for m in expression.finditer(part):
            if m.start() > at:
                yield part[at:m.start()]
            if m.end() > m.start():
                yield m.group()
            at = m.end()
        if at < len(part):
            yield part[at:]


def begin(parts, expression):
    for part in parts:
        at = 0
        for m in expression.finditer(part):
            if m.start() > at:
                yield part[at:m.start()]
            at = m.start()
        yield part[at:]


def split(rule, text):
    text = text.decode('utf-8', 'surrogateescape')
    parts, sizes, at = [plain(text)], [], 0
    for expression in RULES[rule]:
        how = begin if expression.startswith(NEXT) else isolate
        parts = list(how(parts, regex.compile(expression)))
    for word in parts:
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


def bert(path, text):
    """BERT's vocabulary, its pieces written with ## again."""
    f, vocab = fields(path), {}
    for i, token in enumerate(f['tokenizer.ggml.tokens']):
        if token.startswith('[') and token.endswith(']'):
            vocab[token] = i
        elif token.startswith('\u2581'):
            vocab[token[1:]] = i
        else:
            vocab['##' + token] = i
    t = Tokenizer(models.WordPiece(vocab, unk_token='[UNK]',
                                   max_input_chars_per_word=100))
    t.normalizer = normalizers.BertNormalizer(lowercase=True)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return t.encode(text.decode(), add_special_tokens=False).ids


def llama(path, text, gemma):
    """gemma: as in Gemma's files, no blank in front, and runs of newlines and
    blanks that the user defined."""
    f, m = fields(path), pb.ModelProto()
    for token, score, kind in zip(f['tokenizer.ggml.tokens'],
                                  f['tokenizer.ggml.scores'],
                                  f['tokenizer.ggml.token_type']):
        m.pieces.add(piece=token, score=score, type=kind)
    for p in m.pieces if gemma else []:
        if len(p.piece) > 1 and p.piece == '\u2581' * len(p.piece):
            p.type = 4
    for i in range(2, 9) if gemma else []:
        m.pieces.add(piece='\n' * i, score=0, type=4)
    m.trainer_spec.model_type = 2
    m.trainer_spec.byte_fallback = True
    m.trainer_spec.vocab_size = len(m.pieces)
    m.normalizer_spec.name = 'identity'
    m.normalizer_spec.remove_extra_whitespaces = False
    m.normalizer_spec.add_dummy_prefix = not gemma
    p = sentencepiece.SentencePieceProcessor(
        model_proto=m.SerializeToString())
    return p.encode(text.decode('utf-8', 'replace'))


folder, NEWER = sys.argv[1], newer()
print('%d, %d and %d bytes' % (len(mixed()), len(pieces()), len(rare())))
for rule in RULES:
    words, at = [], 0
    for n in split(rule, EXAMPLE.encode()):
        words.append(EXAMPLE.encode()[at:at + n].decode())
        at += n
    print('{ "%s", %s, %s, %s, %s,\n  %s }' % (
        rule, show(split(rule, mixed())), show(split(rule, damaged(mixed()))),
        show(split(rule, pieces())), show(split(rule, rare())),
        ascii('|'.join(words))))
valid = pieces().decode('utf-8', 'ignore').encode()
print('gpt-2', show(gpt2(folder + '/gpt-2.gguf', mixed())))
for name, text in [('mixed', mixed()), ('pieces', valid)]:
    print('bert-bge', name, show(bert(folder + '/bert-bge.gguf', text)))
    for gemma in [False, True]:
        print('llama-spm', name, gemma,
              show(llama(folder + '/llama-spm.gguf', text, gemma)))
