/* question.h - questions with several answers to choose from, in JSON
 *
 *     {"prompt": "Ice is made of", "choices": ["water", "sand"], "answer": 0}
 *
 * and the shapes in which hellaswag and winogrande are published. */
#ifndef EVAL_QUESTION_H
#define EVAL_QUESTION_H

#include <gg.h>

#include "common/buffer.h"

/* A text that is given, and one whose likelihood after it counts. */
struct question_option {
    struct buffer given, text;
    size_t length; /* characters of the option itself */
};

struct question {
    struct question_option *options;
    size_t n, right;
};

/* Reads a line. question_clear() it even where this fails. */
enum gg_status
question_read(const char *line, size_t len, struct question *q,
              struct gg_error *err);
void
question_clear(struct question *q);

#endif
