const { columns, threads, registers, staged, lanes } = data.fragment;
const ROWS = 64;

let row = 5, column = 19;
let available = 320;  // width, in pixels
const width = () => Number($("n").value);
const at = (r, c) => ({ thread: threads[r * columns + c], register: registers[r * columns + c] });
// [thread][register] → [row, column], the table turned round.
const where = range(128).map(() => Array(columns / 2));
for (const r of range(ROWS)) for (const c of range(columns)) where[at(r, c).thread][at(r, c).register] = [r, c];

function select(newRow, newColumn) {
  row = Math.min(ROWS - 1, Math.max(0, newRow));
  column = Math.min(width() - 1, Math.max(0, newColumn));
  show();
}

function pointed(image, viewWidth, pick) {
  const listen = (event) => {
    const { width: shown, left, top } = image.getBoundingClientRect();
    pick((event.clientX - left) * viewWidth / shown, (event.clientY - top) * viewWidth / shown);
  };
  image.classList.add("grid");
  image.addEventListener("pointermove", listen);
  image.addEventListener("pointerdown", listen);
}

function put(id, image, move) {
  const had = $(id).contains(document.activeElement);
  arrows(image, move);
  fill(id, image);
  if (had) image.focus({ preventScroll: true });
}

// All of it, small: the warps as bands, what the thread holds as dots.
function whole() {
  const LEFT = 52, SCALE_X = (available - LEFT - 4) / columns, SCALE_Y = 2.2, parts = [];
  for (const w of range(4)) {
    parts.push(box(LEFT, w * 16 * SCALE_Y, width() * SCALE_X, 16 * SCALE_Y, `cell hue${[5, 3, 2, 0][w]}`));
    parts.push(text(LEFT - 8, w * 16 * SCALE_Y + 21, `warp ${w}`, "end soft"));
  }
  for (const [r, c] of where[at(row, column).thread]) {
    if (c < width()) parts.push(box(LEFT + c * SCALE_X, r * SCALE_Y, SCALE_X, SCALE_Y, "mine", { style: "fill:var(--ink)" }));
  }
  parts.push(box(LEFT + Math.floor(column / 8) * 8 * SCALE_X, Math.floor(row / 16) * 16 * SCALE_Y, 8 * SCALE_X, 16 * SCALE_Y, "chosen"));
  const total = LEFT + columns * SCALE_X + 4;
  const image = drawing(total, ROWS * SCALE_Y + 18, $("owns").textContent, ...parts,
    text(LEFT, ROWS * SCALE_Y + 14, "column 0", "soft"), text(LEFT + width() * SCALE_X, ROWS * SCALE_Y + 14, width() - 1, "soft end"));
  pointed(image, total, (x, y) => {
    const c = Math.floor((x - LEFT) / SCALE_X), r = Math.floor(y / SCALE_Y);
    if (c >= 0 && c < width() && r >= 0 && r < ROWS && (c !== column || r !== row)) select(r, c);
  });
  return image;
}

// 16 rows of a warp, 8 columns: lane and register of each.
function zoom() {
  const W = 39, H = 21, LEFT = 44, TOP = 18, parts = [];
  const firstRow = Math.floor(row / 16) * 16, firstColumn = Math.floor(column / 8) * 8;
  const own = at(row, column);
  for (const c of range(8)) parts.push(text(LEFT + c * W + W / 2, 12, firstColumn + c, "middle soft"));
  for (const i of range(16)) {
    const r = firstRow + i;
    parts.push(text(LEFT - 8, TOP + i * H + 14, `row ${r}`, "end soft"));
    for (const j of range(8)) {
      const { thread, register } = at(r, firstColumn + j), x = LEFT + j * W, y = TOP + i * H;
      parts.push(box(x, y, W, H, `cell hue${[5, 2, 3, 0][(thread % 4 + 4) % 4]}${thread === own.thread ? "" : " faded"}`, { rx: 2 }));
      parts.push(text(x + W / 2, y + 14.5, `${thread % 32}:${register}`, "middle"));
      if (r === row && firstColumn + j === column) parts.push(box(x + 1, y + 1, W - 2, H - 2, "chosen", { rx: 2 }));
    }
  }
  const total = LEFT + 8 * W + 2;
  const image = drawing(total, TOP + 16 * H + 2, $("zoomed").textContent, ...parts);
  pointed(image, total, (x, y) => {
    const c = Math.floor((x - LEFT) / W), r = Math.floor((y - TOP) / H);
    if (c >= 0 && c < 8 && r >= 0 && r < 16 && (firstColumn + c !== column || firstRow + r !== row)) select(firstRow + r, firstColumn + c);
  });
  return image;
}

