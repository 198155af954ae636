/* plant.h - what a parser that was taken over might do, for a test
 *
 * With configure's --enable-plant a parser, once it has read something, tries
 * to read and to write a file elsewhere, to connect, to start a program, and a
 * call of each kind that is refused (`deeds` of plant.c), and says on standard
 * error what became of it. Otherwise this is nothing. */
#ifndef CORE_PLANT_H
#define CORE_PLANT_H

#ifdef GG_PLANT

/* `parser`: which one; only its first time counts. Exported, for the tools. */
__attribute__((visibility("default"))) void
gg_plant(const char *parser);

#else

static inline void
gg_plant(const char *parser)
{
    (void)parser;
}

#endif

#endif
