const { modes, rows } = data.swizzle;
const { fields, operands } = data.descriptor;
const CELL = 38, LEFT = 46, TOP = 30, ROWS = 8;

let row = 5, k = 19;
const mode = () => modes[chosen("mode")];
const kk = () => Number(chosen("step"));
const chunkOf = (column) => Math.floor(column / 8);
const placeOf = (byte) => Math.floor(byte % 128 / 16);
const bankOf = (byte) => Math.floor(byte / 4) % data.swizzle.banks;
const base = () => Math.floor(row / ROWS) * ROWS;  // the first row of the eight that are shown

function select(newRow, newK) {
  row = Math.min(rows - 1, Math.max(0, newRow));
  k = Math.min(63, Math.max(0, newK));
  show();
}

// Eight rows of eight chunks. cell(row, column) says which chunk stands there.
function grid(fact, head, chunkAt, pick) {
  const parts = [], frames = [];  // frames lie on top of all cells
  for (const c of range(8)) parts.push(text(LEFT + c * CELL + CELL / 2, 22, head(c), "middle soft"));
  for (const r of range(ROWS)) {
    parts.push(text(LEFT - 8, TOP + r * CELL + CELL / 2 + 4, `row ${base() + r}`, "end soft"));
    for (const c of range(8)) {
      const chunk = chunkAt(base() + r, c), x = LEFT + c * CELL, y = TOP + r * CELL;
      parts.push(box(x, y, CELL, CELL, `cell hue${chunk}${chunk === chunkOf(k) ? "" : " faded"}`, { rx: 4, "data-row": base() + r, "data-chunk": chunk }));
      parts.push(text(x + CELL / 2, y + CELL / 2 + 4, chunk, "middle"));
      if (chunk === chunkOf(kk()) || chunk === chunkOf(kk()) + 1) frames.push(box(x + 3, y + 3, CELL - 6, CELL - 6, "asked", { rx: 3 }));
      if (base() + r === row && chunk === chunkOf(k)) frames.push(box(x + 1, y + 1, CELL - 2, CELL - 2, "chosen", { rx: 4 }));
    }
  }
  const image = drawing(LEFT + 8 * CELL + 2, TOP + ROWS * CELL + 2, fact, ...parts, ...frames);
  image.classList.add("grid");
  image.addEventListener("pointermove", (event) => {
    const { width, left, top } = image.getBoundingClientRect(), scale = (LEFT + 8 * CELL + 2) / width;
    const x = (event.clientX - left) * scale - LEFT, y = (event.clientY - top) * scale - TOP;
    if (x < 0 || y < 0 || x >= 8 * CELL || y >= ROWS * CELL) return;
    const r = base() + Math.floor(y / CELL), c = Math.floor(x / CELL), within = Math.floor(x % CELL / CELL * 8);
    const newK = chunkAt(r, c) * 8 + within;
    if (r !== row || newK !== k) pick(r, newK);
  });
  image.addEventListener("pointerdown", (event) => event.target.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: event.clientX, clientY: event.clientY })));
  return image;
}

// Which chunk of a row lies at each place.
function lies(r) {
  const places = Array(8).fill(0);
  for (const chunk of range(8)) places[placeOf(mode().bytes[r][chunk * 8])] = chunk;
  return places;
}

// The byte's ten bits: row, chunk, byte of the chunk.
function bits(byte) {
  const parts = [], width = 33;
  const plain = row % ROWS * 128 + k * 2, local = byte % 1024;
  const line = (y, value, label) => {
    parts.push(text(0, y + 18, label, "soft"));
    for (const i of range(10)) {
      const bit = 9 - i, group = bit >= 7 ? "hue5" : bit >= 4 ? "hue1" : "track";
      parts.push(box(70 + i * 29, y, 27, 27, group, { rx: 4 }));
      parts.push(text(70 + i * 29 + 13.5, y + 18, value >> bit & 1, "middle"));
    }
  };
  for (const i of range(10)) parts.push(text(70 + i * 29 + 13.5, 12, 9 - i, "middle soft"));
  line(20, plain, "plain");
  line(62, local, "lies at");
  parts.push(text(70 + 1.5 * 29 - 1, 108, "row mod 8", "middle soft"), text(70 + 4.5 * 29 - 1, 108, "chunk", "middle soft"), text(70 + 8 * 29 - 1, 108, "byte of the chunk", "middle soft"));
  return drawing(364, 114, $("xor").textContent, ...parts);
}

// How often eight rows of the chosen chunk ask each bank.
function banks() {
  const asked = Array(data.swizzle.banks).fill(0);
  for (const r of range(ROWS)) {
    const begin = mode().bytes[base() + r][chunkOf(k) * 8];
    for (const word of range(4)) ++asked[bankOf(begin + word * 4)];
  }
  const parts = [];
  for (const times of [1, 8]) {
    const y = 102 - times * 11;
    parts.push(make("line", { x1: 22, x2: 360, y1: y, y2: y, style: "stroke:var(--line)", "stroke-dasharray": "3 3" }), text(16, y + 4, times, "end soft"));
  }
  parts.push(text(22, 8, "times asked", "soft"));
  asked.forEach((times, bank) => {
    parts.push(box(22 + bank * 10.5, 102 - times * 11, 9.5, times * 11, `bar${times > 1 ? " over" : ""}`, { rx: 1.5 }));
    if (bank % 4 === 0) parts.push(text(22 + bank * 10.5, 116, bank, "soft"));
  });
  return drawing(362, 120, $("asked").textContent, ...parts);
}

