# `count` lines of twelve sequences in turn: sequences of all lengths, ends,
# errors, numbers that begin anew, lines that fail; if `alike` is set, many
# begin alike. The same lines with any awk: what rand() draws is not.
function draw() {
    drawn = drawn * 16807 % 2147483647
    return drawn / 2147483647
}
BEGIN {
    drawn = 7000
    for (i = 0; i < 40; i++) prefix = prefix (1 + i * 7 % 250) " "
    for (i = 0; i < count; i++) {
        s = int(draw() * 12)
        r = draw()
        if (r < 0.08) { print s "\t"; continue }
        if (r < 0.10) { print s "\t!it failed"; continue }
        if (r < 0.11) { print s "\t100000 1"; continue }
        n = draw() < 0.1 ? int(draw() * 60) + 1 : int(draw() * 3) + 1
        printf "%d\t%s", s, alike && draw() < 0.1 ? prefix : ""
        for (j = 0; j < n; j++)
            printf "%s%d", j ? " " : "", 1 + int(draw() * 250)
        print ""
    }
}
