#!/usr/bin/env python3
# chat_golden.py - makes chat_golden.h, which test_chat.c compares with
#
# python3 chat_golden.py FOLDER >chat_golden.h
#
# FOLDER has the template that a family's maker publishes, as NAME.jinja: the
# "chat_template" of tokenizer_config.json on Hugging Face. It is run by Jinja2
# 3.1 as the package transformers runs it; what comes out is encoded by other
# people's program (byte-level BPE: the package tokenizers 0.23) or by the
# definition (SentencePiece: merging in quadratic time). Templates:
#
# chatml teknium/OpenHermes-2.5-Mistral-7B     smollm HuggingFaceTB/SmolLM2
# qwen2 Qwen/Qwen2-7B-Instruct                 llama3 Meta-Llama-3-8B-Instruct
# llama3.1 Llama-3.1-8B-Instruct (its text without tools)
# phi3 microsoft/Phi-3-small-8k-instruct       phi4 microsoft/phi-4
# phi4-mini microsoft/Phi-4-mini-instruct      gemma google/gemma-3-4b-it
# zephyr HuggingFaceH4/zephyr-7b-beta          tulu allenai/OLMo-2
# llama2 meta-llama/Llama-2-7b-chat-hf         granite granite-3.0-8b-instruct
# mistral-v0 -v1 mistralai/Mistral-7B-Instruct-v0.2, older and newer
# mistral-v3 Mistral-Large-Instruct-2407       -v3-tekken Mistral-Nemo-2407
# mistral-v7 Mistral-Large-Instruct-2411       openchat openchat-3.5-0106
# command-r CohereForAI/c4ai-command-r-plus    deepseek2 DeepSeek-V2-Chat
# deepseek-coder deepseek-coder-33b-instruct   deepseek3 DeepSeek-V3
# deepseek-r1 DeepSeek-R1-Distill-Qwen-32B     deepseek3.1 DeepSeek-V3.1
# harmony openai/gpt-oss-20b, as the openai-harmony package writes it without a
# date
import re
import sys

import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

# vocab_make.h's
MERGES = ['h e', 'l l', 'a a', 'he ll', 'hell o', 'a b', 'b c', 'aa b',
          'aa aa', 'c c', '\u0120 w', 'o r', 'or l', 'orl d', 'b a', 'ab c',
          'cc c', '\u0120w orld', '\u00e9 \u00e9']
MORE_MERGES = ['\u010a \u010a', '\u0120 \u0120']  # what test_chat.c adds
BPE_TOKENS = ['<|endoftext|>', '<|im_end|>', '<user>', '<user><more>']
MARK = '\u2581'
PIECES = [(MARK, -20), ('a', -21), ('b', -22), ('c', -23), ('ab', -1),
          ('ba', -1), ('bc', -2), (MARK + 'a', -3), (MARK + 'ab', -4),
          ('abab', -5), ('cc', -1.5), ('ccc', -1.25), (MARK * 2, -6),
          ('\u00e9', -9), ('b\u00e9', -.5), ('\u4e2da', -.25)]

BOS, EOS = '<|begin_of_text|>', '<|end_of_text|>'
IM = ['<|im_start|>', '<|im_end|>']
HEADER = ['<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>']
PHI = ['<|system|>', '<|user|>', '<|assistant|>', '<|end|>']
INST = ['[INST]', '[/INST]']
DS = ['<\uff5cUser\uff5c>', '<\uff5cAssistant\uff5c>', '<think>', '</think>']
DS_EOS = '<\uff5cend\u2581of\u2581sentence\uff5c>'

