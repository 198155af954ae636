/* words_others.c - words of ollama and llm; programs and their commands */
#include <config.h>

#include "common/foreign/words.h"

#define SERVED "no tool of ours is a server: a model is in memory while it runs"
#define KEPT   "no prompt or answer is kept: --state FILE keeps a conversation"
#define SHELL  "a file of the shell's, and $(cat FILE), do it"
#define TOOLS  "gg-loop runs tools; --tools FILE tells the model of them"

/* clang-format off */
const struct foreign_word foreign_ollama[] = {
    { "--format", 1, .only = "json", .ours = "--json-schema '{}'" },
    { "--format", 1, .ours = "--json-schema %" },
    { "--think", 1, .only = "false|low|medium|high|true", .ours = "--reasoning %o" },
    { "--think", 0, .ours = "--reasoning on" },
    { "--hidethinking", 0, .ours = "--show-reasoning hide" },
    { "--keepalive", 1, .note = SERVED },
    { "--nowordwrap|--insecure|--experimental|--experimental-yolo|--truncate", 0, .note = "ours has none" },
    { "--verbose", 0, .ours = "-v" },
    { "--dimensions", 1, .ours = "--dims %" },
    { "-q|--quantize", 1, .note = "gg-quantize IN OUT TYPE does it" },
    { "--modelfile|--license|--parameters|--template|--system", 0, .note = "gg-inspect -k KEY shows one key" },
    { "--width|--height|--steps|--negative", 1, .note = "no pictures are made" },
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
    { "--no-stream|--async|-R|--hide-reasoning", 0, .note = "an answer is written as it comes, without thoughts" },
    { "-x|--extract|--xl|--extract-last", 0, .note = "--grammar constrains the answer" },
    { "--key", 1, .note = "no key is needed" },
    { "-q|--query", 1, .note = "-m names the model" },
    { "--json", 0, .note = "--jsonl answers in JSON" },
    { 0 },
};

static const struct foreign_group llama = { "llama.cpp", foreign_llama },
                                  ollama = { "ollama", foreign_ollama },
                                  llm = { "llm", foreign_llm };

#define CHAT_ADDS "--chat", "-no-cnv|--no-conversation|-cnv|--conversation|-st|--single-turn|-i|--interactive"

const struct foreign_program foreign_programs[] = {
    { "llama-cli|llama-run", NULL, &llama, "gg-generate", CHAT_ADDS, NULL, NULL },
    { "llama-completion|llama-simple|main|llama-speculative|llama-lookup", NULL, &llama, "gg-generate", NULL, NULL, NULL, NULL },
    { "llama-simple-chat|llama-mtmd-cli", NULL, &llama, "gg-generate", CHAT_ADDS, NULL, NULL },
    { "llama-server|server", NULL, &llama, "gg-generate", "--jsonl", NULL, NULL, NULL },
    { "llama-batched|llama-parallel", NULL, &llama, "gg-generate", "--lines", NULL, NULL, NULL },
    { "llama", "cli", &llama, "gg-generate", CHAT_ADDS, NULL, NULL },
    { "llama", "serve", &llama, "gg-generate", "--jsonl", NULL, NULL, NULL },
    { "llama-tokenize", NULL, &llama, "gg-tokenize", NULL, NULL, NULL, NULL },
    { "llama-embedding|embedding", NULL, &llama, "gg-eval", "--embed model", "--pooling", NULL, NULL },
    { "llama-perplexity|perplexity", NULL, &llama, "gg-eval", "--perplexity", NULL, NULL, NULL },
    { "llama-imatrix|imatrix", NULL, &llama, "gg-eval", "--imatrix imatrix.gguf", "-o|--output|--output-file", NULL, NULL },
    { "llama-quantize|quantize", NULL, &llama, "gg-quantize", NULL, NULL, "aaat", NULL },
    { "llama-bench", NULL, &llama, "gg-bench", NULL, NULL, NULL, NULL },
    { "llama-gguf-split", NULL, &llama, "gg-convert", NULL, NULL, NULL, NULL },
    { "convert_hf_to_gguf.py", NULL, &llama, "gg-convert", NULL, NULL, "a>", NULL },
    { "llama-export-lora", NULL, &llama, "gg-convert", NULL, NULL, NULL, NULL },
    { "llama-gguf|gguf-dump|gguf_dump.py", NULL, &llama, "gg-inspect", NULL, NULL, "a", NULL },
    { "ollama", "run", &ollama, "gg-generate", "--chat", NULL, "MP", NULL },
    { "ollama", "pull", &ollama, "gg-fetch", NULL, NULL, "F", NULL },
    { "ollama", "list|ls", &ollama, "gg-fetch", "--installed", NULL, "x", NULL },
    { "ollama", "rm", &ollama, "gg-fetch", "--remove", NULL, "F", NULL },
    { "ollama", "show", &ollama, "gg-inspect", NULL, NULL, "W", NULL },
    { "ollama", "serve|start|ps|stop|signin|signout|push|cp|create|launch", &ollama, NULL, NULL, NULL, NULL, "there is no server, and no account; a model is a file" },
    { "llm", "chat", &llm, "gg-generate", "-i", NULL, "x", NULL },
    { "llm", "embed", &llm, "gg-eval", "--embed model", NULL, "x", NULL },
    { "llm", "keys|install|uninstall|logs|models|plugins|templates|aliases|fragments|schemas|tools|embed-models|embed-multi|collections|similar|openai", &llm, NULL, NULL, NULL, NULL, "ours have no keys, plug-ins or logs; gg-fetch --installed lists models" },
    { "llm", "prompt", &llm, "gg-generate", "--chat", NULL, "P", NULL },
    { "llm", NULL, &llm, "gg-generate", "--chat", NULL, "P", NULL },
    { 0 },
};
/* clang-format on */
