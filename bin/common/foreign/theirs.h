/* theirs.h - words of other programs' command lines, and what ours are
 *
 * A row says how one is written with our tools. Of several rows that fit, the
 * first one whose option the tool has is taken. gg-from(7) has a line for each;
 * tests/cli/foreign-page.sh compares them. */
#ifndef FOREIGN_THEIRS_H
#define FOREIGN_THEIRS_H

#include <stddef.h>

struct foreign_word {
    const char *words;  /* "-fa|--flash-attn", or globs: "--spec-*" */
    int args;           /* arguments that it takes; -1: one if it has any */
    const char *only;   /* globs, "on|off|auto": the row is for these values of
                           the argument, or, without one, of what follows,
                           also where the word is one of ours */
    const char *ours;   /* what to write; NULL: it is left out. %: the argument,
                           %X: changed, as the table in foreign_value.c says;
                           "=": as it is. "-- " in front: an argument of
                           the tool that ours starts */
    const char *note;   /* why it is left out */
    const char *unless; /* the row is left out where one of these is there */
    const char *tool;   /* "gg-eval": the row is for this one only */
};

struct foreign_group {
    const char *name;                /* the program's, for messages */
    const struct foreign_word *rows; /* the last one has no words */
};

extern const struct foreign_word foreign_llama[], foreign_ollama[],
    foreign_llm[];

/* A program of theirs, the first word of a command line, or a command of it. */
struct foreign_program {
    const char *names;   /* "llama-cli|main", or "ollama|run": both words */
    const char *command; /* "run"; NULL: the program itself */
    const struct foreign_group *group;
    const char *tool;      /* ours; NULL: there is none */
    const char *adds;      /* options that ours needs; or NULL */
    const char *unless;    /* not where one of these words is there */
    const char *arguments; /* what each of its arguments is, the last one for
                              the rest: M a model for -m, a file or one to
                              fetch, G a file of one, W one for an argument,
                              F its name, P a prompt, a as it is, x left out,
                              t threads, Q the file or, made up for, q the
                              type, > what a name is made up for; NULL: as
                              they are */
    const char *note;      /* why there is none */
};

extern const struct foreign_program foreign_programs[];

#endif
