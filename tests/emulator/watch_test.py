"""The player's pages in a real browser: they render, light and dark and on a phone; a step changes what
it should; what waits says for whom; a bug's page shows its report.

usage: watch_test.py V3 V7 ZOO MUTATIONS     programs in the emulator
Needs what tests/explain/pages_test.py needs; exit code 77 where it is missing.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "explain"))
import pages_test  # noqa: E402
from pages_test import BROWSERS, DESK, FAILURES, MOST_BYTES, PHONE, Browser, expect  # noqa: E402

from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

MANY_EVENTS = 10000
SECONDS_TO_OPEN = 3  # one, on a machine that does nothing else


class Page:
    """A page in the browser, and the account in it, read without the page's own code."""

    def __init__(self, browser, name, width=DESK, scheme="light"):
        self.browser = browser
        self.file = browser.folder / f"{name}.html"
        text = self.file.read_text(encoding="utf-8")
        self.run = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))["run"]
        columns = self.run["event_columns"]
        self.events = [dict(zip(columns, row)) for row in self.run["events"]]
        for event in self.events:
            event["kind"] = self.run["event_kinds"][event["kind"]]
            event["barrier"] = (self.run["barriers"][event["barrier"]]["name"]
                                if event["barrier"] >= 0 else "")
        browser.open(name, width, scheme)

    def find(self, **wanted):
        return next(i for i, event in enumerate(self.events)
                    if all(event[key] == value for key, value in wanted.items()))

    def go(self, event):
        self.browser.js("const s = document.getElementById('slider'); s.value = arguments[0];"
                        "s.dispatchEvent(new Event('input'))", event)

    def press(self, *keys):
        self.browser.driver.find_element(By.TAG_NAME, "body").send_keys(*keys)

    def button(self, move):
        self.browser.driver.find_element(By.CSS_SELECTOR, f'[data-move="{move}"]').click()

    def at(self):
        return int(self.browser.js("return document.getElementById('slider').value"))

    def ring(self):
        return self.browser.js("return document.querySelector('#rings svg').ariaLabel")

    def barrier(self, name):
        return self.browser.js(
            "return [...document.querySelector(`[data-barrier='${arguments[0]}']`).cells]"
            ".map((cell) => cell.textContent)", name)

    def marks(self, line):
        return self.browser.js(
            "return [...document.querySelectorAll(`.source [data-line='${arguments[0]}'] .badge`)]"
            ".map((badge) => badge.textContent + (badge.classList.contains('waits') ? '…' : ''))",
            line)


