// The player: walks through the account of a run that the emulator has written.
{
const { about, run } = data;
const rowsOf = (columns, rows, kinds) => rows.map((row) => row && Object.fromEntries(
  columns.map((column, i) => [column, column === "kind" ? kinds[row[i]] : row[i]])));
const events = rowsOf(run.event_columns, run.events, run.event_kinds);
const spans = rowsOf(run.span_columns, run.spans, run.span_kinds);
const { agents, barriers } = run;
const several = run.blocks > 1;
const failed = run.report.title !== "";
const reportAt = events.findIndex((event) => event.kind === "report");

// Everything the page says of a number of things.
const bytes = (count) => `${number(count)} byte${count === 1 ? "" : "s"}`;
const placeOf = (event) => event.line > 0 ? `${run.files[event.file].name.split("/").pop()}:${event.line}` : "";

// --- who is who ---

// Warps of a warp group that play the same role are shown as one.
const groups = [];
agents.forEach((agent, i) => {
  agent.group = null;
  if (agent.kind !== "warp") return;
  const warpGroup = Math.floor(agent.index / 4);
  let group = groups.find((each) => each.block === agent.block && each.warpGroup === warpGroup && each.role === (agent.role || ""));
  if (!group) groups.push(group = { block: agent.block, warpGroup, role: agent.role || "", agents: [] });
  group.agents.push(i);
  agent.group = group;
});
for (const group of groups) {
  const alike = groups.filter((each) => each.block === group.block && each.role === group.role);
  const index = alike.indexOf(group);
  const first = agents[group.agents[0]].index, last = agents[group.agents[group.agents.length - 1]].index;
  group.warps = first === last ? `warp ${first}` : `warps ${first}–${last}`;
  group.name = group.role ? group.role + (alike.length > 1 ? ` ${index}` : "") : group.warps;
  group.badge = (group.role ? group.role[0].toUpperCase() : "W") + (alike.length > 1 ? index : "");
  group.producer = group.role === "producer";
}
groups.sort((a, b) => a.block - b.block || Number(b.producer) - Number(a.producer) || a.warpGroup - b.warpGroup);
const inBlock = (block) => several ? `block ${block}: ` : "";
function nameOf(number) {
  if (number < 0) return "cp.async";
  const agent = agents[number];
  if (agent.kind === "tma") return `${inBlock(agent.block)}the TMA unit`;
  if (agent.kind === "tensor core") return `${inBlock(agent.block)}the tensor core of warp group ${agent.index}`;
  const group = agent.group;
  return inBlock(agent.block) + (agent.role ? `${group.name} (warp ${agent.index})` : `warp ${agent.index}`);
}

// --- time: events of a turn share it evenly ---

const count = new Map(), seen = new Map();
for (const event of events) count.set(event.turn, (count.get(event.turn) || 0) + 1);
for (const event of events) {
  const order = seen.get(event.turn) || 0;
  seen.set(event.turn, order + 1);
  event.time = event.turn + order / count.get(event.turn);
}
const lastTurn = events.length ? events[events.length - 1].turn : 0;
const endTime = lastTurn + 1;
const timeOf = (event) => event >= 0 ? events[event].time : endTime;

const lastEventOf = agents.map(() => -1);
events.forEach((event, i) => { if (event.agent >= 0) lastEventOf[event.agent] = i; });

// --- the ring: stages are the barriers that carry bytes ---

const isFull = (barrier) => barrier.bytes || barrier.family === "full";
const ringOf = (block) => barriers.map((barrier, i) => ({ ...barrier, i })).filter((barrier) => barrier.block === block && isFull(barrier))
  .sort((a, b) => a.stage - b.stage);
const rings = range(run.blocks).map(ringOf);
const stageIndex = new Map();  // barrier → its place in the ring
rings.forEach((ring) => ring.forEach((barrier, place) => {
  stageIndex.set(barrier.i, { block: barrier.block, place, full: true });
}));
barriers.forEach((barrier, i) => {
  if (isFull(barrier)) return;
  const place = rings[barrier.block].findIndex((full) => full.stage === barrier.stage && barrier.stage >= 0);
  if (place >= 0) stageIndex.set(i, { block: barrier.block, place, full: false });
});
const hasEmpty = (block, place) => [...stageIndex.entries()].some(([, stage]) => !stage.full && stage.block === block && stage.place === place);
const HUES = [5, 1, 3, 6, 4, 2, 7, 0];  // neighbours that differ, and red last
const hueOfPlace = (place) => HUES[place % HUES.length];
const hueOf = (barrier) => stageIndex.has(barrier) ? hueOfPlace(stageIndex.get(barrier).place) : -1;
const kTiles = Math.max(0, ...spans.filter((span) => span && span.kind === "load").map((span) => span.k_tile + 1));

// The WGMMAs that the report names.
const culprits = !failed ? [] : range(spans.length).filter((i) => spans[i] && spans[i].kind === "wgmma" &&
  new RegExp(`\\b${spans[i].name} of warp group ${agents[spans[i].agent].index}\\b`).test(run.report.text));

// --- the state after an event ---

function fresh() {
  return {
    at: -1,
    barriers: barriers.map((barrier) => ({ phase: 0, pending: barrier.expected, transaction: 0, announced: 0, who: [] })),
    agents: agents.map(() => ({ event: -1, line: -1, file: -1, wait: -1 })),
    stages: rings.map((ring) => ring.map(() => ({ state: "empty", k_tile: -1, expected: 0, landed: 0, readers: 0, clash: false }))),
    hands: groups.map(() => -1),
  };
}
function stageOf(state, barrier) {
  const stage = stageIndex.get(barrier);
  return stage ? state.stages[stage.block][stage.place] : null;
}
function advance(state, i) {
  const event = events[i];
  state.at = i;
  if (event.agent >= 0) {
    const agent = state.agents[event.agent];
    agent.event = i;
    if (event.line > 0 && agents[event.agent].kind === "warp") { agent.line = event.line; agent.file = event.file; }
    // Some lanes of a warp may wait while others go on: then it does not, for the picture.
    agent.wait = event.kind === "wait" ? event.span : -1;
    const group = agents[event.agent].group, stage = stageIndex.get(event.barrier);
    if (group && stage && stage.block === group.block && ["wait", "pass", "resume", "load"].includes(event.kind)) {
      state.hands[groups.indexOf(group)] = stage.place;
    }
  }
  if (event.barrier >= 0) {
    const barrier = state.barriers[event.barrier];
    const complete = event.kind === "complete";
    barrier.phase = event.phase + (complete ? 1 : 0);
    barrier.pending = event.pending;
    barrier.transaction = complete ? 0 : event.transaction;
    if (complete) { barrier.announced = 0; barrier.who = []; }
    if (event.kind === "arrive") { barrier.announced += event.bytes; barrier.who.push(i); }
  }
  if (event.kind === "report") culprits.forEach((i) => { const read = stageOf(state, spans[i].barrier); if (read) read.clash = true; });
  const span = event.span >= 0 ? spans[event.span] : null;
  const stage = span && span.kind !== "wait" ? stageOf(state, span.barrier) : stageOf(state, event.barrier);
  const isStage = stage && (stageIndex.get(span && span.kind !== "wait" ? span.barrier : event.barrier) || {}).full;
  if (!stage) {
    if (event.kind === "resume" || event.kind === "call") released(state, event);
    return;
  }
  if (event.kind === "arrive" && isStage && event.bytes > 0) {
    if (stage.state === "empty" || stage.state === "full") Object.assign(stage, { state: "filling", expected: 0, landed: 0, k_tile: -1 });
    stage.expected += event.bytes;
  } else if (event.kind === "load") {
    if (stage.readers > 0) stage.clash = true;
    if (stage.state !== "filling") Object.assign(stage, { state: "filling", expected: 0, landed: 0 });
    stage.k_tile = span.k_tile;
  } else if (event.kind === "land") {
    stage.landed += event.bytes;
  } else if (event.kind === "complete" && isStage) {
    stage.state = "full";
  } else if (event.kind === "complete") {
    Object.assign(stage, { state: "empty", k_tile: -1, expected: 0, landed: 0 });
  } else if (event.kind === "wgmma") {
    if (stage.state === "filling" || stage.state === "empty") stage.clash = true;
    if (stage.state === "full") stage.state = "draining";
    ++stage.readers;
  } else if (event.kind === "end") {
    --stage.readers;
  }
}
// Without `empty` barriers a stage is empty when a warp has waited for all that reads it.
function released(state, event) {
  const waited = event.kind === "resume" ? spans[event.span].name.startsWith("wgmma.wait_group")
    : run.instructions[event.instruction].startsWith("wgmma.wait_group");
  if (!waited) return;
  const block = agents[event.agent].block;
  state.stages[block].forEach((stage, place) => {
    if (stage.state !== "draining" || stage.readers > 0 || hasEmpty(block, place)) return;
    Object.assign(stage, { state: "empty", k_tile: -1, expected: 0, landed: 0 });
  });
}
let state = fresh();
function stateAt(i) {
  if (i < state.at) state = fresh();
  while (state.at < i) advance(state, state.at + 1);
  return state;
}

// --- what is said of an event ---

const barrierName = (i) => barriers[i].name.replace(" of block rank ", " of block ");
const shortName = (i) => barriers[i].name.replace(/ of block rank .*/, "");
const stillPending = (event) => `${number(event.pending)} of ${plural(barriers[event.barrier].expected, "arrival")} and ${bytes(event.transaction)} are pending`;
function causeOf(event) {
  if (event.cause < 0) return "";
  const cause = events[event.cause];
  if (cause.kind === "complete") return `phase ${cause.phase} of ${barrierName(cause.barrier)} is complete`;
  if (cause.kind === "end") return `${spans[cause.span].name} is complete`;
  if (cause.kind === "store read") return `${spans[cause.span].name} has read its source`;
  return `${nameOf(cause.agent)} has come`;
}
function waitsFor(span) {
  if (span.barrier >= 0) return `waits for parity ${span.parity} of ${barrierName(span.barrier)}`;
  if (span.name.startsWith("wgmma")) return "waits for its wgmma-groups";
  if (span.name.startsWith("cp.async.wait")) return "waits for its copies";
  if (span.name.startsWith("cp.async")) return "waits until its stores have read their source";
  if (span.name.startsWith("setmaxnreg")) return "waits for registers";
  if (span.name.startsWith("wait for")) return "waits for the other lanes of its warp";
  return `waits at ${span.name}`;
}
const SAY = {
  call: (event) => `executes ${run.instructions[event.instruction]}${event.repeats > 1 ? `, ${event.repeats} times` : ""}.`,
  arrive: (event) => (event.bytes > 0 ? `arrives at ${barrierName(event.barrier)} and announces ${bytes(event.bytes)}`
    : `arrives at ${barrierName(event.barrier)}${event.lanes > 1 ? ` with ${event.lanes} lanes` : ""}`) + `: in phase ${event.phase}, ${stillPending(event)}.`,
  land: (event) => `${bytes(event.bytes)} of ${spans[event.span].name} (K tile ${spans[event.span].k_tile}) have landed: ${stillPending(event)} at ${barrierName(event.barrier)}.`,
  complete: (event) => `Phase ${event.phase} (parity ${event.phase % 2}) of ${barrierName(event.barrier)} is complete` +
    (event.cause < 0 ? "." : events[event.cause].kind === "land" ? ": that was the last byte." : ": that was the last arrival."),
  pass: (event) => event.cause < 0 ? `need not wait at ${barrierName(event.barrier)}: a fresh barrier lets parity 1 pass.`
    : `need not wait at ${barrierName(event.barrier)}: phase ${events[event.cause].phase} is complete already.`,
  wait: (event) => `${waitsFor(spans[event.span])}${event.lanes < spans[event.span].lanes ? ` (${plural(event.lanes, "lane")})` : ""}.`,
  resume: (event) => `goes on${causeOf(event) ? `: ${causeOf(event)}` : ""}.`,
  load: (event) => `asks the TMA unit for K tile ${spans[event.span].k_tile}, ${bytes(event.bytes)} into ${spans[event.span].name}; they count at ${barrierName(event.barrier)}.`,
  store: (event) => `asks the TMA unit to store ${bytes(event.bytes)} of C.`,
  "store read": (event) => `${spans[event.span].name} has read its source: the buffer may be filled again.`,
  stored: (event) => `${spans[event.span].name} is in global memory.`,
  wgmma: (event) => `${spans[event.span].name} is issued${readsOf(spans[event.span])}.`,
  start: (event) => `${spans[event.span].name} begins to execute${readsOf(spans[event.span])}.`,
  end: (event) => `${spans[event.span].name} is complete.`,
  report: () => `${run.report.title}. The kernel stops here.`,
};
const PASSIVE = new Set(["land", "complete", "store read", "stored", "report"]);
function readsOf(span) {
  if (span.k_tile < 0) return "";
  const stage = span.barrier >= 0 ? barriers[span.barrier].stage : -1;
  return ` on K tile ${span.k_tile}${stage >= 0 ? `, stage ${stage}` : ""}`;
}
function sentence(event) {
  const said = SAY[event.kind](event);
  const who = PASSIVE.has(event.kind) ? "" : event.agent < 0 ? "cp.async " : agents[event.agent].kind === "tensor core" ? inBlock(agents[event.agent].block) + `warp group ${agents[event.agent].index}: ` : `${nameOf(event.agent)} `;
  const whole = who + said;
  return whole[0].toUpperCase() + whole.slice(1);
}

// --- drawing helpers ---

function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}
const button = (label, click, more = {}) => make("button", { type: "button", class: "link-button", click, ...more }, label);

