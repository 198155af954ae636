#!/usr/bin/env python3
"""engine_storm.py SEED RECORDS MODEL - gg-generate --unordered at random

Records of all kinds, cancels, questions and half lines are sent, answers are
read now and then, and the end comes by an end of the input, a drain or a
signal. Each record has one end, nothing after it, and the bytes that it has
alone; a record that was stopped has their beginning. A line is printed for
whatever is not so, and for many records the memory in KiB."""
import json
import os
import random
import select
import signal
import subprocess
import sys
import time

KINDS = 24   # different records
LIMIT = 300  # seconds


def make_body(i, r):
    """A record; what is asked depends on i."""
    text = ' '.join(chr(97 + (i * 7 + k * k) % 26) for k in range(3 + i * 4))
    b = {'prompt': text, 'seed': i, 'n': 3 + i % 7 * 5, 'temperature': 1.3,
         'ignore_eos': True}
    if i % 8 == 3:
        b = {'prompt': text, 'choice': ['a b', 'c', 'd e f']}
    elif i % 8 == 5:
        b = {'url': '/v1/completions', 'custom_id': '?',
             'body': {'prompt': text, 'echo': True, 'logprobs': 2,
                      'max_tokens': i % 3, 'seed': i}}
    elif i % 8 == 6:
        b = {'url': '/v1/embeddings', 'custom_id': '?',
             'body': {'input': [text, text[:9]]}}
    elif i % 8 == 7:
        b['temperature'] = -1
    return b


def strip(answer):
    """What two answers to a record have alike."""
    a = dict(answer)
    if 'response' in a:
        body = a['response'].get('body') or {}
        return [body.get('choices'), body.get('data'),
                (body.get('error') or {}).get('message')]
    for k in ('id', 'seed', 'sampling', 'cache_key'):
        a.pop(k, None)
    return a


