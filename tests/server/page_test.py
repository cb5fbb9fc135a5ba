#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The page in a headless Chromium: against scripted answers, then against `gdn serve`.

usage: page_test.py [--gdn FILE] [--screenshots DIR] [--scripted]

Needs Debian's chromium, chromium-driver and python3-selenium, so Debian's python3. Prints a line a
check; exit code 1 where one failed. --scripted leaves the server out.
"""

import argparse
import base64
import contextlib
import hashlib
import pathlib
import re
import tempfile

from selenium import webdriver
from selenium.common.exceptions import (ElementClickInterceptedException,
                                        ElementNotInteractableException)
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import page_script
import serving
from serving import want, want_equal

PAGE = serving.ROOT / "src/server/page/index.html"
WAIT_S = 30


def open_browser(dark, width=1100):
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     f"--window-size={width},800", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
        {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    return browser


class Page:
    def __init__(self, browser, url):
        self.browser = browser
        browser.get(url)
        self.until(lambda: self.text("model"), "the name of the model")

    def find(self, name):
        return self.browser.find_element(By.ID, name)

    def text(self, name):
        return self.find(name).text

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def until(self, condition, what):
        WebDriverWait(self.browser, WAIT_S, 0.02).until(lambda _: condition(), f"no {what}")

    def fill(self, name, value):
        field = self.find(name)
        if not field.is_displayed():
            self.find("toggle").click()
        field.clear()
        field.send_keys(value)

    def send(self, text, wait=True):
        self.find("input").send_keys(text + Keys.ENTER)
        if wait:
            self.until(lambda: self.find("send").is_displayed(), "end of the answer")

    def answers(self):
        return [e.text for e in self.all(".message.assistant > .text")]

    def back(self):
        return self.browser.execute_script(
            "return getComputedStyle(document.body).backgroundColor")

    def severe(self):
        """What the console holds of errors, but for failed requests, which tests provoke."""
        return [entry["message"] for entry in self.browser.get_log("browser")
                if entry["level"] == "SEVERE" and "Failed to load resource" not in entry["message"]]


def check_hashes(check):
    @check("page: the policy has the hashes of its script and style, and allows no others")
    def _():
        text = PAGE.read_text(encoding="utf-8")
        for tag in ("script", "style"):
            body = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.S).group(1)
            digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
            want(f"{tag}-src 'sha256-{digest}'" in text,
                 f"the policy needs {tag}-src 'sha256-{digest}'")
        want("innerHTML" not in text and "unsafe-inline" not in text, "the page makes markup")
        outside = [u for u in re.findall(r"(?:src|href)=\"([^\"]*)", text) if u != "data:,"]
        want_equal(outside, [], "addresses of the page")


def scripted(browser, check, shots):
    with page_script.ScriptedServer(PAGE) as server:
        page = Page(browser, server.url)

        @check("page: text of a model is text, whatever it holds")
        def _():
            page.send("xss")
            want_equal(page.answers()[-1], page_script.XSS, "answer")
            want_equal(page.browser.execute_script("return window.hit"), None, "a script's trace")
            want_equal(page.all("#log img, #log script, #log b"), [], "elements of the answer")
            page.send("<i>mine</i>")
            want_equal(page.all("#log i"), [], "elements of the question")

        @check("page: the conversation is above the input, with the settings and without")
        def _():
            for _ in range(2):
                top = page.find("scroll").rect
                want(page.find("ask").rect["y"] >= top["y"] + top["height"], "they overlap")
                page.find("toggle").click()

        @check("page: reasoning is folded, and opens")
        def _():
            page.send("think")
            fold = page.all("details.reasoning")[-1]
            want_equal(fold.get_attribute("open"), None, "open")
            want(not fold.find_element(By.CLASS_NAME, "text").is_displayed(), "it is not folded")
            fold.find_element(By.TAG_NAME, "summary").click()
            want_equal(fold.find_element(By.CLASS_NAME, "text").text, "let me see", "reasoning")
            want_equal(page.answers()[-1], "seen", "answer")
            page.browser.save_screenshot(str(shots / "reasoning.png"))

        @check("page: characters and events that are cut anywhere are whole")
        def _():
            page.send("cut")
            want_equal(page.answers()[-1], page_script.CUT, "answer")

        @check("page: a stream that breaks off is an error, and its text is kept")
        def _():
            page.send("break")
            want_equal(page.answers()[-1], "half", "answer")
            want("cut short" in page.all(".message.error")[-1].text, "no error")

        @check("page: the server's error is shown and the question comes back to be sent again")
        def _():
            before = len(page.answers())
            page.send("refuse")
            want("429: the server is full" in page.all(".message.error")[-1].text, "no error")
            want_equal(page.find("input").get_attribute("value"), "refuse", "the input")
            want_equal(len(page.answers()), before, "number of answers")
            page.find("input").clear()

        @check("page: the settings are what is sent")
        def _():
            for name, value in (("system", "Be brief."), ("temperature", "0.5"), ("top_p", "0.9"),
                                ("top_k", "20"), ("min_p", "0.1"), ("max_tokens", "33"),
                                ("seed", "7")):
                page.fill(name, value)
            page.find("thinking").click()
            page.fill("key", "k-1" + Keys.TAB)
            page.send("settings")
            headers, body = server.requests[-1]
            sent = {name: body.get(name) for name in ("temperature", "top_p", "top_k", "min_p",
                                                      "max_tokens", "seed")}
            want_equal(sent, {"temperature": 0.5, "top_p": 0.9, "top_k": 20, "min_p": 0.1,
                              "max_tokens": 33, "seed": 7}, "sampling")
            want_equal(body["chat_template_kwargs"], {"enable_thinking": False}, "thinking")
            want_equal(body["messages"][0], {"role": "system", "content": "Be brief."}, "system")
            want_equal(headers["Authorization"], "Bearer k-1", "key")
            stores = page.browser.execute_script(
                "return [sessionStorage.getItem('key'), JSON.stringify(localStorage)]")
            want_equal(stores[0], "k-1", "the tab's key")
            want("k-1" not in stores[1], "the key is kept for longer than the tab")
            page.browser.save_screenshot(str(shots / "settings.png"))

        @check("page: a new chat sends nothing of the one before")
        def _():
            page.find("clear").click()
            page.fill("system", "")
            page.send("again")
            want_equal(server.requests[-1][1]["messages"], [{"role": "user", "content": "again"}],
                       "messages")

        @check("page: each control has a name")
        def _():
            nameless = [e.get_attribute("outerHTML") for e in page.all("button, input, textarea")
                        if e.is_displayed() and not e.accessible_name]
            want_equal(nameless, [], "controls without a name")

        @check("page: no error in the console")
        def _():
            want_equal(page.severe(), [], "errors")


def real(browser, check, shots, gdn):
    with serving.Server(binary=gdn) as server:
        page = Page(browser, server.url + "/")

        @check("page: an answer streams, and the last one's figures are shown")
        def _():
            page.fill("temperature", "0")
            page.fill("max_tokens", "60")
            page.find("toggle").click()
            page.send("In the beginning God created the heaven and the earth. " * 6, wait=False)
            page.until(lambda: page.answers() and page.answers()[0], "text")
            page.until(lambda: page.find("send").is_displayed(), "end of the answer")
            want(re.search(r"[\d.]+ tokens/s \u00b7 \d+ tokens \u00b7 prompt \d+ tokens, 0 cached",
                           page.text("stats")), f"the figures are {page.text('stats')!r}")

        @check("page: text is there before the answer ends, and Stop ends it")
        def _():
            page.fill("max_tokens", "1500")
            page.fill("temperature", "1.5")
            page.fill("seed", "3")  # of an answer that does not end with its first token
            page.find("toggle").click()
            page.send("And it came to pass", wait=False)
            page.until(lambda: len(page.answers()) == 2 and page.answers()[1], "text")
            with contextlib.suppress(ElementClickInterceptedException,
                                     ElementNotInteractableException):  # it may have ended by itself
                page.find("stop").click()
            page.until(lambda: page.find("send").is_displayed(), "Send")
            server.wait_idle(10)

        @check("page: the second turn of a conversation has cached tokens")
        def _():
            page.find("clear").click()
            page.fill("max_tokens", "20")
            page.fill("temperature", "0")
            page.find("toggle").click()
            page.send("And God saw the light, that it was good. " * 12)
            page.send("And then?")
            cached = re.search(r"(\d+) cached", page.text("stats"))
            want(cached and int(cached[1]) >= 64, f"the figures are {page.text('stats')!r}")

        @check("page: no error in the console")
        def _():
            want_equal(page.severe(), [], "errors")
        dark = page.browser.execute_script("return document.documentElement.dataset.theme")
        page.browser.save_screenshot(str(shots / f"chat-{dark}.png"))


def themes(browser, check, shots, dark):
    with page_script.ScriptedServer(PAGE) as server:
        page = Page(browser, server.url)
        name = "dark" if dark else "light"

        @check(f"page: follows a {name} system, and the button changes and keeps it")
        def _():
            shade = sum(map(int, re.findall(r"\d+", page.back())[:3]))
            want(shade < 150 if dark else shade > 600, f"the background is {page.back()}")
            page.send("hello")
            page.browser.save_screenshot(str(shots / f"scripted-{name}.png"))
            page.find("theme").click()
            other = page.back()
            page.browser.refresh()
            page.until(lambda: page.text("model"), "the name of the model")
            want_equal(page.back(), other, "the background after a reload")
            page.find("theme").click()

        @check(f"page: fits a telephone ({name})")
        def _():
            page.browser.set_window_size(500, 800)
            page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": 360, "height": 700, "deviceScaleFactor": 2, "mobile": True})
            page.send("hello")
            page.find("toggle").click()
            width = page.browser.execute_script("return document.documentElement.scrollWidth")
            want(width <= 360, f"the page is {width} wide, want 360")
            want(page.find("input").is_displayed() and page.find("seed").is_enabled(), "no input")
            page.browser.save_screenshot(str(shots / f"mobile-{name}.png"))
            page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--gdn", default=serving.ROOT / "build/gdn")
    parser.add_argument("--screenshots", type=pathlib.Path, help="(default: thrown away)")
    parser.add_argument("--scripted", action="store_true")
    args = parser.parse_args()
    check = serving.Checks()
    check_hashes(check)
    with tempfile.TemporaryDirectory() as folder:
        shots = args.screenshots or pathlib.Path(folder)
        shots.mkdir(parents=True, exist_ok=True)
        for dark in (False, True):
            browser = open_browser(dark)
            try:
                if not dark:
                    scripted(browser, check, shots)
                if not args.scripted:
                    real(browser, check, shots, args.gdn)
                themes(browser, check, shots, dark)
            finally:
                browser.quit()
    check.finish()


if __name__ == "__main__":
    main()