// The warp's rows of the staged tile: the 16-byte places that one stmatrix.x4 fills.
function stagedTile() {
  const W = 39, H = 21, LEFT = 44, TOP = 18, parts = [];
  const firstRow = Math.floor(row / 16) * 16, block = Math.floor(column / 64) * 64;
  const chunkOf = {};  // byte of a place → the chunk of columns that lies there
  for (const r of range(16)) for (const chunk of range(8)) {
    const { thread, register } = at(firstRow + r, chunk * 8);
    chunkOf[staged[thread * 32 + register]] = chunk;
  }
  const inBlock = column - block, pair = Math.floor(inBlock / 16);
  parts.push(text(LEFT - 8, 12, "byte", "end soft"));
  for (const p of range(8)) parts.push(text(LEFT + p * W + W / 2, 12, `+${p * 16}`, "middle soft"));
  for (const i of range(16)) {
    parts.push(text(LEFT - 8, TOP + i * H + 14, `row ${firstRow + i}`, "end soft"));
    for (const p of range(8)) {
      const byte = (firstRow + i) * 128 + p * 16, chunk = chunkOf[byte], x = LEFT + p * W, y = TOP + i * H;
      const matrix = (i >= 8 ? 1 : 0) + chunk % 2 * 2, together = Math.floor(chunk / 2) === pair;
      parts.push(box(x, y, W, H, `cell hue${[5, 2, 3, 0][matrix]}${together ? "" : " faded"}`, { rx: 2 }));
      if (together) parts.push(text(x + W / 2, y + 14.5, lanes[byte / 16], "middle"));
      if (firstRow + i === row && chunk === Math.floor(inBlock / 8)) parts.push(box(x + 1, y + 1, W - 2, H - 2, "chosen", { rx: 2 }));
    }
  }
  return drawing(LEFT + 8 * W + 2, TOP + 16 * H + 2, $("written").textContent, ...parts);
}

function show() {
  $("column").max = width() - 1;
  $("register").max = width() / 2 - 1;
  const { thread, register } = at(row, column), lane = thread % 32, warp = Math.floor(thread / 32);
  for (const [id, value] of Object.entries({ row, column, warp, lane, register })) set(id, value);
  $("element").textContent = `Element (row ${row}, column ${column}) is in warp ${warp}, lane ${lane} (thread ${thread}), register ${register}.`;
  $("owns").textContent = `Thread ${thread} holds ${width() / 2} results (marked): two rows, and of every eight columns two neighbours.`;
  $("zoomed").textContent = "lane:register. A colour is a lane of each quad; four lanes hold eight columns of a row, two registers each.";
  const first = Math.floor(column / 16) * 16, byte = staged[thread * 32 + register % 32], whole64 = Math.floor(column / 64) * 64 + 64 <= width();
  $("written").textContent = whole64 ? `On its way to a TMA store: the tile of 64 columns in shared memory, byte by byte. One stmatrix.x4 writes columns ${first} to ${first + 15} (bright), four 8 × 8 matrices; the number is the lane that names the address of those 16 bytes. The element lands at byte ${number(byte)}.`
    : "The last columns are staged together with some before them, 64 at a time.";
  put("whole", whole(), (down, right) => select(row + down, column + right));
  put("zoom", zoom(), (down, right) => select(row + down, column + right));
  fill("staged", ...(whole64 ? [stagedTile()] : []));
}

function measure() {
  available = Math.max(320, $("whole").clientWidth);
  show();
}
addEventListener("resize", measure);
$("n").addEventListener("change", () => select(row, column));
for (const id of ["row", "column"]) $(id).addEventListener("change", () => select(field("row"), field("column")));
for (const id of ["warp", "lane", "register"]) {
  $(id).addEventListener("change", () => select(...where[field("warp") * 32 + field("lane")][field("register")]));
}
measure();