// --- the timeline ---

const ROW = 22, GAP = 5;
function rowsOfBlock(block) {
  const rows = [];
  const of = (group) => rows.push({ kind: "group", group, label: group.name, title: group.warps });
  const mine = groups.filter((group) => group.block === block && group.agents.some((agent) => lastEventOf[agent] >= 0));
  mine.filter((group) => group.producer).forEach(of);
  rings[block].forEach((barrier, place) => rows.push({ kind: "stage", block, place, label: rings[block].length > 1 || barrier.stage >= 0 ? `stage ${barrier.stage}` : "stage" }));
  if (spans.some((span) => span && span.kind === "store" && agents[span.agent].block === block)) rows.push({ kind: "stores", block, label: "stores" });
  for (const group of mine.filter((each) => !each.producer)) {
    of(group);
    const core = agents.findIndex((agent) => agent.kind === "tensor core" && agent.block === block && agent.index === group.warpGroup);
    if (core >= 0 && lastEventOf[core] >= 0) rows.push({ kind: "core", core, label: mine.filter((each) => !each.producer).length > 1 ? `tensor core ${group.warpGroup}` : "tensor core" });
  }
  return rows;
}
const layout = [];
range(run.blocks).forEach((block) => {
  if (several) layout.push({ kind: "block", label: `block ${block} of the cluster` });
  layout.push(...rowsOfBlock(block));
});
let top_ = 18;
for (const row of layout) {
  row.y = top_;
  row.height = row.kind === "block" ? 18 : row.kind === "core" ? ROW + 8 : ROW;
  top_ += row.height + (row.kind === "block" ? 0 : GAP);
}
const timelineHeight = top_ + 4;