# kind, control tokens, BOS, EOS; 'first': SentencePiece adds no blank but at
# the start of a text without BOS; 'strip': control tokens take white space
ROWS = [
    ('chatml', 'bpe', IM, None, EOS, ''),
    ('smollm', 'bpe', IM, None, EOS, ''),
    ('qwen2', 'bpe', IM, None, EOS, ''),
    ('llama3', 'bpe', HEADER, BOS, '<|eot_id|>', ''),
    ('llama3.1', 'bpe', HEADER, BOS, '<|eot_id|>', ''),
    ('phi4', 'bpe', IM + ['<|im_sep|>'], None, EOS, ''),
    ('phi4-mini', 'bpe', PHI, None, EOS, ''),
    ('phi3', 'bpe', PHI, BOS, EOS, ''),
    ('phi3', 'spm', PHI, '<s>', EOS, 'strip'),
    ('gemma', 'bpe', ['<start_of_turn>', '<end_of_turn>'], BOS, EOS, ''),
    ('gemma', 'spm', ['<start_of_turn>', '<end_of_turn>'], '<s>', EOS,
     'no-blank'),
    ('zephyr', 'spm', [], None, '</s>', ''),
    ('zephyr', 'bpe', PHI, None, EOS, ''),
    ('tulu', 'bpe', [], BOS, EOS, ''),
    ('llama2', 'spm', [], '<s>', '</s>', ''),
    ('mistral-v0', 'spm', [], '<s>', '</s>', ''),
    ('mistral-v1', 'spm', [], '<s>', '</s>', 'first'),
    ('mistral-v3', 'spm', INST, '<s>', '</s>', 'first'),
    ('mistral-v3-tekken', 'bpe', INST, BOS, EOS, ''),
    ('mistral-v7', 'spm', INST + ['[SYSTEM_PROMPT]', '[/SYSTEM_PROMPT]'],
     '<s>', '</s>', 'first'),
    ('openchat', 'bpe', ['<|end_of_turn|>'], BOS, EOS, ''),
    ('command-r', 'bpe', ['<|START_OF_TURN_TOKEN|>', '<|END_OF_TURN_TOKEN|>',
                          '<|SYSTEM_TOKEN|>', '<|USER_TOKEN|>',
                          '<|CHATBOT_TOKEN|>'], BOS, EOS, ''),
    ('deepseek2', 'bpe', [], BOS, DS_EOS, ''),
    ('deepseek3', 'bpe', DS, BOS, DS_EOS, ''),
    ('deepseek3.1', 'bpe', DS, BOS, DS_EOS, ''),
    ('deepseek-r1', 'bpe', DS, BOS, DS_EOS, ''),
    ('deepseek-coder', 'bpe', [], BOS, '<|EOT|>', ''),
    ('granite', 'bpe', ['<|start_of_role|>', '<|end_of_role|>'], None, EOS,
     ''),
    ('harmony', 'bpe', ['<|start|>', '<|message|>', '<|channel|>', '<|end|>',
                        '<|call|>'], None, '<|return|>', ''),
]
# Mistral's last user's message takes the system's: ours is the first's.
NO_SYSTEM = ['mistral-v0', 'mistral-v3', 'mistral-v3-tekken', 'openchat']
# The text ends otherwise than a turn does where no answer is asked for.
ENDS = ['llama3', 'phi3', 'phi4-mini', 'tulu']
CHATS = [
    [('user', 'hello world')],
    [('system', 'abab a'), ('user', ' ab ccc\n\nabc  '),
     ('assistant', '\nhello '), ('user', '\n\naab\u00e9\u00e9 ')],
    [('user', 'a'), ('assistant', ' b'), ('user', '\nc'),
     ('assistant', 'ba ')],
]


def fail(message):
    raise ValueError(message)


def render(folder, row, chat):
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                        extensions=[jinja2.ext.loopcontrols])
    env.globals['raise_exception'] = fail
    source = open('%s/%s.jinja' % (folder, row[0]), encoding='utf-8').read()
    return env.from_string(source).render(
        messages=[{'role': r, 'content': c} for r, c in chat],
        add_generation_prompt=chat[-1][0] == 'user',
        bos_token=row[3] or '', eos_token=row[4])


def specials(row):
    names = row[2] + [x for x in row[3:5] if x]
    return [n for i, n in enumerate(names) if n not in names[:i]]


def bytes_of_gpt2():
    more = iter(range(256, 512))
    same = {*range(33, 127), *range(0xa1, 0xad), *range(0xae, 0x100)}
    return [chr(b if b in same else next(more)) for b in range(256)]


