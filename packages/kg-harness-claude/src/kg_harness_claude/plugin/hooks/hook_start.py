# Runs inside hook.py when a session starts and no server listens: `kg start`, then a bounded wait for the server.
# Leaves a connection to it in `s`, with its port and token. Says one thing itself: why there is no memory.
end += 6  # with the 2 s of the exchange: 8 s in all
command = [sys.executable, *["-P"] * (sys.version_info >= (3, 11)), "-m", "kg_shim"] if __package__ else ["kg"]
command.append("start")


def say(text):
    import json
    sys.stdout.buffer.write(json.dumps({"systemMessage": "Knowledge graph: " + text}).encode())
    sys.stdout.buffer.flush()
    o._exit(0)


def spawn():
    """Start the command with no stream of ours in a session of its own; answer a function: its exit code or None."""
    if hasattr(o, "posix_spawnp"):
        null = [(o.POSIX_SPAWN_OPEN, fd, "/dev/null", o.O_RDWR, 0) for fd in (0, 1, 2)]
        try:
            child = o.posix_spawnp(command[0], command, env, file_actions=null, setsid=True)
        except NotImplementedError:  # a C library without the session flag
            child = o.posix_spawnp(command[0], command, env, file_actions=null, setpgroup=0)

        def poll():
            try:
                done, status = o.waitpid(child, o.WNOHANG)
            except ChildProcessError:  # the client ignores its children's ends, and so do we: ended, how is not known
                return 0
            return status if done else None

        return poll
    import os, subprocess
    if not __package__:  # looked up here, as Windows itself would search the working folder first
        found = [folder + "\\kg.exe" for folder in os.environ["PATH"].split(";") if os.path.isabs(folder)]
        command[0] = next(filter(os.path.isfile, found), None)
        if not command[0]:
            raise FileNotFoundError
    null = subprocess.DEVNULL
    flags = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
    return subprocess.Popen(command, stdin=null, stdout=null, stderr=null, creationflags=flags).poll


try:
    poll = spawn()
except (FileNotFoundError, PermissionError):
    say(
        "the memory is off in this session, because the command `kg` is not on PATH. Install the packages kg-shim, "
        "kg-server and this client's plugin package as the README of kg says, or add their `kg` to the PATH that this "
        "client is started with, then start a new session."
    )
stale, code = line, None
while True:
    time.sleep(0.02)
    if code is None:
        code = poll()
    try:
        line = open(state + b"endpoint", "rb").read()
    except FileNotFoundError:
        line = b""
    # A new server has a new token. Where the token is the user's own the file stays as it was: then the exit code tells.
    if line and (line != stale or code == 0):
        port, token = line.split()
        s = _socket.socket()
        s.settimeout(0.25)
        try:
            s.connect(("127.0.0.1", int(port)))
            break
        except refused:
            pass
    if code:
        record = state + b"last_start_error"
        if time.time() - o.stat(record).st_mtime < 10:  # of this start, not of one long ago
            cause = open(record, "rb").read().decode("utf-8", "replace").strip().split("\n")[0]
            say("the memory is off in this session, because its server did not start. " + cause)
        o._exit(0)
    if time.monotonic() > end - 2:
        o._exit(0)