function ruler(step) {
  const parts = [], bitsOf = BigInt(`0x${step.bits}`), first = BigInt(`0x${operands[Number($("operand").value)].steps[0].bits}`);
  const W = 11;
  for (const half of [1, 0]) {
    const y = half === 1 ? 0 : 78;
    fields.forEach((field, place) => {
      if (Math.floor(field.first / 32) !== half) return;
      const x = 4 + (31 - field.last % 32) * W, width = (field.last - field.first + 1) * W;
      parts.push(box(x, y + 16, width, 24, field.name === "unused" ? "track" : `hue${[5, 0, 2, 0, 3, 0, 6, 0, 0][place]}`, { rx: 3 }));
      const label = { 0: "start / 16", 2: "leading / 16", 4: "stride / 16", 6: "base", 8: "mode" }[place];
      if (label) parts.push(text(Math.max(x + width / 2, 16), y + 55, label, "middle soft"));
      if (field.name === "unused") return;
      parts.push(text(x, y + 11, field.last, "soft"));
      if (width > 40) parts.push(text(x + width, y + 11, field.first, "end soft"));
    });
    for (const i of range(32)) {
      const bit = BigInt(half * 32 + 31 - i), one = bitsOf >> bit & 1n;
      const differs = one !== (first >> bit & 1n);
      if (differs) parts.push(box(4 + i * W, y + 16, W, 24, "asked"));
      parts.push(text(4 + i * W + W / 2, y + 32, one, "middle"));
    }
  }
  return drawing(360, 136, $("changed").textContent, ...parts);
}

function showDescriptor() {
  const operand = operands[Number($("operand").value)], step = operand.steps.find((each) => each.kk === kk());
  $("value").textContent = `0x${step.bits.slice(0, 8)}'${step.bits.slice(8)}`;
  const start = (operand.address + kk() * 2).toString(16).padStart(5, "0");
  $("changed").textContent = kk() === 0
    ? `${operand.rows} rows that begin at shared address 0x${start}. Only the lowest 14 bits differ from operand to operand.`
    : `kk = ${kk()} adds ${kk() * 2 / 16} to the start: shared address 0x${start}, chunks ${chunkOf(kk())} and ${chunkOf(kk()) + 1} of every row. Framed: the bits that differ from kk = 0.`;
  fill("ruler", ruler(step));
  fill("fields", ...fields.map((field, place) => make("tr", {}, make("td", {}, `${field.first}–${field.last}`), make("td", {}, field.name),
    make("td", {}, `0x${step.values[place].toString(16).padStart(4, "0")}`), make("td", { class: "wrap" }, field.meaning))));
}

function show() {
  set("row", row);
  set("k", k);
  const swizzled = chosen("mode") === "swizzled", byte = mode().bytes[row][k], chunk = chunkOf(k), place = placeOf(byte);
  $("element").textContent = `Element (row ${row}, k ${k}) is in chunk ${chunk}, which lies at place ${place}: byte ${number(byte)} of the tile, bank ${bankOf(byte)}.`;
  $("outlined").textContent = `Framed: chunks ${chunkOf(kk())} and ${chunkOf(kk()) + 1}, which the WGMMA with kk = ${kk()} reads.`;
  $("lies").textContent = swizzled ? "Where it lies in shared memory: each colour is spread over all columns of banks."
    : "Where it would lie without the swizzle: each colour is one column, the same four banks.";
  $("xor").textContent = swizzled
    ? `Bits 4–6 of the address ^= bits 7–9: chunk ${chunk} XOR row ${row % ROWS} = place ${place}.`
    : "Without the swizzle the address stays as it is.";
  const times = mode().conflicts[chunk];
  $("asked").textContent = times === 1
    ? `Chunk ${chunk} of eight rows (what ldmatrix and stmatrix move at once, and a core matrix of WGMMA): each of the 32 banks is asked once, no conflict.`
    : `Chunk ${chunk} of eight rows (what ldmatrix and stmatrix move at once, and a core matrix of WGMMA): four banks are asked ${times} times each, one after the other.`;
  // Only what is shown is replaced: the drawing that has the focus, or the pointer, must stay.
  for (const [id, head, chunkAt] of [["matrix", (c) => `k ${c * 8}`, (r, c) => c], ["memory", (c) => `${c * 4}–${c * 4 + 3}`, (r, c) => lies(r)[c]]]) {
    const had = $(id).contains(document.activeElement);
    const image = grid(id === "matrix" ? "The tile as the matrix has it" : $("lies").textContent, head, chunkAt, select);
    arrows(image, (down, right) => select(row + down, k + right));
    fill(id, image);
    if (had) image.focus({ preventScroll: true });
  }
  $("memory").querySelector("svg").prepend(text(0, 22, "banks", "soft"));
  fill("bits", bits(byte));
  fill("banks", banks());
  showDescriptor();
}

choices("mode", "mode", "layout", [["swizzled", "128-byte swizzle"], ["plain", "no swizzle"]], "swizzled", show);
choices("step", "step", "kk", [[0, "0"], [16, "16"], [32, "32"], [48, "48"]], 0, show);
fill("operand", ...operands.map(({ version, name }, i) => make("option", { value: i }, `${version.split("_")[0]}: ${name}`)));
$("operand").addEventListener("change", show);
for (const id of ["row", "k"]) $(id).addEventListener("change", () => select(field("row"), field("k")));
show();
if (location.hash === "#descriptor") $("descriptor").scrollIntoView();
