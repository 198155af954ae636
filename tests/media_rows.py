#!/usr/bin/env python3
"""Makes a rows stream of a case of $GG_TEST_MEDIA: what a reference has computed.

    media_rows.py FOLDER CASE GG_TOKENIZE MODEL >ROWS
    media_rows.py --cases FOLDER              their names
    media_rows.py --prompt FOLDER CASE        the text, with markers
    media_rows.py --ids FOLDER CASE           the ids that it has
    media_rows.py --nmse FOLDER CASE <LOGITS  |a - b|^2 / |b|^2 of the last vector
"""
import array
import ast
import hashlib
import json
import struct
import subprocess
import sys
import zlib

MARKER = "<__media__>"


def npy(path):
    data = open(path, "rb").read()
    version = data[6]
    size = int.from_bytes(data[8:10 if version == 1 else 12], "little")
    begin = (10 if version == 1 else 12) + size
    head = ast.literal_eval(data[begin - size:begin].decode())
    values = array.array("f" if head["descr"] == "<f4" else "d")
    values.frombytes(data[begin:])
    return head["shape"], values


def case_of(folder, name):
    cases = json.load(open(folder + "/truth.json"))["cases"]
    return next(c for c in cases if c["name"] == name)


# ---- pieces ----


def texts_of(ids, tokenize, model):
    lines = "".join("%d\t%d\n%d\t\n" % (i, id, i) for i, id in enumerate(ids))
    command = [tokenize, "-q", "-m", model, "-d", "-0", "--special", "parse",
               "--no-bos"]
    out = subprocess.run(command, input=lines.encode(), stdout=subprocess.PIPE,
                         check=True).stdout
    return [t.decode() for t in out.split(b"\0")[:len(ids)]]


def flat(case):
    """Ids and runs of rows, in order."""
    items = []
    for chunk in case["chunks"]:
        items += chunk["tokens"] if chunk["type"] == "text" else [chunk]
    return items


def skip_text(items, texts, at, text):
    """The items after those that spell the text."""
    begin = at
    while text and at < len(items):
        piece = texts.get(items[at]) if isinstance(items[at], int) else None
        if not piece or not text.startswith(piece):
            return None
        text = text[len(piece):]
        at += 1
    return at if not text else None


def media_of(case, tokenize, model):
    """Items of each medium: what stands between the parts of the prompt."""
    items = flat(case)
    ids = sorted({i for i in items if isinstance(i, int)})
    texts = dict(zip(ids, texts_of(ids, tokenize, model)))
    parts = case["prompt"].split(MARKER)
    at = skip_text(items, texts, 1, parts[0])  # after BOS
    media = []
    for part in parts[1:]:
        begin, rows = at, False
        while True:
            rows = rows or (at < len(items) and not isinstance(items[at], int))
            after = skip_text(items, texts, at, part) if rows else None
            last = part is parts[-1]
            if after is not None and (not last or after == len(items)):
                break
            at += 1
        media.append(items[begin:at])
        at = after
    return media, texts


# ---- the stream ----


def record(kind, payload):
    payload += bytes(-len(payload) % 8)
    head = struct.pack("<Q", len(payload))
    crc = zlib.crc32(kind + head + payload)
    return kind + struct.pack("<I", crc) + head + payload


def padded(data):
    return data + bytes(-len(data) % 8)


def positions_of(run):
    if "pos_txy" not in run:
        return None
    p = run["pos0"]
    return [[t - p, y - p, x - p] for t, x, y in run["pos_txy"]]


