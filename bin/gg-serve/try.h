/* try.h - --translate: a translation, without a port and without an engine */
#ifndef SERVE_TRY_H
#define SERVE_TRY_H

struct try_options {
    const char *api;    /* the interface's name, or its path */
    const char *answer; /* a file of the engine's records; or NULL */
    const char *type;   /* of the body; NULL: JSON */
};

/* Prints the engine's record of the request in FILE, or what a client gets for
 * the records. Returns the status to exit with. */
int
try_translate(const struct try_options *o, const char *file);

#endif
