// The order of tiles for any problem. The kernels' own is in data.raster.held for a series of
// problems; a test holds this one against it.
const FITTED = [[256, 200], [256, 184], [256, 176], [128, 256]];  // in the order of the choice
const VERSIONS = {
  v1_simple: { tile: [128, 128], perSm: 3 },
  v2_pipelined: { tile: [128, 128], perSm: 2 },
  v3_warp_specialized: { tile: [128, 128], perSm: 2 },
  v4_two_consumers: { tile: [128, 256], columns: 4 },
  v5_async_mma: { tile: [128, 256], columns: 4 },
  v6_persistent: { tile: [128, 256], rows: 8 },
  v7_cluster_multicast: { tile: [128, 256], rows: 8, cluster: 2 },
  v8_fitted_tiles: { cluster: 2, serpentine: true },
  v9_aligned_blocks: { cluster: 2, serpentine: true },
};

const evenRounds = (tiles, most) => ceil(tiles, ceil(tiles, most));

function walk(name, m, n, sms) {
  const version = VERSIONS[name], cluster = version.cluster || 1, clusters = Math.max(1, Math.floor(sms / cluster));
  let [blockM, blockN] = version.tile || FITTED[0];
  if (!version.tile) {
    let least = Infinity;
    for (const [tryM, tryN] of FITTED) {
      const work = ceil(ceil(m, tryM * cluster) * ceil(n, tryN), clusters) * tryM * tryN;
      if (work < least) [least, blockM, blockN] = [work, tryM, tryN];
    }
  }
  const tilesM = ceil(m, blockM), tilesN = ceil(n, blockN), rows = ceil(tilesM, cluster), all = rows * tilesN;
  const group = version.columns || version.rows || (version.tile ? 1 : 2048 / (blockM * cluster));
  let together;
  if (cluster > 1) together = evenRounds(all, clusters) * cluster;
  else if (version.rows) {
    const blocks = evenRounds(all, sms);
    together = Math.min(blocks + blocks % 2, all, sms);
  } else together = Math.min(all, sms * (version.perSm || 1));
  // Groups of tile columns are walked row by row; panels of rows, or the plain grid, column by column.
  const order = [], across = version.columns ? tilesN : rows, along = version.columns ? rows : tilesN;
  const wide = group === 1 ? across : group;
  for (let first = 0; first < across; first += wide) {
    const back = version.serpentine && first / wide % 2 === 1;
    for (const step of range(along)) {
      for (let i = first; i < Math.min(first + wide, across); ++i) {
        const [row, column] = version.columns ? [step, i] : [i, back ? along - 1 - step : step];
        for (const rank of range(cluster)) order.push([row * cluster + rank, column]);
      }
    }
  }
  return { name, blockM, blockN, cluster, group, tilesM, tilesN, together, order, columns: version.columns };
}

function wavesOf({ order, together, tilesM }) {
  const result = [];
  for (let begin = 0; begin < order.length; begin += together) {
    const tiles = order.slice(begin, begin + together).filter(([row]) => row < tilesM);
    result.push({ tiles, rows: new Set(tiles.map(([row]) => row)), columns: new Set(tiles.map(([, column]) => column)) });
  }
  return result;
}

// As the program that made this page computes it.
function digest({ order }) {
  let hash = 2166136261;
  for (const pair of order) for (const value of pair) hash = Math.imul(hash ^ value, 16777619);
  return hash >>> 0;
}

const needed = ({ blockM, blockN }, wave) => (wave.rows.size * blockM + wave.columns.size * blockN) * 128 / 1024;
const asked = ({ blockM, blockN, cluster }, wave) => wave.tiles.length * (blockM + blockN / cluster) * 128 / 1024;
const orderName = ({ group, columns, cluster }) => group === 1 ? "column by column" : `${columns ? "groups" : "panels"} of ${group}${cluster > 1 ? " pairs" : ""}`;

let shown, waves;

function draw(at) {
  const { tilesM, tilesN, blockM, blockN } = shown;
  const LEFT = 26, TOP = 26, scale = Math.min(326 / (tilesN * blockN), 326 / (tilesM * blockM));
  const W = blockN * scale, H = blockM * scale, gap = Math.min(1, W / 6, H / 6);
  const cells = (tiles) => tiles.map(([r, c]) => `M${(LEFT + c * W).toFixed(2)} ${(TOP + r * H).toFixed(2)}h${(W - gap).toFixed(2)}v${(H - gap).toFixed(2)}h${(gap - W).toFixed(2)}z`).join("");
  const earlier = waves.slice(0, at).flatMap(({ tiles }) => tiles), later = waves.slice(at + 1).flatMap(({ tiles }) => tiles);
  const now = waves[at];
  const path = (d, style) => make("path", { d, style });
  return drawing(LEFT + tilesN * W + 2, TOP + tilesM * H + 2, $("seen").textContent,
    text(LEFT, 9, "strips of B", "soft"),
    make("text", { x: 8, y: TOP, class: "soft", transform: `rotate(90 4 ${TOP})` }, "strips of A"),
    path(cells(later), "fill:var(--raised);stroke:var(--line);stroke-width:0.6"), path(cells(earlier), "fill:var(--line)"),
    path(cells(now.tiles), "fill:var(--accent)"),
    path([...now.rows].map((r) => `M14 ${(TOP + r * H).toFixed(2)}h8v${(H - gap).toFixed(2)}h-8z`).join(""), "fill:var(--wait)"),
    path([...now.columns].map((c) => `M${(LEFT + c * W).toFixed(2)} 14h${(W - gap).toFixed(2)}v8h${(gap - W).toFixed(2)}z`).join(""), "fill:var(--good)"));
}

