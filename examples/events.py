"""Follows the events of an application as they are written. POSITION is the file with the id of the last event: after a
kill the program continues there."""
import http.client, json, os, random, time, urllib.error, urllib.parse, urllib.request

URL = os.environ.get("FORECOURT_URL", "http://127.0.0.1:8080")
POSITION = os.environ.get("POSITION", "position.txt")

def new_token():
    form = {"grant_type": "client_credentials", "client_id": os.environ["APP_ID"], "client_secret": os.environ["APP_SECRET"]}
    body = urllib.parse.urlencode(form).encode()
    with urllib.request.urlopen(f"{URL}/api/auth/v1/oauth/token", body, timeout=30) as answer:
        return json.load(answer)["access_token"]

def read_position():
    if not os.path.exists(POSITION):
        return "0"
    with open(POSITION) as file:
        return file.read()

def keep_position(event_id):
    with open(f"{POSITION}.new", "w") as file:
        file.write(event_id)
    os.replace(f"{POSITION}.new", POSITION)

def blocks(stream):
    """The blocks of the stream: lines of the form `name: value`, up to an empty line."""
    block = {}
    for line in stream:
        name, _, value = line.decode().rstrip("\n").partition(":")
        if line != b"\n":
            block[name] = value.removeprefix(" ")
        else:
            yield block
            block = {}

pause = 3
while True:
    try:
        headers = {"Authorization": f"Bearer {new_token()}", "Last-Event-ID": read_position()}
        request = urllib.request.Request(f"{URL}/api/event/v1/event/stream", headers=headers)
        # Something comes every 15 seconds.
        with urllib.request.urlopen(request, timeout=45) as stream:
            for block in blocks(stream):
                if "retry" in block:
                    pause = int(block["retry"]) / 1000
                if block.get("event", "closed") != "closed":
                    print(block["id"], block["event"], flush=True)
                # Only after the work: if the program is killed in between, the event comes again, with the same id.
                if "id" in block:
                    keep_position(block["id"])
    except urllib.error.HTTPError as error:
        if error.code < 500 and error.code != 429:
            raise
    except (OSError, http.client.HTTPException):
        pass
    time.sleep(pause * (1 + random.random() / 4))
