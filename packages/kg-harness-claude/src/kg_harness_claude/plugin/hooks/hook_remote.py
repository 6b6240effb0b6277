# Runs inside hook.py when KG_URL names a server elsewhere: the same exchange, http or https. Slower to load, never later.
import _thread, http.client, os, urllib.parse
speaking = False


def watch():
    while speaking or time.monotonic() < end:
        time.sleep(0.02)
    o._exit(0)  # whatever hangs (name look-up, handshake, a dripping answer) hangs no longer


_thread.start_new_thread(watch, ())
url = urllib.parse.urlsplit(env[b"KG_URL"].decode())
headers = {"User-Agent": agent.decode(), "Content-Type": "application/json", "Connection": "close"}
if env.get(b"KG_TOKEN_FILE"):
    with open(os.path.expanduser(env[b"KG_TOKEN_FILE"]), "rb") as file:
        headers["Authorization"] = "Bearer " + file.read().strip().decode()
kind = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}[url.scheme]
while path:
    link = kind(url.hostname, url.port, timeout=2)
    link.request("POST", url.path.rstrip("/") + "/api/" + path.decode(), body, headers)
    answer = link.getresponse()
    if path == b"ack" or answer.status != 200 or answer.length is None and not answer.chunked:
        break
    reply = answer.read()  # raises when the answer was cut
    if reply[:1] not in b"{":
        break
    speaking = True
    sys.stdout.buffer.write(reply)
    sys.stdout.buffer.flush()
    speaking = False
    ack = answer.getheader("X-KG-Ack")
    path, body = ack and b"ack", b'{"id": "%b"}' % (ack or "").encode()
o._exit(0)