def medium(case, items, texts, rows, done, n_deeper):
    width = case["n_embd"]
    inp = case["n_embd_inp"]
    pieces, text, positions, blocks = b"", b"", [], []
    sound, first = 0, 0
    for item in items:
        if isinstance(item, int):
            word = texts[item].encode()
            kind = 1 if word.isspace() else 0
            pieces += struct.pack("<8I", kind, len(word), 0, 0, 0, 0, 0, 0)
            text += word
            continue
        n = item["n_rows"]
        sound = int(item["type"] == "audio")
        where = positions_of(item)
        taken = 1 + max(map(max, where)) if where else n
        positions += where or []
        blocks += [len(pieces) // 32 if item["non_causal"] else -1] * n
        pieces += struct.pack("<8I", 2, 0, first, n, taken, item["input"][0],
                              item["input"][1], int(item["non_causal"]))
        first += n
    values = rows[done * inp:(done + first) * inp]
    parts = [array.array("f") for _ in range(1 + n_deeper)]
    for i in range(first):
        for k in range(1 + n_deeper):
            at = i * inp + k * width
            parts[k] += values[at:at + width]
    flags = int(bool(positions)) | 2 * int(max(blocks) >= 0)
    payload = hashlib.sha256(values.tobytes()).digest()
    payload += struct.pack("<6I", sound, len(pieces) // 32, first, flags,
                           len(text), 0)
    payload += pieces + padded(text) + padded(parts[0].tobytes())
    payload += padded(b"".join(p.tobytes() for p in parts[1:]))
    if positions:
        payload += padded(struct.pack("<%di" % (3 * first),
                                      *[x for p in positions for x in p]))
    if max(blocks) >= 0:
        payload += padded(struct.pack("<%di" % first, *blocks))
    return record(b"MEDI", payload), done + first


def stream(folder, name, tokenize, model, out):
    case = case_of(folder, name)
    media, texts = media_of(case, tokenize, model)
    rows = npy("%s/%s.rows.npy" % (folder, name))[1]
    n_deeper = case["n_embd_inp"] // case["n_embd"] - 1
    out.write(b"\x8bGGR\r\n\x1a\n" + struct.pack("<II", 1, 0))
    head = hashlib.sha256(folder.encode()).digest()
    head += struct.pack("<iIII", case["n_vocab"], case["n_embd"], n_deeper, 4)
    out.write(record(b"HEAD", head + b"test"))
    done = 0
    for items in media:
        data, done = medium(case, items, texts, rows, done, n_deeper)
        out.write(data)
    out.write(record(b"DONE", struct.pack("<Q", len(media))))


def ids(folder, name):
    case = case_of(folder, name)
    first, line = case["n_vocab"], []
    for item in flat(case):
        if isinstance(item, int):
            line.append(item)
        else:
            line += range(first, first + item["n_rows"])
            first += item["n_rows"]
    print(*line)


def last_vector(data):
    at, vector = 16, None
    while at < len(data):
        kind = data[at:at + 4]
        length = struct.unpack_from("<Q", data, at + 8)[0]
        if kind == b"VECT":
            c, n = struct.unpack_from("<II", data, at + 16 + 16)
            begin = at + 16 + 32 + (4 * c + 7) // 8 * 8
            vector = array.array("f", data[begin:begin + 4 * n])
        at += 16 + length
    return vector


def nmse(folder, name):
    want = npy("%s/%s.logits.npy" % (folder, name))[1]
    got = last_vector(sys.stdin.buffer.read())
    if got is None or len(got) != len(want):
        sys.exit("another number of logits")
    error = sum((a - b) ** 2 for a, b in zip(got, want))
    print("%.2e" % (error / sum(b * b for b in want)))


if sys.argv[1] == "--ids":
    ids(sys.argv[2], sys.argv[3])
elif sys.argv[1] == "--cases":
    cases = json.load(open(sys.argv[2] + "/truth.json"))["cases"]
    print(*[c["name"] for c in cases])
elif sys.argv[1] == "--prompt":
    print(case_of(sys.argv[2], sys.argv[3])["prompt"], end="")
elif sys.argv[1] == "--nmse":
    nmse(sys.argv[2], sys.argv[3])
else:
    stream(*sys.argv[1:5], sys.stdout.buffer)
