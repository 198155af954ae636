/* plant.h - lib/core/plant.h for parsers of the tools' own */
#ifndef COMMON_PLANT_H
#define COMMON_PLANT_H

#ifdef GG_PLANT
void
gg_plant(const char *parser);
#else
#define gg_plant(parser) ((void)0)
#endif

#endif
