# Records of /v1/embeddings and /v1/rerank: what gg-eval gives for the same.
make_model bert-f32 bert.gguf || exit 99
echo '{"prompt":"a"}' | gg-generate --jsonl -n 1 2>&1 |
    grep 'without Jansson' >&2 && exit 77
generate() { gg-generate --jsonl --pooling mean "$@" 2>/dev/null; }

echo '-- embeddings'
cat >in <<'END'
{"custom_id":"a","url":"/v1/embeddings","body":{"model":"m","input":"Once upon a time","user":"u"}}
{"custom_id":"b","url":"/v1/embeddings","body":{"input":["Once upon a time","A dog"],"dimensions":3}}
{"custom_id":"c","url":"/v1/embeddings","body":{"input":[5,6,7],"encoding_format":"base64","dimensions":4}}
{"custom_id":"d","url":"/v1/embeddings","body":{"input":[[5,6,7],[8]],"encoding_format":"float","dimensions":4}}
{"custom_id":"e","url":"/v1/completions","body":{"prompt":"Once upon","max_tokens":1}}
END
generate in >out
echo "status $?"
head -n 4 out | jq -c '.response | .status_code, (.body | .object, .model, .usage, (.data | map([.object, .index, (.embedding | length)])))'
tail -n 1 out | jq -c .response.body.object
values() { gg-logits --to text | awk -F '\t' 'NF == 2 && $1 ~ /^[0-9]/ { print $2 }'; }
printf 'Once upon a time' | gg-tokenize | gg-eval --embed mean | values >want
sed -n 1p out | jq '.response.body.data[0].embedding[]' >got
paste got want | awk '{ d = $1 - $2; if (d > 1e-6 || d < -1e-6) n++ } END { print (NR > 9), n + 0 }'
# Base64 is the bytes of the same floats.
sed -n 3p out | jq -r '.response.body.data[0].embedding' | base64 -d | od -An -v -t f4 --endian=little | tr -s ' ' '\n' | sed 1d >got
sed -n 4p out | jq '.response.body.data[0].embedding[]' >want
paste got want | awk '{ d = $1 - $2; if (d > 1e-6 || d < -1e-6) n++ } END { print NR, n + 0 }'
generate --batch 1 -t 2 in | head -n 4 >got
head -n 4 out | cmp - got

echo '-- an encoder'
cat >in <<'END'
{"custom_id":"a","url":"/v1/embeddings","body":{"input":[5,6,7]}}
{"custom_id":"b","url":"/v1/rerank","body":{"query":"a","documents":["b"]}}
{"prompt":"a"}
END
generate -m bert.gguf in | jq -c '.response.status_code, .error, (.response.body.error.message // empty)' 2>/dev/null

echo '-- what does not go'
cat >in <<'END'
{"custom_id":"a","url":"/v1/embeddings","body":{}}
{"custom_id":"a","url":"/v1/embeddings","body":{"input":[]}}
{"custom_id":"a","url":"/v1/embeddings","body":{"input":""}}
{"custom_id":"a","url":"/v1/embeddings","body":{"input":[999999]}}
{"custom_id":"a","url":"/v1/embeddings","body":{"input":"a","encoding_format":"x"}}
{"custom_id":"a","url":"/v1/embeddings","body":{"input":"a","dimensions":99999}}
{"custom_id":"a","url":"/v1/embeddings","body":{"input":"a","temperature":1}}
{"custom_id":"a","url":"/v1/rerank","body":{"query":"a","documents":[]}}
{"custom_id":"a","url":"/v1/rerank","body":{"documents":["a"]}}
{"custom_id":"a","url":"/v1/rerank","body":{"query":"a","documents":[1]}}
{"custom_id":"a","url":"/v1/rerank","body":{"query":"a","documents":["a"],"top_n":0}}
END
generate in | jq -c '[.response.status_code, .response.body.error.message]'
