"""Token, site, device, state, feed, and a receiver of callbacks: with Python's standard library.

FORECOURT_URL, APP_ID and APP_SECRET say where and who; with PORT set it receives callbacks there until it has one.
"""
import base64, hashlib, hmac, json, os, threading, time, urllib.error, urllib.parse, urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

URL = os.environ.get("FORECOURT_URL", "http://127.0.0.1:8080")
APP_ID, APP_SECRET = os.environ["APP_ID"], os.environ["APP_SECRET"]


class Refused(Exception):
    def __init__(self, answer):
        super().__init__(f"{answer['code']} {answer['msg']} {answer['data']}")
        self.code = answer["code"]


def call(path, body=None, key=None, **query):
    """Posts a body, or reads by a query. Tries 429 and 503 again: a write under its key has one effect."""
    address = f"{URL}{path}?{urllib.parse.urlencode(query)}" if query else URL + path
    headers = {"Content-Type": "application/json"}
    if key:
        headers["Idempotency-Key"] = key
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    for attempt in range(5):
        try:
            with urllib.request.urlopen(urllib.request.Request(address, data, headers), timeout=30) as response:
                return json.load(response)["data"]
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503) or attempt == 4:
                raise Refused(json.load(error)) from None
            time.sleep(int(error.headers.get("Retry-After", "1")))


token = None
token = call(
    "/api/auth/v1/oauth/token",
    {"grant_type": "client_credentials", "client_id": APP_ID, "client_secret": APP_SECRET},
)["accessToken"]
place = {"provinceCode": "360000", "cityCode": "360100", "districtCode": "360102", "coordinates": "115.899918,28.676493"}
site = call("/api/charging/v1/siteManageThird/save", {
    "appId": APP_ID, "siteName": "Riverside charging park", "contacts": "Wang Fang", "contactsPhone": "13800000000",
    "customerServicePhone": "4000000000", "businessWeekDay": "Monday to Sunday", "businessStartTime": "00:00:00",
    "businessClosingTime": "24:00:00", "provinceName": "江西省", "cityName": "南昌市", "districtName": "东湖区", **place,
}, key=f"example-site-py-{APP_ID}")
print("site", site["id"])

device = f"PY-{APP_ID}"
try:
    call("/api/device/entrance/guard/create", {"appId": APP_ID, "deviceNo": device, "deviceName": "East gate barrier", **place})
except Refused as refused:
    if refused.code != 20017:  # It is ours already: an earlier run made it.
        raise
print("device", device)
call("/api/device/entrance/guard/state", {"deviceNo": device, "runStatus": 1, "batteryEnergy": "87%"})

after = 0
while True:  # In a program: remember the last id, and begin behind it.
    events = call("/api/event/v1/event/page", afterId=after, pageSize=100)["list"]
    if not events:
        break
    for event in events:
        print("event", event["type"])
    after = events[-1]["id"]


def is_signed(headers, body, secret):
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    text = f"{headers.get('webhook-id')}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest())
    return any(hmac.compare_digest(expected, given) for given in headers.get("webhook-signature", "").encode().split())


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        signed = is_signed(self.headers, body, secret)
        self.send_response(204 if signed else 401)
        self.send_header("content-length", "0")
        self.end_headers()
        if signed:
            print("callback", json.loads(body)["type"])
            received.set()

    def log_message(self, *args):
        pass


if "PORT" in os.environ:
    received = threading.Event()
    receiver = HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    call("/api/charging/v1/thirdPartyConfig/save", {
        "appId": APP_ID, "operatorName": "Greenway charging", "callbackEvents": ["site.created"],
        "callbackUrl": f"http://127.0.0.1:{os.environ['PORT']}/",
    })
    # The secret is shown when it is made; a new one is good from now on.
    secret = call("/api/charging/v1/thirdPartyConfig/rotateSecret", {"appId": APP_ID})["callbackSecret"]
    call("/api/event/v1/delivery/test", {"appId": APP_ID})
    received.wait(30)
    receiver.shutdown()
