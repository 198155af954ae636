/* installed.h - the list of what gg-fetch has put in a folder: DIR/.gg-fetch
 *
 * A line for each file: source, endpoint, name, bytes, separated by tabs. The
 * first file of a source is the one whose path is printed. */
#ifndef FETCH_INSTALLED_H
#define FETCH_INSTALLED_H

#include "gg-fetch/plan.h"

/* The path of what came of the source, from that endpoint; NULL: it is not all
 * there. The caller frees it. */
char *
installed_find(const char *dir, const char *source);

/* Adds the files of a plan that has been carried out. */
void
installed_add(const struct plan *plan, const char *source);

/* Prints what is in the folder: name, bytes, source. */
void
installed_list(const char *dir);

/* Removes what the source, or the name in the folder, stands for. What is not
 * there ends the tool. */
void
installed_remove(const char *dir, const char *name);

#endif