// What is drawn in the rows, once: [row, lane, lanes, begin, end, class, label, span].
const bars = [];
const waitLane = new Map();
layout.forEach((row) => {
  if (row.kind === "group") {
    // Warps of a group that wait for the same at the same time are one bar.
    const mine = spans.map((span, i) => ({ span, i })).filter(({ span }) => span && span.kind === "wait" && row.group.agents.includes(span.agent))
      .sort((a, b) => a.span.begin - b.span.begin);
    const open = [];
    for (const { span, i } of mine) {
      const same = open.find((bar) => {
        const other = spans[bar.span];
        return other.name === span.name && other.barrier === span.barrier && other.parity === span.parity && timeOf(span.begin) <= timeOf(bar.end) && !bar.agents.includes(span.agent);
      });
      if (same) {
        same.agents.push(span.agent);
        if (timeOf(span.end) > timeOf(same.end)) same.end = span.end;
        waitLane.set(i, same);
        continue;
      }
      const bar = { row, lane: 0, lanes: 1, begin: span.begin, end: span.end, kind: "wait", label: span.barrier < 0 ? span.name.replace(/^wgmma\.|^cp\.async\.bulk\.|^barrier\./, "") : barriers[span.barrier].block === row.group.block ? shortName(span.barrier) : barrierName(span.barrier), span: i, hue: hueOf(span.barrier), agents: [span.agent] };
      open.unshift(bar);
      waitLane.set(i, bar);
      bars.push(bar);
    }
  } else if (row.kind === "stage") {
    const barrier = rings[row.block][row.place].i;
    const copies = spans.map((span, i) => ({ span, i })).filter(({ span }) => span && span.kind === "load" && span.barrier === barrier);
    const phases = new Map();
    for (const copy of copies) {
      const list = phases.get(copy.span.phase) || [];
      phases.set(copy.span.phase, list);
      list.push(copy);
    }
    for (const list of phases.values()) {
      list.forEach(({ span, i }, lane) => bars.push({ row, lane, lanes: list.length, begin: span.begin, end: span.end, kind: "load", label: lane === 0 ? `K ${span.k_tile}` : "", span: i, hue: hueOfPlace(row.place) }));
    }
  } else if (row.kind === "stores") {
    const open = [];
    spans.forEach((span, i) => {
      if (!span || span.kind !== "store" || agents[span.agent].block !== row.block) return;
      let lane = open.findIndex((end) => end <= timeOf(span.begin));
      if (lane < 0) lane = open.length;
      open[lane] = timeOf(span.end);
      bars.push({ row, lane, lanes: 0, begin: span.begin, end: span.end, kind: "store", label: "", span: i, hue: -1 });
    });
    bars.filter((bar) => bar.row === row).forEach((bar) => { bar.lanes = open.length; });
  } else if (row.kind === "core") {
    const tiles = [];
    spans.forEach((span, i) => {
      if (!span || span.kind !== "wgmma" || span.agent !== row.core) return;
      const latest = tiles[tiles.length - 1];
      if (latest && spans[latest[0]].barrier === span.barrier && spans[latest[0]].phase === span.phase) latest.push(i);
      else tiles.push([i]);
    });
    tiles.forEach((tile, order_) => {
      const first = spans[tile[0]], last = spans[tile[tile.length - 1]];
      bars.push({ row, lane: order_ % 2, lanes: 1, begin: first.begin, end: last.end, kind: "inflight", label: "", span: tile[0], tile, hue: hueOf(first.barrier) });
      for (const i of tile) {
        if (spans[i].start < 0) continue;
        bars.push({ row, lane: 0, lanes: 1, begin: spans[i].start, end: spans[i].end, kind: "running", label: "", span: i, hue: hueOf(spans[i].barrier) });
      }
      if (first.k_tile >= 0) bars.push({ row, lane: 0, lanes: 1, begin: first.start >= 0 ? first.start : first.begin, end: last.end, kind: "name", label: `K ${first.k_tile}`, span: tile[0], hue: -1 });
    });
  }
});
bars.forEach((bar) => { bar.from = timeOf(bar.begin); bar.to = Math.max(timeOf(bar.end), bar.from); });
for (const row of layout) {  // a label ends where the next bar begins
  const own = bars.filter((bar) => bar.row === row && bar.kind === "wait").sort((a, b) => a.from - b.from);
  own.forEach((bar, i) => { bar.clear = i + 1 < own.length ? own[i + 1].from : Infinity; });
}
const barOf = (span) => waitLane.get(span) || bars.find((bar) => bar.span === span && bar.kind !== "name" && bar.kind !== "inflight") || bars.find((bar) => bar.tile && bar.tile.includes(span));

// Arrows: what ended a wait.
const links = [];
events.forEach((event, i) => {
  if (event.kind !== "resume" || event.cause < 0) return;
  const cause = events[event.cause];
  if (cause.kind === "complete" && cause.cause >= 0) {
    const origin = events[cause.cause];
    if (origin.kind === "land") links.push({ from: origin, span: origin.span, to: i, wait: event.span, kind: "filled" });
    else links.push({ from: origin, agent: origin.agent, to: i, wait: event.span, kind: "released" });
  } else if (cause.kind === "end") {
    links.push({ from: cause, span: cause.span, to: i, wait: event.span, kind: "done" });
  }
});

// Dots: who releases a stage, or announces bytes.
const arrivals = events.filter((event) => event.kind === "arrive" && event.agent >= 0).map((event) => ({ time: event.time, row: layout.find((row) => row.kind === "group" && row.group === agents[event.agent].group) })).filter((each) => each.row);

let current = 0, picked = -1, turnsShown = 0, playing = null;

