/* ollama.h - a model of ollama's registry, or of another one with its API */
#ifndef FETCH_OLLAMA_H
#define FETCH_OLLAMA_H

#include "gg-fetch/repository.h"

/* "[ollama:][[HOST/]OWNER/]NAME[:TAG]" */
struct ollama_source {
    const char *text; /* as it was given, for messages */
    char *endpoint, *owner, *name, *tag;
};

/* True if the text is one: it begins with "ollama:", or is NAME:TAG. What is
 * wrong in one ends the tool. */
bool
ollama_read_source(const char *text, struct ollama_source *out);
void
ollama_source_clear(struct ollama_source *s);

/* Asks for the file with the weights; its path is "NAME:TAG.gguf". */
void
ollama_file(const struct ollama_source *s, struct repository_file *out);

/* Where it is; the caller frees it. */
char *
ollama_file_url(const struct ollama_source *s, const struct checksum *sum);

/* ollama's folder of models on this machine; the caller frees it. NULL: there
 * is none. */
char *
ollama_folder(void);

/* The weights that a manifest names: false, it names none. */
bool
ollama_read_manifest(const char *text, size_t len, struct checksum *sum,
                     uint64_t *size);

#endif
