/* theirs_others.c - words of ollama and llm; programs and their commands */
#include <config.h>

#include "common/foreign/theirs.h"

#define SERVED "no tool of ours is a server: a model is in memory while it runs"
#define KEPT   "no prompt or answer is kept: --state FILE keeps a conversation"
#define SHELL  "a file of the shell's, and $(cat FILE), do it"
#define TOOLS  "gg-loop runs tools; --tools FILE tells the model of them"

/* clang-format off */
const struct foreign_word foreign_ollama[] = {
    { "--format", 1, .only = "json", .ours = "--json-schema '{}'" },
    { "--format", 1, .ours = "--json-schema %" },
    { "--think", 1, .only = "false|low|medium|high|true",
      .ours = "--reasoning %o" },
    { "--think", 0, .ours = "--reasoning on" },
    { "--hidethinking", 0, .ours = "--show-reasoning hide" },
    { "--keepalive", 1, .note = SERVED },
    { "--nowordwrap|--insecure|--experimental|--experimental-yolo|"
      "--truncate", 0, .note = "ours has none" },
    { "--verbose", 0, .ours = "-v" },
    { "--dimensions", 1, .ours = "--dims %" },
    { "-q|--quantize", 1, .note = "gg-quantize IN OUT TYPE does it" },
    { "--modelfile|--license|--parameters|--template|--system", 0,
      .note = "gg-inspect -k KEY shows one key" },
    { "--width|--height|--steps|--negative", 1,
      .note = "no pictures are made" },
    { 0 },
};

const struct foreign_word foreign_llm[] = {
    { "-m|--model", 1, .ours = "-m %" },
    { "-s|--system", 1, .ours = "--system %" },
    { "-o|--option", 2, .ours = "%k" },
    { "-f|--fragment", 1, .ours = "-f %" },
    { "--sf|--system-fragment", 1, .ours = "--system %f" },
    { "--schema", 1, .ours = "--json-schema %" },
    { "--schema-multi", 1, .note = "--json-schema takes a schema of an array" },
    { "-u|--usage", 0, .ours = "-v" },
    { "-a|--attachment", 1, .note = "pictures and sounds are not read" },
    { "--at|--attachment-type", 2, .note = "pictures and sounds are not read" },
    { "-T|--tool|--functions|--cl|--chain-limit", 1, .note = TOOLS },
    { "--td|--tools-debug|--ta|--tools-approve", 0, .note = TOOLS },
    { "-t|--template", 1, .note = SHELL },
    { "-p|--param", 2, .note = SHELL },
    { "--save", 1, .note = SHELL },
    { "-c|--continue", 0, .note = KEPT },
    { "--cid|--conversation|-d|--database", 1, .note = KEPT },
    { "-n|--no-log|--log", 0, .note = KEPT },
    { "--no-stream|--async|-R|--hide-reasoning", 0,
      .note = "an answer is written as it comes, without thoughts" },
    { "-x|--extract|--xl|--extract-last", 0,
      .note = "--grammar constrains the answer" },
    { "--key", 1, .note = "no key is needed" },
    { "-q|--query", 1, .note = "-m names the model" },
    { "--json", 0, .note = "--jsonl answers in JSON" },
    { 0 },
};

static const struct foreign_group llama = { "llama.cpp", foreign_llama },
                                  ollama = { "ollama", foreign_ollama },
                                  llm = { "llm", foreign_llm };

#define CHAT_ADDS "--chat"
#define CHAT_UNLESS                                                          \
    "-no-cnv|--no-conversation|-cnv|--conversation|-st|--single-turn|-i|"      \
    "--interactive"

