#!/usr/bin/env python3
"""lm_eval_gg.py - gg-generate as a model of lm-evaluation-harness (lm-eval).

    python3 lm_eval_gg.py --model gg --model_args model=model.gguf \\
        --tasks my_task --include_path FOLDER

Arguments of the model: model (a GGUF file), batch (records at once, 8),
max_length (ids of a window; that of the model, but 2048 at most), add_bos (BOS
before each text), options (more of gg-generate's: "-t 4 --device cuda").
Each list of requests is one run of gg-generate over records."""
import json
import shlex
import subprocess
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model


def run(*command, input=None):
    done = subprocess.run(command, input=input, stdout=subprocess.PIPE)
    if done.returncode not in (0, 3):  # 3: a record has its own error
        raise RuntimeError(f"{command[0]} ended with {done.returncode}")
    return done.stdout.decode()


@register_model("gg")
class GG(LM):
    def __init__(self, model, batch=8, max_length=None, add_bos=False,
                 options="", **ignored):
        super().__init__()
        self.model = str(model)
        self.bos = ["--bos"] if str(add_bos) == "True" else ["--no-bos"]
        trained = int(self.key(self.key("general.architecture") +
                               ".context_length"))
        self.max_length = int(max_length or min(trained, 2048))
        self.options = ["--batch", str(batch), "-c", str(self.max_length + 1),
                        *shlex.split(options)]
        self.prefix = int(self.key("tokenizer.ggml.bos_token_id") or
                          self.key("tokenizer.ggml.eos_token_id"))

    def key(self, name):
        done = subprocess.run(["gg-inspect", "-k", name, self.model],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.stdout.decode().strip()

    def encode(self, texts):
        """The ids of each text; one run for all."""
        out = run("gg-tokenize", "-q", "-m", self.model, "-0", *self.bos,
                  input=b"".join(t.encode() + b"\0" for t in texts))
        pairs = [line.partition("\t") for line in out.splitlines()]
        found = {int(n): [int(i) for i in ids.split()]
                 for n, tab, ids in pairs if ids}
        return [found.get(i + 1, []) for i in range(len(texts))]

    def answers(self, records):
        """An answer to each record, in their order."""
        text = "".join(json.dumps(r) + "\n" for r in records)
        out = run("gg-generate", "--jsonl", "-q", "-m", self.model,
                  *self.options, input=text.encode())
        answers = [json.loads(line) for line in out.splitlines()]
        for a in answers:
            if "error" in a:
                raise RuntimeError(a["error"])
        return answers

    def score(self, pairs):
        """(ids, n): the sum over the last n ids, and whether each is likeliest."""
        records = [{"prompt": ids[-self.max_length - 1:], "echo": True,
                    "logprobs": 1, "max_tokens": 0} for ids, n in pairs]
        out = []
        for a, (ids, n) in zip(self.answers(records), pairs):
            own = a["logprobs"]["token_logprobs"][-n:]
            top = a["logprobs"]["top_logprobs"][-n:]
            out.append((sum(own), all(x >= max(t.values())
                                      for x, t in zip(own, top))))
        return out

    def loglikelihood(self, requests, disable_tqdm=False):
        pairs = []
        for context, continuation in (r.args for r in requests):
            bare = context.rstrip()  # its blanks belong to what follows
            pairs.append((bare, context[len(bare):] + continuation))
        contexts = self.encode([c for c, t in pairs])
        wholes = self.encode([c + t for c, t in pairs])
        return self.score([(ids if c else [self.prefix] + ids,
                            len(ids) - (len(c) if text else 0))
                           for ids, c, (text, t) in
                           zip(wholes, contexts, pairs)])

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        size, pairs, owner = self.max_length, [], []
        texts = self.encode([r.args[0] for r in requests])
        for i, ids in enumerate(texts):
            every = [self.prefix] + ids
            for begin in range(0, len(ids), size):
                end = min(begin + size, len(ids))
                pairs.append((every[max(0, end - size):end + 1], end - begin))
                owner.append(i)
        sums = [0.0] * len(texts)
        for i, (total, greedy) in zip(owner, self.score(pairs)):
            sums[i] += total
        return sums

    def generate_until(self, requests, disable_tqdm=False):
        records = []
        for ids, r in zip(self.encode([r.args[0] for r in requests]), requests):
            how = dict(r.args[1])
            until, most = how.get("until") or [], how.get("max_gen_toks", 256)
            draws = how.get("do_sample", how.get("temperature", 0) > 0)
            records.append({
                "prompt": ids[-(self.max_length - most):],
                "max_tokens": most, "seed": how.get("seed", 1234),
                "stop": [until] if isinstance(until, str) else until,
                "temperature": how.get("temperature", 1.0) if draws else 0})
        return [a["text"] for a in self.answers(records)]


if __name__ == "__main__":
    from lm_eval.__main__ import cli_evaluate
    cli_evaluate()
