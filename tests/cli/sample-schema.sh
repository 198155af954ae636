# --json-schema: what is drawn is JSON that the schema describes.
command -v jq >/dev/null || { echo 'jq is not installed' >&2; exit 77; }
echo '{}' >any
gg-generate -p a -n 1 --json-schema any 2>&1 | grep 'no Jansson' >&2 && exit 77
cat >person <<'END'
{ "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A person",
  "$defs": { "name": { "type": "string", "minLength": 1, "maxLength": 8 } },
  "type": "object",
  "properties": {
    "name": { "$ref": "#/$defs/name" },
    "born": { "type": "string", "format": "date" },
    "age": { "type": ["integer", "null"] },
    "kind": { "enum": ["cat", "a \"dog\"", 7, null, { "a": [1, 2] }] },
    "kids": { "type": "array", "items": { "$ref": "#/$defs/name" },
              "minItems": 1, "maxItems": 2 },
    "at": { "type": "array", "prefixItems": [ { "type": "number" },
                                              { "const": "x" } ] },
    "or": { "anyOf": [ { "type": "boolean" }, { "type": "object",
            "additionalProperties": false } ] } },
  "required": ["name", "kind", "kids"], "additionalProperties": false }
END
draw() { gg-generate -p 'a tale' --temp 2 --top-k 0 --top-p 1 -n 300 "$@"; }
for s in 1 2 3 4 5 6 7 8; do
    draw -s $s --json-schema person
    echo
done >out
jq -c 'select((.name | type == "string" and length > 0 and length <= 8)
    and ((.born // "2000-01-01") | test("^[0-9]{4}-(0[1-9]|1[0-2])-[0-2][0-9]$"))
    and ((.age // 0) | type == "number" and floor == .)
    and ([.kind] | inside(["cat", "a \"dog\"", 7, null, { "a": [1, 2] }]))
    and (.kids | length >= 1 and length <= 2 and all(type == "string"))
    and ((.at // [1, "x"]) | length == 2 and .[1] == "x"
        and (.[0] | type == "number"))
    and (.or | . == null or . == true or . == false or . == {})
    and (keys - ["name", "born", "age", "kind", "kids", "at", "or"] == []))
    | type' out
jq -r 'keys_unsorted | join(" ")' out | awk '{ if (split($0, k) < 7) some = 1
    if (/born/) born = 1 } END { print "some without", some, "some with", born }'

# The pipe's bytes are gg-generate's.
draw -s 3 --json-schema person >want
printf 'a tale' | gg-tokenize | gg-loop 'gg-eval | gg-sample -n 300 -s 3 --temp 2 \
    --top-k 0 --top-p 1 --json-schema person' | gg-tokenize -d | cmp - want

# A list of itself; an array without items; words.
echo '{ "type": "object", "properties": { "v": { "type": "null" },
    "next": { "anyOf": [ { "$ref": "#" }, { "type": "null" } ] } },
    "required": ["v", "next"] }' >list
draw -s 1 --json-schema list | jq -c '[.. | objects | has("v") and has("next")] | all'
echo '{ "maxItems": 0 }' >none && draw -s 1 --json-schema none | jq -c .
printf '%s\n' '{ "const": { "a": "b\n\"" } }' >one
draw -s 1 --json-schema one | jq -c .
echo '{ "type": "string", "format": "date-time" }' >time
draw -s 1 --json-schema time | jq -c 'test("^[0-9-]{10}T[0-9:]{8}(\\.[0-9]+)?(Z|[+-][0-9:]{5})$")'

# Limits, a pattern, schemas put together.
cat >order <<'END'
{ "$defs": { "code": { "type": "string", "pattern": "^[A-Z]{2}-\\d{3,5}$" } },
  "allOf": [ { "properties": { "code": { "$ref": "#/$defs/code" },
                               "n": { "type": "integer", "minimum": 1 } },
               "required": ["code"] },
             { "properties": { "n": { "maximum": 12 } }, "required": ["n"] } ] }
END
for s in 1 2 3; do draw -s $s --json-schema order; echo; done |
    jq -c '(.code | test("^[A-Z]{2}-[0-9]{3,5}$")) and .n >= 1 and .n <= 12'

refused() {
    printf '%s\n' "$1" >bad
    gg-generate -p a --json-schema bad
    echo "status $?"
}
refused '{ "type": "objekt" }'
refused '{ "properties": { "a": { "items": { "not": {} } } } }'
refused '{ "type": "string", "pattern": "(?!a)b" }'
refused '{ "$ref": "#/$defs/none" }'
refused '{ "type": "string"'
refused '{ "type": "string", "pattern": "(a{9000}){9000}" }'
refused "$(awk 'BEGIN { for (i = 0; i < 70; i++) s = s "{\"items\":"
    s = s "{}"; for (i = 0; i < 70; i++) s = s "}"; print s }')"
gg-generate -p a --json-schema any --grammar any
echo "status $?"
