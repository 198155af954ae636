/* old.h - models in the formats before GGUF, for tests */
#ifndef TESTS_OLD_H
#define TESTS_OLD_H

/* Writes the GGUF model at `path`, of GPT-2 or LLaMA, to `to`, with the tokens
 * of the GGUF file `tokens`. Formats: ggml, ggml-0 and ggml-1 (with blocks of
 * older versions), ggmf, ggjt-1, ggjt-2, ggjt-3, llama2c-0, llama2c-1,
 * llama2c-2, which puts tokenizer.bin beside `to`. Ends the program where it
 * cannot. */
void
old_write(const char *format, const char *path, const char *tokens,
          const char *to);

#endif
