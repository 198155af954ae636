"""Stories as rows of tokens; each row begins with <|endoftext|> and a story.

A row is cut where it is full. The story that was cut opens the next row, so
that the model meets every story from its beginning and most to their end.
"""
import itertools

import numpy as np

import bpe
import stories


def tokens(tok, seed, count):
    """All tokens of `count` stories, and where each story begins."""
    end = tok.token_to_id(bpe.END)
    parts, starts, at = [], [], 0
    for text in itertools.islice(stories.stories(seed), count):
        ids = [end] + tok.encode(text).ids
        parts.append(np.array(ids, np.uint16))
        starts.append(at)
        at += len(ids)
    return np.concatenate(parts), np.array(starts)


def pack(stream, starts, length):
    """Rows of length + 1: inputs and, one to the right, targets."""
    rows, story = [], 0
    while starts[story] + length + 1 <= len(stream):
        begin = starts[story]
        rows.append(stream[begin:begin + length + 1])
        following = np.searchsorted(starts, begin + length, "right") - 1
        story = max(following, story + 1)
        if story >= len(starts):
            break
    return np.stack(rows)


def rows(tok, seed, count, length, cache):
    """The rows of a seed; made once, then read from the folder `cache`."""
    path = cache / f"rows-{seed}-{count}-{length}.npy"
    if not path.exists():
        np.save(path, pack(*tokens(tok, seed, count), length))
    return np.load(path)
