"""The byte-level BPE vocabulary: GPT-2's splitting, merges of our own."""
import itertools

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import stories

END = "<|endoftext|>"


def train(size, seed, count):
    """A tokenizer of `size` tokens, END being the last of them."""
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size - 1, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    text = itertools.islice(stories.stories(seed), count)
    tok.train_from_iterator(text, trainer)
    tok.add_special_tokens([END])
    assert tok.get_vocab_size() == size
    return tok


def load(path):
    return Tokenizer.from_file(str(path))
