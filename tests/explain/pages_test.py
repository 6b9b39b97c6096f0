"""The pages of explain in a real browser: they render, light and dark and on a phone, what is done to
them shows what the program says, and the arithmetic that they do themselves is the program's.

usage: pages_test.py EXPLAIN
Needs Debian's chromium, chromium-driver and python3-selenium; exit code 77 where they are missing.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DEBIAN_PYTHON = "/usr/bin/python3"
PHONE, DESK = 375, 1200
PAGES = ("phases", "swizzle", "fragment", "raster", "budget")
MOST_BYTES = 1500000
FAILURES = []

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select
except ImportError:
    # Debian's package is for Debian's python3, which need not be the one that CMake has found.
    if os.path.exists(DEBIAN_PYTHON) and "PAGES_TEST_AGAIN" not in os.environ:
        os.environ["PAGES_TEST_AGAIN"] = "1"
        os.execv(DEBIAN_PYTHON, [DEBIAN_PYTHON, *sys.argv])
    print("selenium was not found (python3-selenium)")
    sys.exit(77)


def expect(what, condition, detail=""):
    print(f"{'ok    ' if condition else 'FAILED'} {what}{'' if condition else f': {detail}'}")
    if not condition:
        FAILURES.append(what)


class Browser:
    def __init__(self, program, driver, folder):
        options = Options()
        options.binary_location = program
        # Without a sandbox: it opens nothing but these files, and root has none.
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--hide-scrollbars"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(driver), options=options)
        self.folder = folder

    def open(self, page, width=DESK, scheme="light"):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == PHONE})
        self.driver.get((self.folder / f"{page}.html").as_uri())

    def js(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def get(self, name):
        return self.driver.find_element(By.ID, name)

    def text(self, name):
        return self.get(name).text

    def choose(self, name, value):
        """As chosen from a list, or typed into a field."""
        self.js("const e = document.getElementById(arguments[0]); e.value = arguments[1];"
                "e.dispatchEvent(new Event('change'))", name, str(value))

    def complaints(self):
        return self.driver.get_log("browser")


def data_of(explain, topic, *words):
    return json.loads(subprocess.run([explain, topic, "--json", *words], check=True,
                                     stdout=subprocess.PIPE).stdout)


LOOKS = """
  const html = (e) => e.outerHTML.slice(0, 80);
  const all = (selector) => [...document.querySelectorAll(selector)];
  return {
    width: document.documentElement.scrollWidth,
    empty: all("figure, figcaption, .fact, #say").filter((e) => e.getBoundingClientRect().height < 10
      || !(e.textContent.trim() || e.querySelector("svg"))).map(html),
    small: all("svg text").map((e) => {
      const { a, b } = e.getScreenCTM();
      return [e.textContent, parseFloat(getComputedStyle(e).fontSize) * Math.hypot(a, b)];
    }).filter(([, size]) => size < 8.5),
    paper: getComputedStyle(document.body).backgroundColor,
    nameless: [...all("svg").filter((e) => !e.getAttribute("aria-label")),
      ...all("input, select").filter((e) => !e.labels.length)].map(html),
    fetched: performance.getEntriesByType("resource").length,
  };
