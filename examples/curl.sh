#!/usr/bin/env bash
# Token, site, device, state, feed: with curl. FORECOURT_URL, APP_ID and APP_SECRET say where and who.
# `curl.sh verify ID TIMESTAMP SIGNATURES <body` says whether a callback is genuine; CALLBACK_SECRET is its secret.
set -euo pipefail

if [ "${1:-}" = verify ]; then
  body=$(mktemp) && trap 'rm -f "$body"' EXIT && cat >"$body"
  age=$(($(date +%s) - $3))
  [ "${age#-}" -le 300 ] || { echo 'too old'; exit 1; }
  key=$(printf %s "${CALLBACK_SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \n')
  expected=$({ printf '%s.%s.' "$2" "$3"; cat "$body"; } | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)
  for signature in $4; do
    if [ "$signature" = "v1,$expected" ]; then echo genuine; exit 0; fi
  done
  echo forged
  exit 1
fi

url=${FORECOURT_URL:-http://127.0.0.1:8080}

# One member of a JSON answer. Programs use a JSON parser; this reads what stands once.
member() { sed "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/"; }

token=$(curl -sf "$url/api/auth/v1/oauth/token" -d grant_type=client_credentials -d client_id="$APP_ID" \
  -d client_secret="$APP_SECRET" | member access_token)

# A write: the key makes a retry safe, and curl retries what is worth it. The answer tells a refusal, so no --fail.
post() {
  local answer
  answer=$(curl -s --retry 4 "$url$1" -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
    -H "Idempotency-Key: ${2:-none}" -d @-)
  case $answer in
  '{"code":0,'*) echo "$answer" ;;
  *) echo "$answer" >&2 && return 1 ;;
  esac
}

site=$(post /api/charging/v1/siteManageThird/save "example-site-sh-$APP_ID" <<EOF
{"appId":"$APP_ID","siteName":"Riverside charging park","contacts":"Wang Fang","contactsPhone":"13800000000",
 "customerServicePhone":"4000000000","businessWeekDay":"Monday to Sunday","businessStartTime":"00:00:00",
 "businessClosingTime":"24:00:00","provinceCode":"360000","provinceName":"江西省","cityCode":"360100",
 "cityName":"南昌市","districtCode":"360102","districtName":"东湖区","coordinates":"115.899918,28.676493"}
EOF
)
echo "site $(echo "$site" | sed 's/.*"data":{"id":\([0-9]*\).*/\1/')"

device="CURL-$APP_ID"
post /api/device/entrance/guard/create "example-device-$APP_ID" >/dev/null <<EOF
{"appId":"$APP_ID","deviceNo":"$device","deviceName":"East gate barrier","provinceCode":"360000","cityCode":"360100",
 "districtCode":"360102","coordinates":"115.899918,28.676493"}
EOF
echo "device $device"

post /api/device/entrance/guard/state >/dev/null <<EOF
{"deviceNo":"$device","runStatus":1,"batteryEnergy":"87%"}
EOF

# The feed: ask again with the last id as afterId.
curl -sfG "$url/api/event/v1/event/page" -H "Authorization: Bearer $token" -d afterId=0 -d pageSize=100 |
  grep -o '"type":"[^"]*"' | sed 's/.*:"\(.*\)"/event \1/'
