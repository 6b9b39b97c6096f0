// What all explorers share. A page's script comes after it.
const data = JSON.parse(document.getElementById("data").textContent);

// An element; SVG if its name is one of SVG's. Attributes that are functions are listeners.
const SVG = new Set(["svg", "g", "rect", "path", "circle", "line", "text", "title"]);
function make(name, attributes = {}, ...children) {
  const element = SVG.has(name) ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}
const $ = (id) => document.getElementById(id);
const fill = (id, ...children) => $(id).replaceChildren(...children);
const number = (value) => value.toLocaleString("en-US");
const plural = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;
const range = (count) => Array.from({ length: count }, (_, i) => i);
const ceil = (a, b) => Math.floor((a + b - 1) / b);

// An SVG drawing: its fact is its text for those who cannot see it.
function drawing(width, height, fact, ...children) {
  return make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": fact }, ...children);
}
const text = (x, y, what, kind = "") => make("text", { x, y, class: kind }, String(what));
const box = (x, y, width, height, kind, more = {}) => make("rect", { x, y, width, height, class: kind, ...more });

// A number field's value, inside its limits.
function field(id) {
  const input = $(id);
  const value = Math.round(Number(input.value));
  return Math.min(Number(input.max), Math.max(Number(input.min), Number.isFinite(value) ? value : Number(input.min)));
}
function set(id, value) {
  if (document.activeElement !== $(id) || Number($(id).value) !== value) $(id).value = value;
}
const chosen = (name) => document.querySelector(`input[name="${name}"]:checked`).value;

// A row of radio buttons that looks like one switch.
function choices(id, name, legend, options, first, change) {
  const row = make("span", { class: "choices" }, ...options.map(([value, label]) => make("label", {},
    make("input", { type: "radio", name, value, checked: String(value) === String(first) ? "" : null, change }),
    make("span", {}, label))));
  $(id).replaceChildren(make("legend", {}, legend), row);
}

// Arrow keys move a selection on a drawing that has the focus.
function arrows(element, move) {
  element.setAttribute("tabindex", "0");
  element.setAttribute("role", "application");
  element.setAttribute("aria-roledescription", "drawing; arrow keys move the selection");
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  element.addEventListener("keydown", (event) => {
    if (!steps[event.key]) return;
    event.preventDefault();
    move(...steps[event.key]);
  });
}

// --- light and dark ---
const root = document.documentElement;
const remembered = { // file: pages may have no storage
  get() { try { return localStorage.getItem("theme"); } catch { return null; } },
  set(value) { try { localStorage.setItem("theme", value); } catch { /* not remembered */ } },
};
function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
function showTheme() {
  $("theme").textContent = isDark() ? "light" : "dark";
  $("theme").setAttribute("aria-label", `switch to ${isDark() ? "light" : "dark"}`);
}
if (remembered.get()) root.dataset.theme = remembered.get();
$("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  remembered.set(root.dataset.theme);
  showTheme();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
showTheme();
document.querySelector(`nav a[href="${document.body.dataset.page}.html"]`).setAttribute("aria-current", "page");