const struct foreign_program foreign_programs[] = {
    { "llama-cli", NULL, &llama, .tool = "gg-generate", .adds = CHAT_ADDS,
      .unless = CHAT_UNLESS, .arguments = "G" },
    { "llama-run", NULL, &llama, .tool = "gg-generate", .adds = CHAT_ADDS,
      .arguments = "MP" },
    { "llama-simple", NULL, &llama, .tool = "gg-generate", .arguments = "P" },
    { "llama-completion|main|llama-speculative|speculative|llama-lookup|lookup",
      NULL, &llama, .tool = "gg-generate", .arguments = "G" },
    { "llama-simple-chat|llama-mtmd-cli|llama-llava-cli|llava-cli", NULL,
      &llama, .tool = "gg-generate", .adds = CHAT_ADDS, .unless = CHAT_UNLESS,
      .arguments = "G" },
    { "llama-server|server", NULL, &llama, .tool = "gg-serve",
      .arguments = "G" },
    { "llama-batched|llama-parallel", NULL, &llama, .tool = "gg-generate",
      .adds = "--lines", .arguments = "G" },
    { "llama", "cli", &llama, .tool = "gg-generate", .adds = CHAT_ADDS,
      .unless = CHAT_UNLESS, .arguments = "G" },
    { "llama", "serve", &llama, .tool = "gg-serve", .arguments = "G" },
    { "llama-tokenize", NULL, &llama, .tool = "gg-tokenize" },
    { "llama-embedding|embedding", NULL, &llama, .tool = "gg-eval",
      .adds = "--embed model", .unless = "--pooling" },
    { "llama-perplexity|perplexity", NULL, &llama, .tool = "gg-eval",
      .adds = "--perplexity" },
    { "llama-imatrix|imatrix", NULL, &llama, .tool = "gg-eval",
      .adds = "--imatrix imatrix.gguf", .unless = "-o|--output|--output-file" },
    { "llama-quantize|quantize", NULL, &llama, .tool = "gg-quantize",
      .arguments = "aQqt" },
    { "llama-bench|llama-batched-bench", NULL, &llama, .tool = "gg-bench" },
    { "llama-gguf-split", NULL, &llama, .tool = "gg-convert" },
    { "convert_hf_to_gguf.py|convert-hf-to-gguf.py|convert.py", NULL, &llama, .tool = "gg-convert",
      .arguments = "a>" },
    { "llama-export-lora", NULL, &llama, .tool = "gg-convert" },
    { "llama-gguf|gguf-dump|gguf_dump.py", NULL, &llama, .tool = "gg-inspect",
      .arguments = "a" },
    { "ollama", "run", &ollama, .tool = "gg-generate", .adds = "--chat",
      .arguments = "MP" },
    { "ollama", "pull", &ollama, .tool = "gg-fetch", .arguments = "F" },
    { "ollama", "list|ls", &ollama, .tool = "gg-fetch", .adds = "--installed",
      .arguments = "x" },
    { "ollama", "rm", &ollama, .tool = "gg-fetch", .adds = "--remove",
      .arguments = "F" },
    { "ollama", "show", &ollama, .tool = "gg-inspect", .arguments = "W" },
    { "ollama",
      "serve|start|ps|stop|signin|signout|push|cp|create|launch", &ollama, NULL, NULL, NULL, NULL, "gg-serve serves, without accounts; a model is a file" },
    { "llm", "chat", &llm, .tool = "gg-generate", .adds = "-i",
      .arguments = "x" },
    { "llm", "embed", &llm, .tool = "gg-eval", .adds = "--embed model",
      .arguments = "x" },
    { "llm",
      "keys|install|uninstall|logs|models|plugins|templates|aliases|fragments|schemas|tools|embed-models|embed-multi|collections|similar|openai", &llm, NULL, NULL, NULL, NULL, "ours have no keys, plug-ins or logs; gg-fetch --installed lists models" },
    { "llm", "prompt", &llm, .tool = "gg-generate", .adds = "--chat",
      .arguments = "P" },
    { "llm", NULL, &llm, .tool = "gg-generate", .adds = "--chat",
      .arguments = "P" },
    { 0 },
};
/* clang-format on */
