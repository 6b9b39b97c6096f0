// The arithmetic of explain/budget.cpp for any tile; a test holds it against data.budget.held.
const SM = { registers: 65536, unit: 256, parts: 4, most: 255, threads: 2048, blocks: 32, shared: 228 * 1024, ofBlock: 227 * 1024, reserved: 1024, fma: 2048 };
const BLOCK_K = 64, OTHER = 32;

function fits(warps, registers) {
  const warp = Math.ceil(registers * 32 / SM.unit) * SM.unit;
  return Math.floor(Math.floor(Math.floor(SM.registers / warp) / SM.parts) * SM.parts / warps);
}

function budgetOf({ blockM, blockN, stages, consumers, threads, perSm, cluster, setmaxnreg, shared }) {
  const warps = ceil(threads, 32), accumulators = Math.floor(blockM * blockN / (consumers * 128));
  let launched = SM.most;
  while (launched > 0 && fits(warps, launched) < perSm) --launched;
  const registers = setmaxnreg || launched, wanted = accumulators + OTHER;
  let byRegisters = 0;
  if (wanted <= SM.most) byRegisters = setmaxnreg ? (wanted <= setmaxnreg ? fits(warps, launched) : 0) : fits(warps, wanted);
  const byShared = shared > SM.ofBlock ? 0 : Math.floor(SM.shared / (shared + SM.reserved));
  const byThreads = Math.min(Math.floor(SM.threads / (warps * 32)), SM.blocks);
  const blocks = Math.min(byRegisters, byShared, byThreads);
  const limit = blocks === byRegisters && blocks === byShared ? "registers and shared memory" : blocks === byRegisters ? "registers" : blocks === byShared ? "shared memory" : "threads";
  const asks = (blockM + blockN / cluster) * 2, cycles = Math.floor(blockM * blockN * BLOCK_K / SM.fma);
  return { accumulators, registers, stageBytes: (blockM + blockN) * BLOCK_K * 2, byRegisters, byShared, byThreads, blocks, limit, stages, wanted,
    fmaPerByte: blockM * blockN / asks, cycles, l2: asks * BLOCK_K / cycles, smem: (64 + blockN) * 32 / (blockN / 2) };
}

function tile() {
  const value = (id) => Number($(id).value);
  const blockM = value("blockM"), blockN = Math.floor(field("blockN") / 8) * 8, stages = field("stages"), consumers = field("consumers");
  const align = (bytes) => ceil(bytes, 1024) * 1024;
  const ring = stages * (blockM + blockN) * BLOCK_K * 2;
  return { blockM, blockN, stages, consumers, threads: consumers * 128 + value("others"), perSm: field("perSm"), cluster: value("cluster"), setmaxnreg: value("setmaxnreg"),
    ring, buffers: value("buffers"), shared: align(ring + value("buffers") + 1) };
}

function bar(y, label, right, parts, full) {
  const scale = 357 / full, result = [text(0, y + 12, label), text(357, y + 12, right, "end"), box(0.5, y + 18, 357, 16, "track", { rx: 3 })];
  let x = 0;
  for (const [value, kind] of parts) {
    const width = Math.max(0, Math.min(357 - x, value * scale));
    result.push(box(x + 0.5, y + 18, width, 16, kind, { rx: 3 }));
    x += width;
  }
  return result;
}