"""


def looks(browser):
    for page in PAGES:
        papers = set()
        for width in (DESK, PHONE):
            for scheme in ("light", "dark"):
                browser.open(page, width, scheme)
                where = f"{page}, {width} px, {scheme}"
                seen = browser.js(LOOKS)
                expect(f"{where}: nothing sticks out", seen["width"] == width, seen["width"])
                expect(f"{where}: every figure and sentence is there", not seen["empty"],
                       seen["empty"])
                expect(f"{where}: text can be read", not seen["small"], seen["small"][:5])
                expect(f"{where}: drawings and fields have names", not seen["nameless"],
                       seen["nameless"])
                expect(f"{where}: no complaint", not (said := browser.complaints()), said)
                papers.add(seen["paper"])
        expect(f"{page}: light and dark differ", len(papers) == 2, papers)
        size = (browser.folder / f"{page}.html").stat().st_size
        expect(f"{page}: {size} bytes, nothing from elsewhere", size < MOST_BYTES
               and seen["fetched"] == 0)
    browser.open("phases", DESK, "dark")
    dark = browser.js("return getComputedStyle(document.body).backgroundColor")
    browser.get("theme").click()
    light = browser.js("return getComputedStyle(document.body).backgroundColor")
    browser.get("theme").click()
    again = browser.js("return getComputedStyle(document.body).backgroundColor")
    expect("the switch turns dark to light and back", dark == again != light, (dark, light))


# Notes each element that gets the focus: what it is, and whether one sees that it has it.
FOCUS = """
  window.reached = [];
  document.addEventListener("focusin", ({ target }) => {
    const seen = [target, target.nextElementSibling].some((e) =>
      e && getComputedStyle(e).outlineStyle !== "none");
    window.reached.push([target.id || target.name || target.textContent, seen]);
  });
"""


def keyboard(browser):
    for page in PAGES:
        browser.open(page)
        browser.js(FOCUS)
        browser.driver.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB * 40)
        reached = dict(browser.js("return window.reached"))
        wanted = set(browser.js(
            "return [...document.querySelectorAll('main button:not(:disabled), main select,"
            " main input')].map((e) => e.id || e.name || e.textContent)"))
        expect(f"{page}: {len(wanted)} controls by the tab key", wanted <= set(reached),
               wanted - set(reached))
        expect(f"{page}: the focus is seen", reached and all(reached.values()), reached)


# Clicks on actions, one after the other; what is to be read after each.
ACT = """
  return arguments[0].map((action) => {
    document.querySelector(`[data-action="${action}"]`).click();
    return [document.getElementById("say").textContent,
      [...document.querySelectorAll("#history tr.now td")].map((cell) => cell.textContent).slice(-5),
      [0, 1].map((parity) => document.querySelector(`#wait${parity} b`).textContent.split(" ")[1])];
  });
