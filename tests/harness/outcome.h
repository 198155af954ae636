/* outcome.h - what a command has left: its status, its messages, its files */
#ifndef OUTCOME_H
#define OUTCOME_H

#include <stdbool.h>
#include <stddef.h>

enum {
    OUTCOME_MAX_FILES = 256,
};

struct contents {
    char *data; /* NUL-ended */
    size_t size;
};

/* The files of the current folder, by name; but for those whose names end with
 * $GG_LEAVES. */
struct folder {
    char *names[OUTCOME_MAX_FILES];
    struct contents files[OUTCOME_MAX_FILES];
    int n;
};

/* How a command ended. */
struct outcome {
    int status; /* of wait() */
    struct contents out, err;
    struct folder folder;
};

/* Ends the program, for want of something that every test needs. */
__attribute__((noreturn)) void
outcome_die(const char *what);

struct contents
outcome_read_file(const char *path);
bool
outcome_same(const struct contents *a, const struct contents *b);

struct folder
outcome_look(void);
void
outcome_forget(struct folder *f);
bool
outcome_same_folder(const struct folder *a, const struct folder *b);
/* Makes the current folder hold what it held. */
void
outcome_restore(const struct folder *want);

/* In the child: nothing to read; standard output and error go to files next
 * to the current folder, from which outcome_of() takes them. */
void
outcome_redirect(void);
struct outcome
outcome_of(int status);
void
outcome_clear(struct outcome *o);

/* NULL: it is as it should be, a failure that was told in one line, after the
 * messages that a `good` run has, with one of the words, which '|' parts, and
 * all files as they were, or, with $GG_DONE, as a good run has them; or a
 * success like the good run. */
const char *
outcome_judge(const struct outcome *o, const struct folder *before,
              const struct outcome *good, const char *words);

#endif
