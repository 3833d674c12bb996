"""A headless Chromium to look at pages with, spoken to in the DevTools protocol through two pipes: nothing but Python is needed."""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    *("--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--no-first-run", "--disable-dev-shm-usage"),
    *(
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
        "--hide-scrollbars",
        "--mute-audio",
        "--disable-extensions",
    ),
    *(
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--force-device-scale-factor=1",
    ),
)

# the browser reads from 3 and writes to 4, wherever our ends lie
LAUNCH = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(fd), fcntl.F_DUPFD, 10) for fd in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""


def found() -> str | None:
    """Where Chromium is: $CHROMIUM, or the first of its usual names."""
    return os.environ.get("CHROMIUM") or next((path for name in NAMES if (path := shutil.which(name))), None)


class Chromium:
    """A running browser; `page(…)` opens one."""

    def __init__(self, path: str, *flags: str):
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        self._home = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        command = [path, *FLAGS, *flags, f"--user-data-dir={self._home.name}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(to_read), str(to_write), *command],
            pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self._number, self._left, self.events = 0, b"", []

    def ask(self, method: str, session: str | None = None, **params):
        """The answer to a command."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params} | ({"sessionId": session} if session else {})
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next(60.0)
            if answer is None:
                raise TimeoutError(f"Chromium did not answer {method}")
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, seconds: float) -> None:
        """Listens for events for so long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if (event := self._next(left)) is not None:
                self.events.append(event)

    def _next(self, seconds: float) -> dict | None:
        end = time.monotonic() + seconds
        while b"\0" not in self._left:
            if not select.select([self._read], [], [], max(0.0, end - time.monotonic()))[0]:
                return None
            piece = os.read(self._read, 1 << 20)
            if not piece:
                raise RuntimeError("Chromium has ended")
            self._left += piece
        message, _, self._left = self._left.partition(b"\0")
        return json.loads(message)

    def page(self, url: str, **options) -> "Page":
        return Page(self, url, **options)

    def close(self) -> None:
        try:
            self.ask("Browser.close")
        except (RuntimeError, TimeoutError, OSError):
            self._process.kill()
        self._process.wait(20)
        os.close(self._read)
        os.close(self._write)
        self._home.cleanup()


class Page:
    """An open page of a given size, dark or light, with or without motion."""

    def __init__(
        self,
        browser: Chromium,
        url: str,
        *,
        size=(1000, 640),
        dark=False,
        still=True,
        touch=False,
        scale=1,
        ready="window.phloat",
    ):
        self.browser, self.size = browser, size
        self.target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.ask("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.resize(*size, touch=touch, scale=scale)
        media = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"},
        ]
        self.ask("Emulation.setEmulatedMedia", features=media)
        if touch:
            self.ask("Emulation.setTouchEmulationEnabled", enabled=True)
        self.ask("Page.navigate", url=url)
        if ready:
            self.until(ready)

    def ask(self, method: str, **params):
        return self.browser.ask(method, self.session, **params)

    def resize(self, width: int, height: int, *, touch: bool = False, scale: float = 1) -> None:
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=touch
        )

    def __call__(self, expression: str):
        """The value of an expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def until(self, expression: str, seconds: float = 30.0):
        """Waits for an expression to become true."""
        end = time.monotonic() + seconds
        while not (value := self(f"Boolean({expression})")):
            if time.monotonic() > end:
                raise TimeoutError(
                    f"never true: {expression}; errors: {self.errors()}; page says {self('document.body.innerText')[:300]!r}"
                )
            self.browser.wait(0.02)
        return value

    def errors(self) -> list[str]:
        """What the console complained about, exceptions, and requests to anywhere but this file."""
        self.browser.wait(0.02)
        out = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            method, params = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                out.append(params["exceptionDetails"].get("exception", {}).get("description", "exception"))
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                out.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                out.append(params["entry"]["text"])
            elif method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(
                ("file:", "data:", "about:", "blob:")
            ):
                out.append(f"asked for {params['request']['url']}")
        return out

    def press(self, key: str, *, shift: bool = False) -> None:
        """A key, down and up."""
        codes = {
            " ": 32,
            "ArrowLeft": 37,
            "ArrowUp": 38,
            "ArrowRight": 39,
            "ArrowDown": 40,
            "Home": 36,
            "End": 35,
            "Tab": 9,
            "Enter": 13,
        }
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        modifiers = 8 if shift else 0
        code = codes.get(key, ord(key[0].upper()))
        common = {
            "key": key,
            "windowsVirtualKeyCode": code,
            "modifiers": modifiers,
            "code": "Space" if key == " " else key,
        }
        self.ask("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **common)

    def mouse(self, kind: str, x: float, y: float, **more) -> None:
        held = {"button": "left", "buttons": 1, "clickCount": 1} if kind != "mouseWheel" else {}
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **(held | more))

    def drag(self, start, end) -> None:
        self.mouse("mousePressed", *start)
        self.mouse("mouseMoved", *((a + b) / 2 for a, b in zip(start, end, strict=True)))
        self.mouse("mouseMoved", *end)
        self.mouse("mouseReleased", *end, buttons=0)

    def click(self, selector: str) -> None:
        """In the middle of an element, scrolled into view."""
        x, y = self.middle(selector)
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y, buttons=0)

    def middle(self, selector: str) -> tuple[float, float]:
        found = self(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'nearest'}});"
            "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        return tuple(found)

    def choose(self, selector: str, value: str) -> None:
        """A value of a select or a range."""
        self(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.value = {json.dumps(value)};"
            "e.dispatchEvent(new Event('input', {bubbles: true})); e.dispatchEvent(new Event('change', {bubbles: true})); })()"
        )

    def settled(self) -> None:
        """Until what was asked for is drawn."""
        self("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def text(self, selector: str) -> str:
        return self(f"document.querySelector({json.dumps(selector)}).innerText")

    def seen(self) -> bytes:
        """A screenshot as PNG."""
        self.settled()
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])

    def picture(self, path: Path) -> Path:
        """A screenshot in a file."""
        path.write_bytes(self.seen())
        return path

    def close(self) -> None:
        self.browser.ask("Target.closeTarget", targetId=self.target)