"""


def phases(browser, barriers):
    """Every action on every barrier, along the program's own states."""
    browser.open("phases")
    for number, barrier in enumerate(barriers):
        browser.choose("barrier", number)
        actions = [(step * 7 + step // 3) % len(barrier["actions"]) for step in range(100)]
        state, phase, wrong = 0, 0, []
        for action, (say, row, gates) in zip(actions, browser.js(ACT, actions)):
            edge = barrier["states"][state]["edges"][action]
            if edge["to"] < 0:
                good = say == edge["refused"]
            else:
                state, phase = edge["to"], phase + edge["completes"]
                good = ("complete" in say) == edge["completes"]
            now = barrier["states"][state]
            passes = ["passes" if each else "waits" for each in now["passes"]]
            good &= row == [str(phase), str(now["arrivals"]), f"{now['bytes']:,}", *passes]
            if not good or gates != passes:
                wrong.append((action, say, row, gates))
        expect(f"phases: {barrier['name']}, {len(actions)} actions", not wrong and phase > 0, wrong[:1])
    browser.choose("barrier", 0)
    browser.js("document.querySelector('[data-action]').focus()")
    for _ in range(2):
        browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    rows = browser.driver.find_elements(By.CSS_SELECTOR, "#history tr")
    expect("phases: an action by the keyboard, twice", len(rows) == 3
           and "refused" in rows[0].text, [row.text for row in rows])
    browser.get("reset").click()
    for _ in range(5):
        browser.get("next").click()
    expect("phases: a story goes on", "phase 0 is complete, phase 1 has begun" in
           browser.text("say") and browser.text("wait0").startswith("wait(0) passes"),
           browser.text("say"))
    browser.get("back").click()
    browser.driver.find_element(By.TAG_NAME, "body").send_keys(Keys.ARROW_LEFT)
    expect("phases: and back", "A has landed" in browser.text("say") and "(4 of" in
           browser.text("next"), browser.text("say"))
    for number, barrier in enumerate(barriers):
        browser.choose("barrier", number)
        stories = len(Select(browser.get("story")).options)
        for story in range(stories):
            browser.choose("story", story)
            browser.js("const next = document.getElementById('next');"
                       "while (!next.disabled) next.click()")
            refused = "refused" in browser.get("say").get_attribute("class")
            expect(f"phases: {barrier['name']}, story {story} can be told to its end", refused == (
                (barrier["name"], story) == ("full of v1", 2)), browser.text("say"))


def swizzle(browser, layout, descriptor):
    browser.open("swizzle")
    good = True
    for mode in ("swizzled", "plain"):
        browser.js("document.querySelector(`input[value='${arguments[0]}']`).click()", mode)
        for row, k in ((0, 0), (5, 19), (7, 63), (15, 8), (9, 33)):
            browser.choose("row", row)
            browser.choose("k", k)
            byte = layout["modes"][mode]["bytes"][row][k]
            said = browser.text("element")
            good &= f"byte {byte:,} of" in said and f"bank {byte // 4 % 32}." in said
            asked = layout["modes"][mode]["conflicts"][k // 8]
            good &= ("no conflict" if asked == 1 else f"asked {asked} times") in browser.text("asked")
    expect("swizzle: bytes, banks and conflicts", good, browser.text("element"))
    cell = browser.driver.find_element(By.CSS_SELECTOR, "#memory [data-row='11'][data-chunk='6']")
    webdriver.ActionChains(browser.driver).move_to_element(cell).perform()
    expect("swizzle: pointing at a chunk", "(row 11, k 5" in browser.text("element")
           and "chunk 6" in browser.text("element"), browser.text("element"))
    browser.driver.find_element(By.CSS_SELECTOR, "#matrix svg").send_keys(
        Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    expect("swizzle: arrow keys, more than once", "(row 12, k 5" in browser.text("element"),
           browser.text("element"))
    good = True
    for place, operand in enumerate(descriptor["operands"]):
        browser.choose("operand", place)
        for step, (value, bits) in zip(operand["steps"], browser.js("""
            return arguments[0].map(({ kk }) => {
              document.querySelector(`input[name=step][value="${kk}"]`).click();
              return [document.getElementById("value").textContent,
                [...document.querySelectorAll("#ruler text.middle")].map((t) => t.textContent)
                  .filter((t) => /^[01]$/.test(t)).join("")];
            })""", operand["steps"])):
            good &= value.replace("'", "") == "0x" + step["bits"]
            good &= len(bits) == 64 and int(bits, 2) == int(step["bits"], 16)
    expect("descriptor: every operand, value and bits", good, browser.text("value"))


def fragment(browser, table):
    browser.open("fragment")
    good = True
    browser.get("row").clear()
    browser.get("row").send_keys("9", Keys.TAB)
    expect("fragment: a row is typed", "(row 9, column 19)" in browser.text("element"),
           browser.text("element"))
    for row, column in ((0, 0), (8, 1), (63, 255), (37, 100)):
        browser.choose("row", row)
        browser.choose("column", column)
        place = row * table["columns"] + column
        thread, register = table["threads"][place], table["registers"][place]
        said = browser.text("element")
        good &= f"lane {thread % 32} (thread {thread}), register {register}." in said
        byte = table["staged"][thread * 32 + register % 32]
        good &= f"at byte {byte:,}." in browser.text("written")
    expect("fragment: an element's thread, register and byte", good, browser.text("element"))
    for name, value in (("warp", 2), ("lane", 13), ("register", 70)):
        browser.choose(name, value)
    place = int(browser.get("row").get_attribute("value")) * table["columns"] + int(
        browser.get("column").get_attribute("value"))
    expect("fragment: a thread and register's element", (table["threads"][place], table["registers"]
           [place]) == (77, 70), browser.text("element"))
    browser.choose("n", 128)
    expect("fragment: a narrower product has fewer columns",
           int(browser.get("column").get_attribute("value")) < 128
           and "64 results" in browser.text("owns"), browser.text("owns"))


def raster(browser, explain):
    browser.open("raster")
    held = data_of(explain, "raster")["held"]
    wrong = browser.js("""
      return arguments[0].filter((held) => {
        const mine = walk(held.version, held.m, held.n, held.sms);
        return digest(mine) !== held.digest || mine.together !== held.together
          || mine.group !== held.group || JSON.stringify(wavesOf(mine).map((wave) =>
            [wave.tiles.length, wave.rows.size, wave.columns.size])) !== JSON.stringify(held.waves);
      }).map((held) => `${held.version} ${held.m}x${held.n} on ${held.sms}`)""", held)
    expect(f"raster: the order of {len(held)} walks is the kernels' own", len(held) > 200
           and not wrong, wrong[:5])
    asked = data_of(explain, "raster", "--m", "4000", "--n", "5000", "--sms", "100")["asked"]
    browser.choose("m", 4000)
    browser.choose("n", 5000)
    browser.choose("sms", 100)
    for each in asked:
        browser.choose("version", each["version"])
        tiles, rows, columns = each["waves"][0]
        expect(f"raster: {each['version']}", browser.text("counted").startswith(
            f"Wave 1: {tiles} tiles, {rows} strips of A and {columns} strips of B"),
               browser.text("counted"))
    browser.get("after").click()
    expect("raster: the next wave", browser.text("counted").startswith("Wave 2:"),
           browser.text("counted"))


def budget(browser, numbers):
    browser.open("budget")
    names = {"accumulators": "accumulators", "registers": "registers", "stageBytes": "stage_bytes",
             "byRegisters": "blocks_by_registers", "byShared": "blocks_by_shared",
             "byThreads": "blocks_by_threads", "blocks": "blocks", "limit": "limit",
             "fmaPerByte": "fma_per_byte", "cycles": "cycles", "l2": "l2_bytes_per_cycle",
             "smem": "shared_bytes_per_cycle"}
    held = numbers["held"] + numbers["versions"]
    wrong = browser.js("""
      return arguments[0].flatMap((held) => {
        const mine = budgetOf({ blockM: held.block_m, blockN: held.block_n, stages: held.stages,
          consumers: held.consumers, threads: held.threads, perSm: held.blocks_per_sm,
          cluster: held.cluster, setmaxnreg: held.consumer_registers, shared: held.shared_bytes });
        return Object.entries(arguments[1]).filter(([own, theirs]) => typeof mine[own] === "number"
          ? Math.abs(mine[own] - held[theirs]) > 1e-9 : mine[own] !== held[theirs])
          .map(([own, theirs]) => [held, own, mine[own], held[theirs]]);
      })""", held, names)
    expect(f"budget: {len(held)} tiles as the program has them", len(held) > 200 and not wrong,
           wrong[:2])
    for place, version in enumerate(numbers["versions"]):
        browser.choose("preset", place)
        expect(f"budget: {version['version']}, {version['block_m']}x{version['block_n']} fits",
               browser.text("verdict").startswith("Fits")
               and f"{version['shared_bytes'] / 1024:.0f} of 227 KiB" in browser.text("space"),
               browser.text("verdict"))
    browser.choose("stages", 6)
    expect("budget: too many stages", "Does not fit" in browser.text("verdict"),
           browser.text("verdict"))


def main(explain):
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        print("no browser was found (chromium, chromium-driver)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([explain, "phases", "--page", folder], check=True, stdout=subprocess.DEVNULL)
        browser = Browser(program, driver, pathlib.Path(folder))
        try:
            looks(browser)
            keyboard(browser)
            phases(browser, data_of(explain, "phases")["barriers"])
            swizzle(browser, data_of(explain, "swizzle"), data_of(explain, "descriptor"))
            fragment(browser, data_of(explain, "fragment"))
            raster(browser, explain)
            budget(browser, data_of(explain, "budget"))
            expect("no complaint at the end", not (said := browser.complaints()), said)
        finally:
            browser.driver.quit()
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