// Below the WGMMAs that execute lie those that are in flight, by K tile, two lanes in turn.
function placeOfBar(bar) {
  if (bar.kind === "inflight") return { y: bar.row.y + ROW + bar.lane * 4, height: 3.5 };
  const height = (ROW - 2) / bar.lanes;
  return { y: bar.row.y + 1 + bar.lane * height, height };
}
const middleOf = (bar) => placeOfBar(bar).y + placeOfBar(bar).height / 2;
function rowOfAgent(agent) {
  const each = agents[agent];
  const row = layout.find((candidate) => candidate.kind === "group" && candidate.group === each.group);
  return row ? row.y + row.height / 2 : 0;
}
function drawTimeline() {
  const width = Math.max(300, $("timeline").clientWidth);
  const narrow = width < 560;
  const left = narrow ? 84 : 122, right = 8;
  const most = Math.max(4, endTime);
  const shown = Math.min(most, turnsShown || (narrow ? 110 : 260));
  const now = timeOf(current);
  const first = Math.max(0, Math.min(now - shown * 0.42, most - shown));
  const x = (time) => left + (Math.min(Math.max(time, first), first + shown) - first) * (width - left - right) / shown;
  const root = svg("svg", { viewBox: `0 0 ${width} ${timelineHeight}`, width, height: timelineHeight, role: "img",
    "aria-label": `Timeline, turns ${Math.floor(first)} to ${Math.ceil(first + shown)} of ${lastTurn}: waits, copies and WGMMAs of ${plural(layout.filter((row) => row.kind !== "block").length, "row")}` });
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].find((each) => shown / each <= (narrow ? 5 : 12)) || 10000;
  for (let turn = Math.ceil(first / step) * step; turn <= first + shown; turn += step) {
    root.append(svg("line", { x1: x(turn), x2: x(turn), y1: 14, y2: timelineHeight, class: "gridline" }),
      svg("text", { x: x(turn) + 2, y: 10, class: "soft" }, String(turn)));
  }
  for (const row of layout) {
    root.append(svg("text", { x: row.kind === "block" ? 0 : left - 8, y: row.y + (row.kind === "block" ? 9 : ROW / 2) + 4, class: row.kind === "block" ? "block" : "label end", "text-anchor": row.kind === "block" ? "start" : "end" }, narrow ? row.label.replace("tensor core", "tensor") : row.label));
    if (row.kind !== "block") root.append(svg("line", { x1: left, x2: width - right, y1: row.y + row.height + GAP / 2, y2: row.y + row.height + GAP / 2, class: "rowline" }));
  }
  const labels = [];
  for (const bar of bars) {
    if (bar.to < first || bar.from > first + shown) continue;
    const { y, height } = placeOfBar(bar);
    const from = x(bar.from), to = Math.max(x(bar.to), from + 1.5);
    if (bar.kind !== "name") {
      const span = spans[bar.span];
      const forever = bar.kind === "wait" && bar.end < 0;
      const slim = bar.kind === "inflight" ? 0 : 0.5;
      const classes = ["span", bar.kind, forever && "forever", bar.hue >= 0 && bar.kind !== "wait" && `hue${bar.hue}`, bar.hue >= 0 && !forever && `edge${bar.hue}`, bar.hue < 0 && bar.kind === "wait" && !forever && "neutral", picked >= 0 && (bar.span === picked || waitLane.get(picked) === bar) && "picked", bar.from > now && "later"];
      root.append(svg("rect", { x: from, y: y + slim, width: to - from, height: Math.max(1.5, height - 2 * slim), rx: Math.min(2, height / 3), class: classes.filter(Boolean).join(" "), "data-span": bar.span,
        click: (clicked) => { clicked.stopPropagation(); pick(bar.span); } }, svg("title", {}, titleOf(span))));
    }
    const room = Math.min(to, width - right, bar.clear === undefined ? Infinity : Math.max(from, x(Math.min(bar.clear, endTime)))) - from;
    if (bar.label && room > bar.label.length * 6.8 + 4) {
      labels.push(svg("text", { x: from + room / 2, y: bar.row.y + ROW / 2 + 4, "text-anchor": "middle", class: bar.from > now ? "onbar later" : "onbar" }, bar.label));
    }
  }
  root.append(...labels);
  const inside = links.filter((link) => link.from.time >= first && link.from.time <= first + shown && waitLane.has(link.wait));
  const arrows_ = new Map();  // one for all warps of a group
  for (const link of inside) {
    link.strong = link.to === current || link.wait === picked;
    const key = `${link.from.time}/${waitLane.get(link.wait).row.y}`;
    if (link.strong || !arrows_.has(key)) arrows_.set(key, link);
  }
  const crowded = arrows_.size > (narrow ? 24 : 80);
  for (const link of arrows_.values()) {
    const target = waitLane.get(link.wait), strong = link.strong;
    if (crowded && !strong) continue;
    const source = link.span !== undefined ? barOf(link.span) : null;
    const y1 = source ? middleOf(source) : rowOfAgent(link.agent);
    const x1 = x(link.from.time), x2 = x(events[link.to].time), y2 = strong ? middleOf(target) : target.row.y + target.row.height / 2;
    if (Math.abs(y1 - y2) < 2) continue;
    const down = y2 > y1 ? 1 : -1;
    root.append(svg("path", { d: `M${x1},${y1} C${x1},${y1 + down * 16} ${x2},${y2 - down * 18} ${x2},${y2 - down * 4}`, class: `link ${link.kind}${strong ? " strong" : ""}` }),
      svg("path", { d: `M${x2 - 3},${y2 - down * 7} L${x2 + 3},${y2 - down * 7} L${x2},${y2 - down * 1} Z`, class: "linkhead" }));
  }
  for (const event of arrivals) {
    if (event.time < first || event.time > first + shown) continue;
    root.append(svg("circle", { cx: x(event.time), cy: event.row.y + event.row.height / 2, r: 2.6, class: `arrival${event.time > now ? " later" : ""}` }));
  }
  if (failed && reportAt >= 0 && timeOf(reportAt) >= first) {
    root.append(svg("line", { x1: x(timeOf(reportAt)), x2: x(timeOf(reportAt)), y1: 12, y2: timelineHeight, class: "hazardline" }));
    for (const bar of culprits.map(barOf)) {
      const agent = events[reportAt].agent;
      if (agent < 0 || !bar || bar.to < first) continue;
      const y1 = middleOf(bar), y2 = rowOfAgent(agent), x1 = x(Math.max(bar.from, first)), x2 = x(timeOf(reportAt));
      root.append(svg("path", { d: `M${x1},${y1} C${(x1 + x2) / 2},${y1} ${(x1 + x2) / 2},${y2} ${x2},${y2}`, class: "link bad" }));
    }
  }
  root.append(svg("line", { x1: x(now), x2: x(now), y1: 12, y2: timelineHeight, class: "now" }),
    svg("path", { d: `M${x(now) - 5},11 L${x(now) + 5},11 L${x(now)},18 Z`, class: "nowhead" }));
  root.addEventListener("click", (clicked) => {
    const box_ = root.getBoundingClientRect();
    const at = (clicked.clientX - box_.left) * width / box_.width;
    if (at < left) return;
    const time = first + (at - left) * shown / (width - left - right);
    let i = events.findIndex((event) => event.time > time);
    if (i < 0) i = events.length;
    go(Math.max(0, i - 1));
  });
  $("timeline").replaceChildren(root);
}

