/* input.h - text as it comes */
#ifndef TOKENIZE_INPUT_H
#define TOKENIZE_INPUT_H

#include "common/buffer.h"

enum {
    INPUT_CHUNK = 1 << 18, /* bytes that are worth a job */
};

struct input {
    int fd;
    const char *name;
    bool quiet; /* about what it looks like */
    bool begun, ended;
};

/* True if reading does not have to wait. */
bool
input_ready(const struct input *in);

/* Reads once and adds it to the buffer; sets in->ended at the end. */
void
input_read(struct input *in, struct buffer *text);

#endif
