/* spare.h - memory that is kept for when there is none
 *
 * cli_alloc() ends the tool where memory runs out. A tool that works for many
 * at once keeps some: an allocation that fails otherwise takes it, and the tool
 * ends something of its own choice to get it back. */
#ifndef COMMON_SPARE_H
#define COMMON_SPARE_H

#include <gg.h>

#include <stdbool.h>
#include <stddef.h>

/* Keeps some from now on, or again. False: there is none. */
bool
spare_keep(void);

/* Gives it back, and keeps none. */
void
spare_drop(void);

/* Whether that is what the tool does, though nothing may be left. */
bool
spare_is_kept(void);

/* For cli_alloc(): gives what is kept back to the system. False: there is
 * nothing. Any thread may call it. */
bool
spare_use(void);

/* Before n things of `size` bytes each are made for somebody, of whose number
 * he decides: whether there is as much, and some more. GG_ERR_NOMEM: there is
 * not. Where nothing is kept, cli_alloc() will see. */
enum gg_status
spare_check(size_t n, size_t size, struct gg_error *err);

#endif
