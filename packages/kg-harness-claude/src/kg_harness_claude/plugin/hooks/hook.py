# Posts a client's hook payload (stdin) to the memory's server and prints the answer: hook.py EVENT [HARNESS]
# Compiled at every start, so flat and short. Whatever goes wrong it is silent and exits 0. The files
# hook_start.py and hook_remote.py beside it run inside this namespace when they are needed.
import sys, time
try:
    import _socket
    try:
        import posix as o
        env, refused, state = o.environ, ConnectionRefusedError, o.environ.get(b"XDG_STATE_HOME", b"")
        if state[:1] != b"/":
            state = env[b"HOME"] + b"/.local/state"
    except ImportError:
        import msvcrt, nt as o
        msvcrt.setmode(0, o.O_BINARY), msvcrt.setmode(1, o.O_BINARY)
        env = {k.upper().encode(): v.encode("utf-8", "surrogatepass") for k, v in o.environ.items()}
        refused, state = OSError, env[b"LOCALAPPDATA"]  # there a closed port times out before it refuses
    if env.get(b"KG_CHORE") or env.get(b"KG_HOOKS", b"").lower() in (b"off", b"0"):
        o._exit(0)
    path, agent = b"hook/" + sys.argv[1].encode(), b"kg-hook/1"
    if sys.argv[2:]:
        agent += b" (%b)" % sys.argv[2].encode()
    body = sys.stdin.buffer.read((16 << 20) + 1)
    if len(body) > 16 << 20:
        o._exit(0)
    end = time.monotonic() + 2  # one deadline for the whole exchange
    if env.get(b"KG_URL"):
        exec(open(__file__[:-3] + "_remote.py", "rb").read())
    port, root = int(env.get(b"KG_HTTP_PORT") or 8765), env.get(b"KG_STORAGE_ROOT") or b"~/.knowledge-graph"
    state += b"/knowledge-graph/" + (b"" if port == 8765 else b"port-%d/" % port)
    root = b"X-KG-Root: %%%b\r\n" % root.hex("%").encode()
    while path:
        s, line = _socket.socket(), b""
        s.settimeout(0.25)
        try:
            line = open(state + b"endpoint", "rb").read()
            port, token = line.split()
            s.connect(("127.0.0.1", int(port)))
        except (refused, FileNotFoundError, ValueError):
            if path != b"hook/SessionStart":
                break
            exec(open(__file__[:-3] + "_start.py", "rb").read())
        s.settimeout(end - time.monotonic())
        s.sendall(
            b"POST /api/%b HTTP/1.1\r\nHost: 127.0.0.1:%b\r\nUser-Agent: %b\r\nAuthorization: Bearer %b\r\n%b"
            b"Content-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b"
            % (path, port, agent, token, root, len(body), body)
        )
        answer, part = b"", b"-"
        while part:
            s.settimeout(end - time.monotonic())
            part = s.recv(262144)
            answer += part
        if path == b"ack":
            break
        head, _, reply = answer.partition(b"\r\n\r\n")
        low = head.lower() + b"\r\n"
        if head[9:12] != b"200" or b"\r\ncontent-length: %d\r\n" % len(reply) not in low or reply[:1] not in b"{":
            break  # an error, a cut answer, or the page of another program
        sys.stdout.buffer.write(reply)
        sys.stdout.buffer.flush()
        at = low.find(b"\r\nx-kg-ack: ")
        path, body = at > 0 and b"ack", b'{"id": "%b"}' % head[at + 12 :].partition(b"\r\n")[0]
except BaseException:
    pass
o._exit(0)
