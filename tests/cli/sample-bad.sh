# Streams that are none, are cut short, or cannot be drawn from; outputs that
# fail.
printf 'Welcome to host\n\n' | gg-sample
echo "$?"
gg-sample </dev/null
echo "$?"
echo 1 2 3 | fake_eval >stream
head -c 100 stream | gg-sample --seed 1
echo "$?"
head -c 220 stream | gg-sample --greedy >id
echo "$?"
wc -l id
echo 1 2 3 | fake_eval -v 100000 | gg-sample --greedy >/dev/full
echo "$?"
gg-sample --greedy -o out stream && ls
gg-sample --greedy -o /no/such/folder/out stream
echo "$?"
gg-sample --greedy -o out </dev/null
echo "$?"
ls

# A record of NaN fails, those of other sequences do not.
printf '1\t5\n2\t5\n' | fake_eval >stream
python3 - <<'END' || exit 77
import struct, zlib
s = bytearray(open("stream", "rb").read())
at = 16
def step(at):
    return at + 16 + struct.unpack_from("<Q", s, at + 8)[0]
at = step(at)
struct.pack_into("<f", s, at + 16 + 32 + 8 + 4, float("nan"))
crc = zlib.crc32(s[at : at + 4])
crc = zlib.crc32(s[at + 8 : step(at)], crc)
struct.pack_into("<I", s, at + 4, crc)
open("nan", "wb").write(s)
END
gg-sample --greedy nan | sed 's/\t[0-9][0-9]*/\tID/'
gg-sample --greedy nan >/dev/null 2>&1
echo "$?"