function bars(list) {
  const most = Math.max(...list.map(([, value]) => value)), parts = [];
  list.forEach(([label, value, kind], i) => {
    parts.push(text(0, i * 46 + 12, label), box(0.5, i * 46 + 18, 357, 14, "track", { rx: 3 }), box(0.5, i * 46 + 18, 357 * value / most, 14, `bar ${kind}`, { rx: 3 }),
      text(357, i * 46 + 12, `${number(Math.round(value))} KiB`, "end"));
  });
  return drawing(358, list.length * 46, $("compared").textContent, ...parts);
}

function showWave() {
  const at = Math.min(waves.length, Math.max(1, Number($("wave").value))) - 1, wave = waves[at];
  $("which").firstChild.textContent = `wave ${at + 1} of ${waves.length} `;
  $("before").disabled = at === 0;
  $("after").disabled = at === waves.length - 1;
  $("counted").textContent = `Wave ${at + 1}: ${plural(wave.tiles.length, "tile")}, ${plural(wave.rows.size, "strip")} of A and ${plural(wave.columns.size, "strip")} of B.`;
  $("seen").textContent = `C in tiles of ${shown.blockM} × ${shown.blockN}. Blue: this wave; grey: done. Orange: its strips of A, green: its strips of B.`;
  const alone = { blockM: shown.blockM, blockN: shown.blockN };
  // The same tiles column by column, as many at a time.
  const count = wave.tiles.length, first = at * shown.together;
  const plain = { rows: new Set(), columns: new Set() };
  for (const i of range(count)) {
    const tile = Math.min(first + i, shown.tilesM * shown.tilesN - 1);
    plain.rows.add(tile % shown.tilesM);
    plain.columns.add(Math.floor(tile / shown.tilesM));
  }
  const values = [needed(alone, wave), needed(alone, plain), asked(shown, wave)];
  $("compared").textContent = `For one K tile the wave needs ${number(values[0])} KiB, in the plain order ${number(values[1])}. Its blocks ask L2 for ${(values[2] / values[0]).toFixed(1)} times that: what one block has brought, L2 can give to the next.`;
  fill("tiles", draw(at));
  fill("bars", bars([["needed, in this order", values[0], ""], ["needed, column by column", values[1], ""], ["asked of L2", values[2], "over"]]));
}

function show() {
  const m = field("m"), n = field("n"), sms = field("sms");
  shown = walk($("version").value, m, n, sms);
  waves = wavesOf(shown);
  $("wave").max = waves.length;
  $("wave").value = Math.min(waves.length, Number($("wave").value));
  showWave();
  fill("all", ...Object.keys(VERSIONS).map((name) => {
    const each = walk(name, m, n, sms), list = wavesOf(each);
    return make("tr", { class: name === shown.name ? "now" : "" }, make("td", {}, name), make("td", {}, `${each.blockM}×${each.blockN}`), make("td", {}, orderName(each)),
      make("td", {}, number(each.together)), make("td", {}, String(list.length)), make("td", {}, `${list[0].rows.size} + ${list[0].columns.size}`),
      make("td", {}, number(needed(each, list[0]))), make("td", {}, number(asked(each, list[0]))));
  }));
}

fill("version", ...Object.keys(VERSIONS).map((name) => make("option", { selected: name === "v6_persistent" ? "" : null }, name)));
fill("size", make("option", { value: "" }, "choose"), ...["8192x8192", "4096x4096", "2048x2048", "4000x5000", "10240x10240", "8192x28672"].map((size) => make("option", { value: size }, size.replace("x", " × "))));
$("m").value = data.raster.asked[0].m;
$("n").value = data.raster.asked[0].n;
$("sms").value = data.raster.asked[0].sms;
for (const id of ["version", "m", "n", "sms"]) $(id).addEventListener("change", () => { $("wave").value = 1; show(); });
$("size").addEventListener("change", () => {
  if (!$("size").value) return;
  [$("m").value, $("n").value] = $("size").value.split("x");
  $("wave").value = 1;
  show();
});
$("wave").addEventListener("input", showWave);
const turn = (by) => { $("wave").value = Number($("wave").value) + by; showWave(); };
$("before").addEventListener("click", () => turn(-1));
$("after").addEventListener("click", () => turn(1));
show();