class Bpe:
    def __init__(self, row):
        pairs = [tuple(m.split(' ')) for m in MERGES + MORE_MERGES]
        tokens = bytes_of_gpt2() + [a + b for a, b in pairs[:len(MERGES)]]
        tokens += BPE_TOKENS + [a + b for a, b in pairs[len(MERGES):]]
        tokens += [s for s in specials(row) if s not in tokens]
        self.t = Tokenizer(models.BPE({t: i for i, t in enumerate(tokens)},
                                      pairs))
        self.t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        for s in specials(row) + BPE_TOKENS:
            self.t.add_special_tokens([AddedToken(s, special=True,
                                                  normalized=False)])

    def encode(self, text):
        return self.t.encode(text, add_special_tokens=False).ids


class Spm:
    def __init__(self, row):
        self.rule = row[5]
        self.ids = {'<unk>': 0, '<s>': 1, '</s>': 2}
        self.score = {}
        for i, (text, score) in enumerate(PIECES):
            self.ids[text] = 259 + i
            self.score[text] = score
        self.control = specials(row)
        for s in self.control:
            self.ids.setdefault(s, max(*self.ids.values(), 275) + 1)

    def part(self, text):
        s = list(text.replace(' ', MARK))
        while True:
            best = max(((self.score[a + b], -i)
                        for i, (a, b) in enumerate(zip(s, s[1:]))
                        if a + b in self.score), default=None)
            if not best:
                break
            i = -best[1]
            s[i:i + 2] = [s[i] + s[i + 1]]
        out = []
        for x in s:
            out += [self.ids[x]] if x in self.score else \
                [3 + b for b in x.encode()]
        return out

    def encode(self, text):
        pattern = '(' + '|'.join(map(re.escape, self.control)) + ')'
        out, before = [], ''
        for x in re.split(pattern, text):
            if x in self.control:
                out.append(self.ids[x])
            elif x:
                if before and self.rule == 'strip':
                    x = x.lstrip()
                blank = self.rule in ('', 'strip') or \
                    (self.rule == 'first' and not before)
                out += self.part((' ' if blank else '') + x) if x else []
            before = x if x in self.control else before
        return out


def quoted(text):
    return '"' + ''.join(chr(b) if 32 <= b < 127 and b not in b'"\\?' else
                         '\\%03o' % b for b in text.encode()) + '"'


def main():
    print('/* chat_golden.h - ids of conversations; made by chat_golden.py */')
    print('/* clang-format off */')
    for i, chat in enumerate(CHATS):
        print('static const struct gg_message golden_chat_%d[] = {' % i)
        for r, c in chat:
            print('    { GG_ROLE_%s, %s, %d },'
                  % (r.upper(), quoted(c), len(c.encode())))
        print('};')
    cases = []
    for row in ROWS:
        for i, chat in enumerate(CHATS):
            if row[0] in NO_SYSTEM and chat[0][0] == 'system' or \
                    row[0] in ENDS and chat[-1][0] == 'assistant':
                continue
            text = render(sys.argv[1], row, chat)
            ids = (Bpe if row[1] == 'bpe' else Spm)(row).encode(text)
            cases.append((row, i, ids))
    print('static const int32_t golden_ids[] = {')
    for _, _, ids in cases:
        for k in range(0, len(ids), 14):
            print('    ' + ' '.join('%d,' % x for x in ids[k:k + 14]))
    print('};')
    print('static const struct golden {\n    const char *name, *kind;\n'
          '    const char *tokens[8], *bos, *eos;\n    bool blank;\n'
          '    int chat;\n    size_t n;\n} golden[] = {')
    for row, i, ids in cases:
        quote = lambda s: quoted(s) if s else 'NULL'
        print('    { "%s", "%s",\n      { %s },\n      %s, %s, %s, %d, %d },'
              % (row[0], row[1], ', '.join(map(quoted, specials(row))) or 'NULL',
            quote(row[3]), quote(row[4]),
            'false' if row[5] == 'no-blank' else 'true', i, len(ids)))
    print('};')


main()
