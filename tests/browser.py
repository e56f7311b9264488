"""A headless Chromium, spoken to through a pipe: no library and no port is needed for that."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
MISSING = "Chromium is absent: apt-get install chromium"

_FLAGS = """
    --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars --remote-debugging-pipe
""".split()
_PATIENCE = 60  # seconds that anything may take on a busy machine

Message = dict[str, Any]


class Browser:
    """A browser with one page, and all that the page complained of."""

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="chromium-")  # for all that it writes: its own temporary files too
        (read, self._out), (self._in, write) = os.pipe(), os.pipe()
        command = [CHROMIUM, *_FLAGS, f"--user-data-dir={self._folder}/profile", "about:blank"]
        # The browser reads from 3 and writes to 4; by way of high numbers, as the pipes may have these themselves.
        script = f'exec 8<&{read} 9>&{write}; exec "$@" 3<&8 4>&9'
        self._process = subprocess.Popen(
            ["bash", "-c", script, "bash", *command],
            pass_fds=(read, write),
            stderr=subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": self._folder},
            start_new_session=True,
        )
        os.close(read)
        os.close(write)
        self._buffer, self._last, self._session = b"", 0, ""
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._loaded = False
        self._attach()

    def _attach(self) -> None:
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(each["targetId"] for each in targets if each["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Message:
        """Calls a method of the protocol."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        message |= {"sessionId": self._session} if self._session else {}
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            collected = self._read()
            if collected.get("id") == self._last:
                assert "error" not in collected, f"{method}: {collected['error']}"
                result: Message = collected["result"]
                return result

    def _read(self) -> Message:
        """The next message; what it says of the page is noted."""
        while b"\0" not in self._buffer:
            assert select.select([self._in], [], [], _PATIENCE)[0], "the browser does not answer"
            data = os.read(self._in, 1 << 16)
            assert data, "the browser ended"
            self._buffer += data
        data, _, self._buffer = self._buffer.partition(b"\0")
        message: Message = json.loads(data)
        values = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.complaints.append(str(values["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if values["type"] in ("error", "warning", "assert"):
                self.complaints.append(str(values["args"]))
            case "Log.entryAdded" if values["entry"]["level"] in ("error", "warning"):
                self.complaints.append(str(values["entry"]))
            case "Network.requestWillBeSent":
                self.requests.append(values["request"]["url"])
            case "Page.loadEventFired":
                self._loaded = True
        return message

    # ---- what a reader does

    def open(self, address: str | Path) -> None:
        """Opens a page, and waits until it is there."""
        self._loaded = False
        self.call("Page.navigate", url=address.as_uri() if isinstance(address, Path) else address)
        self.until(lambda: self._loaded and self.run("document.readyState") == "complete")

    def run(self, script: str) -> Any:
        """The value of an expression on the page."""
        response = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in response, response
        return response["result"].get("value")

    def until(self, holds: Callable[[], Any], patience: float = _PATIENCE) -> None:
        """Waits until something is true; a page that is left or not there yet has no answer."""
        end = time.monotonic() + patience
        while True:
            try:
                if holds():
                    return
                self.run("0")  # reads what the browser has sent
            except AssertionError:
                if time.monotonic() >= end:
                    raise
            assert time.monotonic() < end, "it never was so"
            time.sleep(0.01)  # here: a page without scripts has no timers

    def type(self, text: str) -> None:
        """Types letters, one after another."""
        for letter in text:
            self.call("Input.dispatchKeyEvent", type="keyDown", key=letter, text=letter)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=letter)

    def press(self, key: str) -> None:
        """Presses a key that writes nothing."""
        code = {"Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "Tab": 9}[key]
        more = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **more)

    def size(self, width: int, height: int, *, dark: bool = False, mobile: bool = False, scale: float = 1) -> None:
        """Shows the page at a size, on a light or a dark system."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def close(self) -> None:
        """Ends the browser and all processes of it, which would write to its folder while that is removed."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._out)
        while os.read(self._in, 1 << 16):  # until the last of them is deleted
            pass
        os.close(self._in)
        shutil.rmtree(self._folder)