def make(folder, v3, v7, zoo, mutations):
    def page(name, *words, code=0):
        result = subprocess.run([*words, "--watch", str(folder / f"{name}.html")],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        expect(f"{name} is made", result.returncode == code, result)

    textbook = ("--delays", "textbook")
    page("v3", v3, "--m", "128", "--n", "128", "--k", "512", *textbook)
    page("v7", v7, "--k", "320", *textbook)
    page("mixed", v3, "--m", "128", "--n", "128", "--k", "512")
    page("many", v3, "--m", "128", "--n", "128", "--k", "10880", *textbook)
    page("deadlock", zoo, "--show", "6", *textbook)
    page("hazard", zoo, "--show", "7", *textbook)
    page("removed", mutations, "v3", "--line", "97", *textbook)


def looks(browser):
    for name in ("v3", "v7", "mixed", "deadlock", "hazard", "removed"):
        papers = set()
        for width in (DESK, PHONE):
            for scheme in ("light", "dark"):
                page = Page(browser, name, width, scheme)
                where = f"{name}, {width} px, {scheme}"
                for event in (0, len(page.events) // 2, len(page.events) - 1):
                    page.go(event)
                    seen = browser.js(pages_test.LOOKS)
                    expect(f"{where}, event {event}: nothing sticks out", seen["width"] == width,
                           seen["width"])
                    expect(f"{where}, event {event}: all is there", not seen["empty"]
                           and not seen["nameless"], (seen["empty"], seen["nameless"]))
                expect(f"{where}: no complaint", not (said := browser.complaints()), said)
                papers.add(seen["paper"])
        expect(f"{name}: light and dark differ", len(papers) == 2, papers)
        expect(f"{name}: nothing from elsewhere", seen["fetched"] == 0, seen["fetched"])


def steps(browser):
    page = Page(browser, "v3")
    done = page.find(kind="complete", barrier="full[0]", phase=0)
    page.go(done - 1)
    expect("before the last byte is counted, stage 0 fills", "stage 0 is filling" in page.ring(),
           page.ring())
    expect("and its barrier is in phase 0", page.barrier("full[0]")[1:5]
           == ["0", "0", "0 of 1", "0"], page.barrier("full[0]"))
    page.press(Keys.ARROW_RIGHT)
    expect("the right arrow is one event", page.at() == done, page.at())
    expect("then stage 0 is full", "stage 0 is full with K tile 0" in page.ring(), page.ring())
    expect("and its barrier in phase 1", page.barrier("full[0]")[1:5] == ["1", "1", "1 of 1", "0"],
           page.barrier("full[0]"))
    said = browser.text("say")
    expect("what happened is said", "Phase 0 (parity 0) of full[0] is complete" in said
           and "last byte" in said, said)
    page.press(Keys.ARROW_LEFT)
    expect("the left arrow is one event back, with the state", page.at() == done - 1
           and "stage 0 is filling" in page.ring(), page.ring())
    issue = page.find(kind="wgmma")
    page.go(issue)
    expect("WGMMAs drain it", "stage 0 is draining with K tile 0" in page.ring(), page.ring())
    empty = page.find(kind="complete", barrier="empty[0]", phase=0)
    page.go(empty)
    expect("the last arrival makes it empty", "stage 0 is empty" in page.ring(), page.ring())
    arrive = page.find(kind="arrive", barrier="empty[0]", phase=0)
    page.go(arrive)
    expect("one warp of four has arrived", page.barrier("empty[0]")[3] == "96 of 128",
           page.barrier("empty[0]"))
    expect("the producer waits there", "P" in page.barrier("empty[0]")[5],
           page.barrier("empty[0]"))
    line = page.events[arrive]["line"]
    expect("the consumer's line is marked", page.marks(line) == ["C"], page.marks(line))
    wait = next(event["line"] for event in page.events
                if event["kind"] == "wait" and event["barrier"] == "empty[0]")
    expect("and the producer's, where it waits", page.marks(wait) == ["P…"], page.marks(wait))
    last = [i for i, event in enumerate(page.events)
            if i + 1 == len(page.events) or page.events[i + 1]["turn"] > event["turn"]]
    now = next(place for place, i in enumerate(last) if i >= arrive)
    ends = last[now - 1:now + 2]
    page.go(ends[1] - 1)
    for move, end in (("turn", ends[1]), ("turn", ends[2]), ("turn-back", ends[1]),
                      ("turn-back", ends[0])):
        page.button(move)
        expect(f"{move} goes to the end of a turn", page.at() == end, (page.at(), end))
    page.press(Keys.END)
    expect("End is the end", page.at() == len(page.events) - 1, page.at())
    expect("all have left", browser.text("roles").count("has left the kernel") == 2,
           browser.text("roles"))
    page.press(Keys.HOME)
    expect("Home is the beginning", page.at() == 0, page.at())
    page.press(Keys.SPACE)
    browser.js("return new Promise((done) => setTimeout(done, 900))")
    page.press(Keys.SPACE)
    stopped = page.at()
    expect("space plays", 1 <= stopped <= 5, stopped)
    browser.js("return new Promise((done) => setTimeout(done, 600))")
    expect("and stops", page.at() == stopped and browser.text("play") == "play", page.at())
    whole = browser.js("return document.querySelector('#timeline svg').ariaLabel")
    browser.get("closer").click()
    expect("zoom in shows fewer turns", whole
           != browser.js("return document.querySelector('#timeline svg').ariaLabel"), whole)
    expect("no complaint", not (said := browser.complaints()), said)


def details(browser):
    page = Page(browser, "v3")
    spans = page.run["spans"]
    columns = page.run["span_columns"]
    # The producer's first wait that lasts.
    number = next(i for i, row in enumerate(spans) if row
                  and (span := dict(zip(columns, row)))["kind"] == 0 and span["name"] == "wait empty[0]")
    span = dict(zip(columns, spans[number]))
    page.go(span["begin"] + 1)
    bar = browser.driver.find_element(By.CSS_SELECTOR, f'#timeline [data-span="{number}"]')
    browser.js("arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))", bar)
    text = browser.text("detail")
    last = page.events[page.events[span["cause"]]["cause"]]
    expect("a click on a waiting bar says what it waits for", "waits for parity 0 of empty[0]" in text
           and "the end of phase 0 of empty[0]: 128 arrivals" in text, text)
    expect("and who completes it", f"turn {last['turn']} the last arrival, by consumer (warp 3)"
           in text, text)
    expect("and what is missing now", "128 of 128 arrivals and 0 bytes are pending" in text, text)
    browser.driver.find_element(By.XPATH, f'//div[@id="detail"]//dd//button[text()="turn '
                                          f'{last["turn"]}"]').click()
    expect("its links lead there", page.events[page.at()]["turn"] == last["turn"], page.at())
    page.press(Keys.ESCAPE)
    expect("Escape closes it", not browser.get("detail").is_displayed())

    page = Page(browser, "deadlock")
    page.press(Keys.END)
    browser.driver.find_element(By.CSS_SELECTOR, "button.role.waits").click()
    text = browser.text("detail")
    expect("a wait for ever says that nobody comes", "for ever" in text and "never completed" in text
           and "nobody, in this run" in text, text)
    expect("and is red", browser.js("return document.querySelectorAll('.span.forever').length") == 2)


def hazard(browser):
    page = Page(browser, "hazard")
    button = browser.get("hazard")
    expect("a hazard is named", "(WAR)" in button.text, button.text)
    button.click()
    report = page.find(kind="report")
    expect("and can be gone to", page.at() == report, page.at())
    expect("its line is marked", browser.js(
        "return document.querySelector('.source li.bad').dataset.line")
        == str(page.events[report]["line"]))
    expect("an arrow leads from the WGMMA", browser.js(
        "return document.querySelectorAll('.link.bad').length") == 1)
    expect("the stage is marked", browser.js(
        "return document.querySelectorAll('.sector.clash').length") == 1)
    text = browser.js("return document.querySelector('pre.report').textContent")
    expect("the report is there", text == page.run["report"]["text"] and "  fix:" in text, text)
    new = browser.js("return [...document.querySelectorAll('.source li.new')].map((e) => e.textContent)")
    expect("and what is changed", len(new) == 2 and "mbarrier_arrive" in new[0], new)
    Page(browser, "removed")
    gone = browser.js("return document.querySelector('.source .gone').textContent")
    expect("a removed line is struck out", "mbarrier_arrive(&smem.empty[stage])" in gone, gone)


def many(browser):
    page = Page(browser, "many")
    size = page.file.stat().st_size
    expect(f"{len(page.events)} events are {size} bytes",
           len(page.events) >= MANY_EVENTS and size < MOST_BYTES)
    opened = browser.js("const t = performance.getEntriesByType('navigation')[0];"
                        "return t.loadEventEnd") / 1000
    expect(f"and open in {opened:.2f} s", 0 < opened < SECONDS_TO_OPEN)
    page.go(len(page.events) - 2)
    page.press(Keys.ARROW_LEFT)
    expect("a step back near the end", page.at() == len(page.events) - 3, page.at())


def main(programs):
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    if not program or not driver:
        print("no Chromium with its driver was found (chromium, chromium-driver)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        make(pathlib.Path(folder), *programs)
        browser = Browser(program, driver, pathlib.Path(folder))
        try:
            looks(browser)
            steps(browser)
            details(browser)
            hazard(browser)
            many(browser)
        finally:
            browser.driver.quit()
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