function titleOf(span) {
  if (span.kind === "wait") return `${nameOf(span.agent)} ${waitsFor(span)}, turn ${events[span.begin].turn} to ${span.end < 0 ? "the end" : events[span.end].turn}`;
  if (span.kind === "load") return `${span.name}, K tile ${span.k_tile}: turn ${events[span.begin].turn} to ${span.end < 0 ? "the end" : events[span.end].turn}`;
  return `${span.name}: turn ${events[span.begin].turn} to ${span.end < 0 ? "the end" : events[span.end].turn}`;
}

// --- the details of what was clicked ---

const goTo = (event, label) => button(label || `turn ${events[event].turn}`, () => go(event));
function whoLine(i) {
  const event = events[i];
  const line = placeOf(event);
  return make("span", {}, goTo(i), ` ${nameOf(event.agent)}${event.lanes > 1 ? `, ${event.lanes} lanes` : ""}${line ? `, ${line}` : ""}`);
}
function lines(...children) {
  return make("dd", {}, ...children.flatMap((child, i) => i === 0 ? [child] : [make("br"), child]));
}
function detailsOfWait(span) {
  const rows = [];
  const add = (name, ...what) => rows.push(make("dt", {}, name), lines(...what));
  const open = span.end < 0;
  add("waits", make("span", {}, "from ", goTo(span.begin), open ? (run.left_out ? ", longer than this page goes" : " for ever") : " to ", ...(open ? [] : [goTo(span.end)]), `, ${placeOf(events[span.begin])}`));
  if (span.barrier < 0) {
    if (span.cause >= 0) add("until", make("span", {}, goTo(span.cause), ` ${causeOf({ cause: span.cause })}`));
    else if (open) add("until", "somebody does what nobody does in this run");
    return rows;
  }
  const name = barrierName(span.barrier), expected = barriers[span.barrier].expected;
  const phase = span.cause >= 0 ? events[span.cause].phase : span.phase;
  add("for", `the end of phase ${phase} of ${name}: ${plural(expected, "arrival")}${barriers[span.barrier].bytes ? " and all bytes that are announced" : ""}`);
  const inPhase = (kind) => events.map((event, i) => ({ event, i })).filter(({ event, i }) => event.kind === kind && event.barrier === span.barrier && event.phase === phase && (span.cause < 0 || i < span.cause)).map(({ i }) => i);
  const arrivals = inPhase("arrive"), landings = inPhase("land");
  const barrier = stateAt(current).barriers[span.barrier];
  if (current >= span.begin && (open || current < span.end)) {
    add("now", `phase ${barrier.phase}: ${number(barrier.pending)} of ${plural(expected, "arrival")} and ${bytes(barrier.transaction)} are pending`);
  }
  if (arrivals.length) add("arrivals", ...arrivals.map(whoLine));
  if (landings.length) add("bytes", ...landings.map((i) => make("span", {}, goTo(i), ` ${bytes(events[i].bytes)} of ${spans[events[i].span].name}`)));
  if (span.cause >= 0) {
    const last = events[span.cause].cause;
    if (last >= 0) add("completed by", make("span", {}, goTo(last), events[last].kind === "land" ? ` the last byte, of ${spans[events[last].span].name}` : ` the last arrival, by ${nameOf(events[last].agent)}`));
  } else if (open) {
    const ever = events.map((event, i) => ({ event, i })).filter(({ event }) => event.kind === "arrive" && event.barrier === span.barrier).map(({ i }) => i);
    const missing = stateAt(events.length - 1).barriers[span.barrier];
    stateAt(current);
    add("never completed", `at the end, ${number(missing.pending)} of ${plural(expected, "arrival")} and ${bytes(missing.transaction)} are pending in phase ${missing.phase}`);
    add("who arrives here", ...(ever.length ? ever.slice(-6).map(whoLine) : ["nobody, in this run"]));
  }
  return rows;
}
function detailsOfCopy(span) {
  const rows = [];
  const add = (name, ...what) => rows.push(make("dt", {}, name), lines(...what));
  const load = span.kind === "load";
  add("issued", make("span", {}, goTo(span.begin), ` ${nameOf(span.issuer)}, ${placeOf(events[span.begin])}`));
  add("box", `${bytes(span.bytes)} at row ${span.row}, column ${span.column}${load ? ` of ${/b\[?/.test(span.name.split(".").pop()) ? "B" : "A"}` : " of C"}`);
  if (load) {
    const landings = events.map((event, i) => ({ event, i })).filter(({ event }) => event.kind === "land" && spans[event.span] === span);
    add("lands", ...(landings.length ? landings.map(({ event, i }) => make("span", {}, goTo(i), ` ${bytes(event.bytes)}`)) : ["never, in this run"]));
    add("counts at", `phase ${span.phase} (parity ${span.phase % 2}) of ${barrierName(span.barrier)}`);
  } else {
    if (span.start >= 0) add("has read", goTo(span.start));
    if (span.end >= 0) add("written", goTo(span.end));
  }
  return rows;
}
function detailsOfWgmma(span) {
  const rows = [];
  const add = (name, ...what) => rows.push(make("dt", {}, name), lines(...what));
  add("issued", make("span", {}, goTo(span.begin), ` ${placeOf(events[span.begin])}`));
  if (span.barrier >= 0) add("reads", `K tile ${span.k_tile}, loaded for phase ${span.phase} of ${barrierName(span.barrier)}`);
  add("executes", span.start < 0 ? "not before the end of this run" : make("span", {}, goTo(span.start), " to ", span.end < 0 ? "the end" : goTo(span.end)));
  const wait = events.findIndex((event, i) => i >= span.begin && event.kind === "resume" && agents[event.agent].kind === "warp" && agents[event.agent].block === agents[span.agent].block && Math.floor(agents[event.agent].index / 4) === agents[span.agent].index && spans[event.span].name.startsWith("wgmma.wait") && span.end >= 0 && i > span.end);
  if (wait >= 0) add("waited for by", whoLine(wait));
  return rows;
}
function drawDetail() {
  const panel = $("detail");
  panel.hidden = picked < 0;
  if (picked < 0) return;
  const span = spans[picked];
  const title = span.kind === "wait" ? `${nameOf(span.agent)} ${waitsFor(span)}` : span.kind === "load" ? `TMA load into ${span.name}, K tile ${span.k_tile}`
    : span.kind === "store" ? `TMA ${span.name}` : `${span.name} of warp group ${agents[span.agent].index}`;
  const rows = { wait: detailsOfWait, load: detailsOfCopy, store: detailsOfCopy, wgmma: detailsOfWgmma }[span.kind](span);
  panel.replaceChildren(make("button", { type: "button", class: "close", "aria-label": "close", click: () => pick(-1) }, "×"),
    make("h3", {}, title[0].toUpperCase() + title.slice(1)), make("dl", {}, ...rows));
}
function pick(span) {
  picked = span === picked ? -1 : span;
  drawTimeline();
  drawDetail();
}

// --- the ring ---

const STATES = { empty: "may be filled", filling: "copies are under way", full: "all bytes have landed", draining: "WGMMAs read it, or have, and nobody has released it" };
function arc(radius, inner, from, to) {
  const at = (r, angle) => `${(r * Math.sin(angle)).toFixed(2)},${(-r * Math.cos(angle)).toFixed(2)}`;
  const large = to - from > Math.PI ? 1 : 0;
  if (to - from > 2 * Math.PI - 0.01) {
    const half = (r, sweep) => `M${at(r, 0)} A${r},${r} 0 1 ${sweep} ${at(r, Math.PI)} A${r},${r} 0 1 ${sweep} ${at(r, 0)}Z`;
    return half(radius, 1) + half(inner, 0);
  }
  return `M${at(radius, from)} A${radius},${radius} 0 ${large} 1 ${at(radius, to)} L${at(inner, to)} A${inner},${inner} 0 ${large} 0 ${at(inner, from)}Z`;
}
const EDGE = 112, HUB = 42;
function drawRing(block) {
  const stages = state.stages[block], parts = [];
  const share = 2 * Math.PI / stages.length, first = -share / 2;
  stages.forEach((stage, place) => {
    const from = first + place * share + (stages.length > 1 ? 0.025 : 0), to = first + (place + 1) * share - (stages.length > 1 ? 0.025 : 0);
    const hue = `hue${hueOfPlace(place)}`;
    const edge = `edge${hueOfPlace(place)}`;
    parts.push(svg("path", { d: arc(EDGE, HUB, from, to), class: `sector ${stage.state}${stage.state === "filling" ? ` ${edge}` : ""}${stage.clash ? " clash" : ""}`, "fill-rule": "evenodd" }));
    const filled = stage.state === "empty" ? 0 : stage.state === "filling" ? (stage.expected ? Math.min(1, stage.landed / stage.expected) : 0) : 1;
    if (filled > 0) {
      // From the hub outwards, by area.
      const radius = Math.sqrt(HUB * HUB + (EDGE * EDGE - HUB * HUB) * filled);
      parts.push(svg("path", { d: arc(radius, HUB, from, to), class: `content ${hue}`, "fill-rule": "evenodd" }));
    }
    if (stage.readers > 0) {
      parts.push(svg("path", { d: arc(EDGE, HUB, from, to), fill: `url(#stripes${block}-${place % 8})`, "fill-rule": "evenodd" }),
        svg("defs", {}, svg("pattern", { id: `stripes${block}-${place % 8}`, width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, svg("line", { x1: 0, y1: 0, x2: 0, y2: 8, class: `stripe ${edge}` }))));
    }
    const middle = (from + to) / 2, radius = (EDGE + HUB) / 2;
    const x = stages.length > 1 ? radius * Math.sin(middle) : 0, y = stages.length > 1 ? -radius * Math.cos(middle) : -radius;
    const label = stage.k_tile >= 0 ? `K ${stage.k_tile}` : "";
    const number_ = rings[block][place].stage;
    if (number_ >= 0) parts.push(svg("text", { x, y: y - 13, class: "soft", "text-anchor": "middle" }, `stage ${number_}`));
    parts.push(svg("text", { x, y: y + 2, class: "stage", "text-anchor": "middle" }, stage.state),
      svg("text", { x, y: y + 16, class: "stage tile", "text-anchor": "middle" }, label));
  });
  // Hands: where each role is.
  const at = new Map();
  groups.forEach((group, i) => {
    if (group.block !== block || state.hands[i] < 0 || (!group.role && stages.length === 1)) return;
    const list = at.get(state.hands[i]) || [];
    at.set(state.hands[i], list);
    list.push({ group, waits: group.agents.some((agent) => state.agents[agent].wait >= 0 && stageIndex.has(spans[state.agents[agent].wait].barrier)) });
  });
  for (const [place, list] of at) {
    list.forEach(({ group, waits }, i) => {
      const angle = first + (place + 0.5) * share + (i - (list.length - 1) / 2) * 0.3;
      const x = (EDGE + 15) * Math.sin(angle), y = -(EDGE + 15) * Math.cos(angle);
      const inward = (r, turn) => `${(r * Math.sin(angle + turn)).toFixed(1)},${(-r * Math.cos(angle + turn)).toFixed(1)}`;
      parts.push(svg("path", { d: `M${inward(EDGE + 2, 0)} L${inward(EDGE + 8, 0.045)} L${inward(EDGE + 8, -0.045)}Z`, class: "hand" }),
        svg("text", { x, y: y + 4, class: "handtext", "text-anchor": "middle", style: waits ? "fill:var(--wait)" : "" }, group.badge), );
    });
  }
  const loading = stages.filter((stage) => stage.state === "filling").length;
  parts.push(svg("text", { x: 0, y: 0, class: "hub", "text-anchor": "middle" }, several ? `block ${block}` : stages.length > 1 ? `${stages.length} stages` : "1 stage"),
    svg("text", { x: 0, y: 15, class: "soft", "text-anchor": "middle" }, `${loading} filling`));
  const fact = stages.map((stage, place) => `stage ${place} is ${stage.state}${stage.k_tile >= 0 ? ` with K tile ${stage.k_tile}` : ""}`).join(", ");
  return make("figure", { class: "ring" }, svg("svg", { viewBox: "-140 -138 280 276", role: "img", "aria-label": fact }, ...parts));
}

// --- roles, barriers ---

// A warp that does nothing any more and waits for nothing has left. (Unless all are stopped.)
const hasLeft = (agent) => lastEventOf[agent] <= state.at && state.agents[agent].wait < 0 && !(failed && state.at >= reportAt && lastEventOf[agent] === reportAt);
function groupState(group) {
  const alive = group.agents.filter((agent) => !hasLeft(agent));
  const waiting = alive.filter((agent) => state.agents[agent].wait >= 0);
  if (!alive.length) return { text: failed && state.at >= reportAt ? "is stopped" : "has left the kernel", ended: true };
  if (waiting.length === alive.length) {
    const latest = waiting.reduce((a, b) => state.agents[a].event >= state.agents[b].event ? a : b);
    const wait = state.agents[latest].wait;
    return { text: waitsFor(spans[wait]), wait, line: events[spans[wait].begin].line };
  }
  const latest = alive.filter((agent) => state.agents[agent].wait < 0).reduce((a, b) => state.agents[a].event >= state.agents[b].event ? a : b);
  const event = state.agents[latest].event;
  if (event < 0) return { text: "has not begun" };
  if (failed && state.at >= reportAt) return { text: "is stopped" };
  const some = waiting.length ? ` (${waiting.length} of ${alive.length} warps wait)` : "";
  return { text: shortly(events[event]) + some };
}
function shortly(event) {
  switch (event.kind) {
    case "call": return `runs: ${run.instructions[event.instruction]}`;
    case "arrive": return `arrives at ${barrierName(event.barrier)}`;
    case "pass": return `passes ${barrierName(event.barrier)}`;
    case "resume": return "goes on";
    case "load": return `asks for ${spans[event.span].name}`;
    case "store": return `asks for ${spans[event.span].name}`;
    default: return "runs";
  }
}
function drawRoles() {
  const cards = groups.filter((group) => group.agents.some((agent) => lastEventOf[agent] >= 0)).map((group) => {
    const now = groupState(group);
    const lines_ = now.ended ? [] : now.line > 0 ? [now.line] : [...new Set(group.agents.filter((agent) => !hasLeft(agent)).map((agent) => state.agents[agent].line).filter((line) => line > 0))].sort((a, b) => a - b);
    const active = events.length && group.agents.includes(events[current].agent);
    const name = `card${now.wait !== undefined ? " waits" : ""}`;
    const content = [make("b", {}, make("span", { class: `badge${now.wait !== undefined ? " waits" : now.ended ? " ended" : ""}` }, group.badge), ` ${inBlock(group.block)}${group.name}`),
      make("span", { class: "state" }, now.text, lines_.length ? `, line${lines_.length > 1 ? "s" : ""} ${lines_.join(", ")}` : "")];
    const classes = `role ${name}${active ? " now" : ""}`;
    return now.wait !== undefined ? make("button", { type: "button", class: classes, title: "what it waits for, and who completes it", click: () => { if (picked !== now.wait) pick(now.wait); $("detail").scrollIntoView({ block: "nearest" }); } }, ...content)
      : make("div", { class: classes }, ...content);
  });
  $("roles").replaceChildren(...cards);
}
const order = barriers.map((_, i) => i).sort((a, b) => barriers[a].block - barriers[b].block || Number(barriers[b].bytes) - Number(barriers[a].bytes) || barriers[a].family.localeCompare(barriers[b].family) || barriers[a].stage - barriers[b].stage);
function meter(part, whole, hue) {
  return svg("svg", { viewBox: "0 0 80 10", role: "img", "aria-label": `${number(part)} of ${number(whole)}` }, svg("rect", { x: 0, y: 0.5, width: 80, height: 9, rx: 2, class: "track" }),
    svg("rect", { x: 0, y: 0.5, width: whole > 0 ? 80 * Math.min(1, Math.max(0, part / whole)) : 0, height: 9, rx: 2, class: hue >= 0 ? `hue${hue}` : "bar" }));
}
function drawBarriers() {
  const rows = order.flatMap((i, place) => {
    const heading = several && (place === 0 || barriers[order[place - 1]].block !== barriers[i].block) ? [make("tr", { class: "block" }, make("td", { colspan: 6 }, `block ${barriers[i].block}`))] : [];
    const barrier = barriers[i], now = state.barriers[i], hue = hueOf(i);
    const waiting = groups.map((group) => ({ group, waits: group.agents.filter((agent) => state.agents[agent].wait >= 0 && spans[state.agents[agent].wait].barrier === i) })).filter(({ waits }) => waits.length);
    const touched = events.length && events[current].barrier === i;
    return [...heading, make("tr", { class: touched ? "now" : "", "data-barrier": barrier.name },
      make("td", {}, shortName(i)), make("td", {}, String(now.phase)), make("td", {}, String(now.phase % 2)),
      make("td", {}, meter(now.pending, barrier.expected, hue), `${now.pending} of ${barrier.expected}`),
      make("td", {}, ...(barrier.bytes ? [meter(now.transaction, now.announced, hue), number(now.transaction)] : ["–"])),
      make("td", {}, ...waiting.flatMap(({ group, waits }) => [make("button", { type: "button", class: "link-button", title: `${nameOf(waits[0])} ${waitsFor(spans[state.agents[waits[0]].wait])}`, click: () => pick(state.agents[waits[0]].wait) },
        make("span", { class: "badge waits" }, (several ? `${group.block}:` : "") + group.badge)), " "])))];
  });
  document.querySelector("#barriers tbody").replaceChildren(...rows);
}

// --- the source ---

let shownFile = -1;
const lineElements = [];
function coloured(line) {
  const cut = line.search(/(^|\s)\/\//);
  const code = cut < 0 ? line : line.slice(0, cut), comment = cut < 0 ? "" : line.slice(cut);
  const parts = [];
  let rest = code;
  for (let found; (found = rest.match(/ptx::\w+|__syncthreads/));) {
    parts.push(rest.slice(0, found.index), make("span", { class: "wrapper" }, found[0]));
    rest = rest.slice(found.index + found[0].length);
  }
  parts.push(rest);
  if (comment) parts.push(make("span", { class: "comment" }, comment));
  return parts;
}
// "- 96  old" and "+ 96  new": what is changed in which line.
const changesByLine = new Map();
for (const [, sign, line, text_] of about.change.matchAll(/^([-+]) (\d+)  (.*)$/gm)) {
  changesByLine.set(Number(line), { ...changesByLine.get(Number(line)), [sign === "-" ? "before" : "after"]: text_ });
}
const mainFile = Math.max(0, run.files.findIndex((file) => file.name.endsWith("kernel.cu")));
function showFile(file) {
  if (file === shownFile || !run.files[file]) return;
  shownFile = file;
  const list = make("ol", {});
  lineElements.length = 0;
  const changes = file === mainFile ? changesByLine : new Map();
  run.files[file].text.replace(/\n$/, "").split("\n").forEach((line, i) => {
    const marks = make("span", { class: "marks" });
    const element = make("li", { "data-line": i + 1 }, marks, make("span", { class: "number" }, String(i + 1)), make("span", {}, ...coloured(line)));
    lineElements[i + 1] = { element, marks };
    list.append(element);
    const change = changes.get(i + 1);
    if (!change) return;
    element.lastChild.className = "gone";
    if (change.after) list.append(make("li", { class: "new" }, make("span"), make("span", { class: "number" }, "+"), make("span", {}, line.match(/^\s*/)[0] + change.after)));
  });
  $("source").replaceChildren(list);
}
function drawFiles() {
  $("files").replaceChildren(...run.files.map((file, i) => make("button", { type: "button", "aria-pressed": String(i === shownFile), click: () => { showFile(i); drawSource(false); } }, file.name)));
}
function drawSource(follow) {
  const event = events[current];
  if (follow && event && event.line > 0) showFile(event.file);
  if (shownFile < 0) showFile(mainFile);
  drawFiles();
  for (const line of lineElements) {
    if (!line || !line.element.className) continue;
    line.element.className = "";
    line.marks.replaceChildren();
  }
  const marks = new Map();
  for (const group of groups) {
    const by = new Map();
    for (const agent of group.agents) {
      const now = state.agents[agent];
      const at = now.wait >= 0 ? events[spans[now.wait].begin] : now;
      if (at.file !== shownFile || at.line < 0 || hasLeft(agent)) continue;
      by.set(at.line, (by.get(at.line) || false) || now.wait >= 0);
    }
    for (const [line, waits] of by) {
      const list = marks.get(line) || [];
      marks.set(line, list);
      if (!list.some((mark) => mark.badge === group.badge)) list.push({ badge: group.badge, waits });
    }
  }
  for (const [line, list] of marks) {
    if (!lineElements[line]) continue;
    lineElements[line].element.className = "at";
    lineElements[line].marks.replaceChildren(...list.map((mark) => make("span", { class: `badge${mark.waits ? " waits" : ""}` }, mark.badge)));
  }
  if (!event || event.line <= 0 || event.file !== shownFile || !lineElements[event.line]) return;
  const element = lineElements[event.line].element;
  element.className = event.kind === "report" ? "bad" : "now";
  if (!follow) return;
  const box_ = $("source"), y = element.offsetTop;
  if (y < box_.scrollTop + 40 || y > box_.scrollTop + box_.clientHeight - 60) box_.scrollTop = Math.max(0, y - box_.clientHeight / 2);
}

// --- moving ---

function show() {
  stateAt(current);
  const event = events[current];
  $("slider").value = current;
  $("where").textContent = events.length ? `turn ${event.turn} of ${lastTurn} · event ${current + 1} of ${number(events.length)}` : "";
  const line = event ? placeOf(event) : "";
  $("say").replaceChildren(make("span", { class: "turn" }, event ? `turn ${event.turn}` : ""), event ? sentence(event) : "Nothing happened in this run.", ...(line ? [" ", make("code", {}, line)] : []));
  $("say").classList.toggle("refused", Boolean(event) && event.kind === "report");
  drawTimeline();
  drawDetail();
  $("rings").replaceChildren(...range(run.blocks).filter((block) => rings[block].length).map(drawRing));
  drawRoles();
  drawBarriers();
  drawSource(true);
}
function go(event) {
  current = Math.max(0, Math.min(events.length - 1, event));
  show();
}
const MOVES = {
  first: () => go(0),
  last: () => go(events.length - 1),
  event: () => go(current + 1),
  "event-back": () => go(current - 1),
  // To the last event of the next turn, or of the turn before.
  turn: () => {
    let i = Math.min(current + 1, events.length - 1);
    while (i + 1 < events.length && events[i + 1].turn === events[i].turn) ++i;
    go(i);
  },
  "turn-back": () => {
    let i = current;
    while (i > 0 && events[i].turn === events[current].turn) --i;
    go(i);
  },
  hazard: () => go(reportAt),
};
function play(on) {
  clearInterval(playing);
  playing = null;
  if (on) {
    if (current >= events.length - 1) go(0);
    playing = setInterval(() => {
      MOVES.event();
      if (current >= events.length - 1) play(false);
    }, Number($("speed").value));
  }
  $("play").textContent = playing ? "pause" : "play";
}
function zoom(factor) {
  const width = $("timeline").clientWidth;
  const shown = Math.min(Math.max(4, endTime), turnsShown || (width < 560 ? 110 : 260));
  turnsShown = Math.max(4, Math.min(Math.max(4, endTime), Math.round(shown * factor)));
  drawTimeline();
}
document.querySelectorAll("[data-move]").forEach((element) => element.addEventListener("click", () => { play(false); MOVES[element.dataset.move](); }));
$("play").addEventListener("click", () => play(!playing));
$("speed").addEventListener("change", () => { if (playing) play(true); });
$("slider").addEventListener("input", () => { play(false); go(Number($("slider").value)); });
$("closer").addEventListener("click", () => zoom(0.6));
$("farther").addEventListener("click", () => zoom(1 / 0.6));
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  const onSlider = event.target === $("slider");
  const key = event.key;
  const move = key === "ArrowRight" ? (event.shiftKey ? "turn" : "event") : key === "ArrowLeft" ? (event.shiftKey ? "turn-back" : "event-back") : key === "Home" ? "first" : key === "End" ? "last" : null;
  if (move) { event.preventDefault(); play(false); MOVES[move](); }
  else if (key === " " && (event.target === document.body || onSlider || event.target === $("source"))) { event.preventDefault(); play(!playing); }
  else if (key === "+" || key === "=") zoom(0.6);
  else if (key === "-") zoom(1 / 0.6);
  else if (key === "Escape") pick(-1);
});
let resizing = 0;
addEventListener("resize", () => { cancelAnimationFrame(resizing); resizing = requestAnimationFrame(drawTimeline); });

// --- the page's head ---

document.title = `Watch: ${about.title}`;
$("title").textContent = about.title.replace(/(\d)x(?=\d)/g, "$1 × ");
const blocksText = several ? `blocks ${run.first_block} to ${run.first_block + run.blocks - 1}, a cluster` : `block ${run.first_block}`;
$("about").textContent = `${blocksText} · ${plural(kTiles, "K tile")} · ${number(events.length)} events in ${number(lastTurn + 1)} turns · delays: ${about.delays}` +
  (run.left_out ? ` · ${number(run.left_out)} later events are left out: choose a smaller problem` : "");
if (failed) {
  $("hazard").hidden = false;
  $("hazard").textContent = `Hazard in turn ${events[reportAt].turn}: ${run.report.title}. Go there`;
  $("hazard").addEventListener("click", () => { play(false); MOVES.hazard(); });
}
if (about.change || failed) {
  $("change").hidden = false;
  $("change").replaceChildren(
    ...(about.change ? [make("details", {}, make("summary", {}, "What is changed in the source below"), make("pre", { class: "change" }, about.change))] : []),
    ...(failed ? [make("details", {}, make("summary", {}, "The emulator's report"), make("pre", { class: "report" }, run.report.text))] : []));
}
$("ring_title").textContent = Math.max(...rings.map((ring) => ring.length), 0) > 1 ? "The ring" : "The stage";
$("slider").max = Math.max(0, events.length - 1);
const swatch = (classes) => { const element = make("span", { class: "swatch" }); element.style.cssText = classes; return element; };
$("legend").replaceChildren("The colour is the stage.", swatch("border:1px dashed var(--soft)"), "waits", swatch("background:var(--accent-soft);opacity:.6"), "copy under way", swatch("background:var(--accent-soft)"), "WGMMA executes; the thin bar below: its K tile, from the first issue to the last result. Dots: arrivals. Arrows lead from the last byte (solid) or last arrival (dotted) to the wait that it ends. Click a bar for its story, the empty ground to go there.");
$("states").replaceChildren(...Object.entries(STATES).flatMap(([name, meaning], i) => [i ? " · " : "", make("b", {}, name), `: ${meaning}`]), ". Marks outside: where each role is; orange: it waits there.");
addEventListener("load", show);
if (document.readyState === "complete") show();
// For tests and for the console.
globalThis.player = { go: (event) => go(event), get current() { return current; }, get state() { return state; }, events, spans, groups, pick };
}
