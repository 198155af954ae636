/* tools.c - all tools in one program, which is the tool that it is called by
 *
 *     gg-generate ARGUMENT...             a link to it
 *     gg-tools gg-generate ARGUMENT...
 *
 * tools.list has a line for each tool. There, its main() and its name have
 * names of their own; code that tools share reads cli_name, which becomes that
 * of the tool. */
#include <stdio.h>
#include <string.h>

#define TOOL(name, start) int start(int argc, char **argv);
#include "tools.list"
#undef TOOL

struct tool {
    const char *name;
    int (*start)(int argc, char **argv);
};

static const struct tool tools[] = {
#define TOOL(name, start) { name, start },
#include "tools.list"
};

enum {
    N_TOOLS = sizeof(tools) / sizeof(tools[0]),
};

extern char cli_name[32];
char cli_name[32];

static const struct tool *
find_tool(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    for (size_t i = 0; i < N_TOOLS; i++)
        if (!strcmp(tools[i].name, name))
            return &tools[i];
    return NULL;
}

static int
list_tools(void)
{
    fputs("usage: gg-tools TOOL ARGUMENT...\n", stderr);
    for (size_t i = 0; i < N_TOOLS; i++)
        fprintf(stderr, "    %s\n", tools[i].name);
    return 2;
}

int
main(int argc, char **argv)
{
    const struct tool *tool = argc > 0 ? find_tool(argv[0]) : NULL;

    if (!tool && argc > 1) {
        tool = find_tool(argv[1]);
        argc--, argv++;
    }
    if (!tool)
        return list_tools();
    snprintf(cli_name, sizeof(cli_name), "%s", tool->name);
    return tool->start(argc, argv);
}