function show() {
  const t = tile(), b = budgetOf(t);
  const invalid = t.blockM % (t.consumers * 64) !== 0 ? `${t.consumers} consumers cannot share ${t.blockM} rows: a WGMMA has 64.` : "";
  const over = b.wanted > b.registers, tooBig = t.shared > SM.ofBlock;
  let verdict;
  if (invalid) verdict = invalid;
  else if (tooBig) verdict = `Does not fit: ${(t.shared / 1024).toFixed(0)} KiB of shared memory, and a block has at most 227. Fewer stages, or a smaller tile.`;
  else if (over) verdict = `Spills: ${b.accumulators} accumulators and about ${OTHER} other registers, but a thread has ${b.registers}. More consumers, fewer blocks an SM, or a smaller tile.`;
  else if (b.blocks < t.perSm) verdict = `Only ${plural(b.blocks, "block")} of the ${t.perSm} wanted: ${b.limit} bind${b.limit.includes("and") || b.limit.endsWith("s") ? "" : "s"}.`;
  else verdict = `Fits, ${plural(b.blocks, "block")} an SM. What binds: ${b.limit}.`;
  $("verdict").textContent = verdict;
  $("verdict").className = invalid || tooBig || over || b.blocks < t.perSm ? "say refused" : "say";
  const onSm = Math.min(t.perSm, Math.max(b.blocks, 1));
  $("room").textContent = `Registers of a thread: ${b.accumulators} accumulators (left) and about ${OTHER} others, of ${b.registers}. Shared memory: ${plural(t.stages, "stage")} of ${b.stageBytes / 1024} KiB${t.buffers ? " and 32 KiB for C" : ""}.`;
  fill("space", drawing(358, 144, $("room").textContent,
    ...bar(0, "registers of a thread", `${b.wanted} of ${b.registers}`, [[b.accumulators, over ? "bar over" : "bar"], [OTHER, "hue5"]], Math.max(b.registers, b.wanted)),
    ...bar(50, "shared memory of a block", `${(t.shared / 1024).toFixed(0)} of 227 KiB`, [[t.ring, tooBig ? "bar over" : "bar"], [t.buffers, "hue5"]], Math.max(SM.ofBlock, t.shared)),
    ...bar(100, "shared memory of an SM", `${onSm} × ${(t.shared / 1024 + 1).toFixed(0)} of 228 KiB`, range(onSm).map((i) => [t.shared + SM.reserved, i % 2 ? "hue5" : "bar"]), Math.max(SM.shared, onSm * (t.shared + SM.reserved)))));
  $("flow").textContent = `Each byte of A and B that is asked for serves ${b.fmaPerByte.toFixed(1)} FMAs. A K tile keeps the tensor cores busy for ${number(b.cycles)} cycles.`;
  fill("traffic", drawing(358, 144, $("flow").textContent,
    ...bar(0, "FMA per byte asked of L2", b.fmaPerByte.toFixed(1), [[b.fmaPerByte, "bar"]], 96),
    ...bar(50, "asked of L2, an SM", `${b.l2.toFixed(1)} B/cycle`, [[b.l2, "bar"]], 128),
    ...bar(100, "read by WGMMA, of 128", `${b.smem.toFixed(1)} B/cycle`, [[b.smem, b.smem >= 128 ? "bar over" : "bar"]], 128)));
}

const versions = data.budget.versions;
function preset() {
  const v = versions[Number($("preset").value)];
  $("blockM").value = v.block_m;
  $("blockN").value = v.block_n;
  $("stages").value = v.stages;
  $("consumers").value = v.consumers;
  $("others").value = v.threads - v.consumers * 128;
  $("setmaxnreg").value = v.consumer_registers;
  $("perSm").value = v.blocks_per_sm;
  $("cluster").value = v.cluster;
  $("buffers").value = v.shared_bytes - v.stages * v.stage_bytes >= 32768 ? 32768 : 0;
  show();
}
fill("preset", ...versions.map((v, i) => make("option", { value: i, selected: v.version.startsWith("v6") ? "" : null }, `${v.version}, ${v.block_m} × ${v.block_n}`)));
fill("all", ...versions.map((v) => make("tr", {}, ...[v.version, `${v.block_m}×${v.block_n}`, v.stages, v.accumulators, v.registers, (v.shared_bytes / 1024).toFixed(1),
  `${v.blocks_by_registers} / ${v.blocks_by_shared} / ${v.blocks_by_threads}`, v.fma_per_byte.toFixed(1), v.l2_bytes_per_cycle.toFixed(1), v.shared_bytes_per_cycle.toFixed(1)].map((cell) => make("td", {}, String(cell))))));
$("preset").addEventListener("change", preset);
for (const id of ["blockM", "blockN", "stages", "consumers", "others", "setmaxnreg", "perSm", "cluster", "buffers"]) $(id).addEventListener("change", show);
preset();