def run_alone(model, bodies):
    lines = ''.join(json.dumps(b) + '\n' for b in bodies)
    p = subprocess.run(['gg-generate', '--jsonl', '-q', '-m', model, '-c',
                        '256', '--device', 'cpu', '--pooling', 'mean'],
                       input=lines.encode(),
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return [json.loads(x) for x in p.stdout.decode().splitlines()]


class Storm:
    def __init__(self, seed, n, model):
        self.r = random.Random(seed)
        self.bodies = [make_body(i, self.r) for i in range(KINDS)]
        self.truth = run_alone(model, self.bodies)
        self.left = n
        self.sent, self.text, self.ended = {}, {}, {}
        self.out, self.lines, self.bad = b'', b'', 0
        self.next = 0
        self.stop = None
        self.err = open('storm.err', 'wb')
        self.p = subprocess.Popen(
            ['gg-generate', '--jsonl', '--unordered', '-q', '-m', model,
             '-c', '256', '--batch', '3', '--slots', '5', '--device', 'cpu',
             '--drain', '60', '--pooling', 'mean'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.err)
        os.set_blocking(self.p.stdin.fileno(), False)
        os.set_blocking(self.p.stdout.fileno(), False)

    def complain(self, *what):
        self.bad += 1
        print(*what)

    # ---- sending

    def send(self, o):
        self.out += (json.dumps(o) + '\n').encode()

    def send_record(self):
        i = self.r.randrange(KINDS)
        o = dict(self.bodies[i])
        name = 'r%d' % self.next
        self.next += 1
        self.left -= 1
        stream = self.r.random() < 0.5 and 'choice' not in o and \
            'embeddings' not in o.get('url', '')
        if stream:
            o['stream'] = True
        o['custom_id' if 'url' in o else 'id'] = name
        if self.r.random() < 0.3:
            o['cache_key'] = 'k%d' % self.r.randrange(3)
        self.sent[name] = (i, stream)
        self.send(o)

    def act(self):
        x = self.r.random()
        if x < 0.6:
            self.send_record()
        elif x < 0.8 and self.sent:
            recent = max(0, self.next - self.r.randrange(1, 12))
            self.send({'cancel': 'r%d' % recent})
        elif x < 0.85:
            self.send({'stats': True, 'id': 'stats'})
        elif x < 0.9:
            self.send({'tokenize': 'a b', 'id': 'stats'})
        elif x < 0.93:
            self.send({'cancel': 'nobody'})
        elif x < 0.95:
            self.out += b'\n \n'

    def write(self):
        n = self.r.randrange(1, 400)
        try:
            n = os.write(self.p.stdin.fileno(), self.out[:n])
            self.out = self.out[n:]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self.out = b''

    # ---- reading

    def take_end(self, name, o):
        i, stream = self.sent[name]
        if name in self.ended:
            self.complain(name, 'ends twice')
        self.ended[name] = o
        code = (o.get('error') if isinstance(o.get('error'), dict) else
                o.get('response', {}).get('body', {}).get('error')) or {}
        if not isinstance(code, dict) or code.get('code') in (
                'cancelled', 'shutdown'):
            return
        truth = self.truth[i]
        if stream and 'end' in o:
            self.check_text(name, i, True)
        elif not stream and strip(o) != strip(truth) and \
                not isinstance(o.get('error'), str):
            self.complain(name, self.bodies[i], strip(o), strip(truth))

    def check_text(self, name, i, whole):
        t = self.truth[i]
        if 'response' in t:
            choices = t['response']['body'].get('choices') or [{}]
            truth = choices[0].get('text', '')
        else:
            truth = t.get('text', '')
        made = self.text.get(name, '')
        if made != truth if whole else not truth.startswith(made):
            self.complain(name, 'has', repr(made), 'not', repr(truth))

    def take(self, line):
        try:
            o = json.loads(line)
        except ValueError:
            return self.complain('no JSON:', line[:200])
        name = o.get('custom_id', o.get('id'))
        if name == 'stats' or 'stats' in o:
            return None
        if name not in self.sent:
            return self.complain('unknown id:', line[:200])
        if name in self.ended:
            return self.complain('after the end:', line[:200])
        if 'delta' in o:
            self.text[name] = self.text.get(name, '') + \
                o['delta'].get('content', '')
            self.check_text(name, self.sent[name][0], False)
        elif 'start' not in o and 'progress' not in o:
            self.take_end(name, o)
        return None

    def read(self):
        try:
            data = os.read(self.p.stdout.fileno(), 1 << 16)
        except BlockingIOError:
            return True
        self.lines += data
        *whole, self.lines = self.lines.split(b'\n')
        for line in whole:
            self.take(line.decode())
        return bool(data)

    # ---- the end

    def begin_end(self):
        self.stop = self.r.choice(['eof', 'drain', 'soon', 'term'])
        if self.stop == 'drain':
            self.send({'drain': 60, 'id': 'stats'})
        elif self.stop == 'soon':
            self.send({'drain': 0, 'id': 'stats'})
        elif self.stop == 'term':
            self.p.send_signal(signal.SIGTERM)

    def memory(self):
        with open('/proc/%d/status' % self.p.pid) as f:
            for line in f:
                if line.startswith('VmRSS'):
                    return int(line.split()[1])
        return 0

    def run(self):
        begun, seen, first, last = time.time(), True, 0, 0
        pause, half = 0, self.left // 2
        while seen and time.time() - begun < LIMIT:
            if self.left > 0 and len(self.out) < 4096 and \
                    self.next - len(self.ended) < 40:
                self.act()
            elif self.left <= 0 and not self.stop:
                last = self.memory()
                self.begin_end()
            if self.left <= half and not first:
                first = self.memory()
            if self.out:
                self.write()
            elif self.stop and not self.p.stdin.closed:
                self.p.stdin.close()
            pause = pause - 1 if pause else \
                self.r.choice([0] * 30 + [200])
            if not pause or self.left <= 0:
                select.select([self.p.stdout], [], [], 0.002)
                seen = self.read()
        status = self.p.wait(30)
        lost = [n for n in self.sent if n not in self.ended]
        if self.stop in ('eof', 'drain') and lost:
            self.complain('no end:', lost)
        if self.stop in ('term', 'soon'):  # what was not read has none
            self.check_unread(lost)
        if status not in (0, 3):
            self.complain('status', status)
        return first, last

    def check_unread(self, lost):
        known = [n for n in self.sent if n in self.ended or n in self.text]
        newest = max((int(n[1:]) for n in known), default=-1)
        for n in lost:
            if int(n[1:]) < newest or n in self.text:
                self.complain('no end:', n)


def main():
    seed, n, model = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    s = Storm(seed, n, model)
    first, last = s.run()
    if n >= 1000:
        print('# %s: %d records, %d ended, %d KiB, then %d' %
              (s.stop, len(s.sent), len(s.ended), first, last),
              file=sys.stderr)
    if n >= 1000 and last > first * 1.1 + 2048:
        s.complain('memory grows from', first, 'to', last, 'KiB')
    return s.bad > 0


sys.exit(main())
