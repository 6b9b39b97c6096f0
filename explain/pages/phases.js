// The stepper walks the states that the emulator's barrier went through; it has no rules of its own.
const barriers = data.phases.barriers;

// [action or "wait 0", what to say of it]; actions by their place in the barrier's list.
const STORIES = {
  "full of v1": [["one K tile after the other", [
    ["wait 0", "The consumer waits for parity 0, the first phase. It is incomplete: try_wait returns false."],
    [0, "Thread 0 arrives and announces 32 KiB. No arrival is pending any more, but all the bytes are."],
    [1, "The tile of A has landed. TMA takes its bytes off."],
    ["wait 0", "Still phase 0: half of its bytes are missing."],
    [1, "The tile of B has landed. Nothing is pending: phase 0 is complete, phase 1 has begun."],
    ["wait 0", "Now the consumer passes, and flips its parity: it will wait for 1."],
    [0, "The next K tile is announced, in phase 1."],
    ["wait 1", "Parity 1 names the current phase: the consumer waits."],
    [1, "A has landed."],
    [1, "B has landed: phase 1 is complete."],
    ["wait 1", "The consumer passes, and flips its parity back to 0."],
  ]], ["too late by two phases", [
    [0, "The first K tile is announced."], [1, "A lands."], [1, "B lands: phase 0 is complete. Nobody has waited for it yet."],
    [0, "The second K tile is announced."], [1, "A lands."], [1, "B lands: phase 1 is complete, too."],
    ["wait 0", "Who comes only now and asks for phase 0 waits: parity 0 is that of phase 2. It would wait for a K tile that may never come."],
  ]], ["an arrival without bytes", [
    [2, "mbarrier_arrive instead of arrive_expect_tx. Nothing is pending: the phase is complete at once, and no byte has landed."],
    ["wait 0", "The consumer passes, and reads a tile that is not there."],
    [1, "The bytes land in the next phase, which has announced none: less than nothing is pending."],
    [2, "What does the barrier do with an arrival that announces less than was loaded? The emulator says."],
  ]]],
  "full[s] of v4": [["a K tile in three copies", [
    [0, "The producer arrives and announces 48 KiB: two slabs of A and one tile of B."],
    [1, "The slab of A for the first consumer has landed."],
    [2, "B has landed. Copies need not land in the order of their issue."],
    ["wait 0", "Both consumers wait: one slab is missing."],
    [1, "The last slab has landed: the phase is complete for both consumers at once."],
    ["wait 0", "Both pass."],
  ]], ["bytes before their announcement", [
    [1, "A copy that was issued before expect_tx lands. Less than nothing is pending, and that is legal: the arrival holds the phase open."],
    [0, "The arrival announces all 48 KiB; 40 KiB of them are still to land."],
    [1, "The second slab lands."], [2, "B lands: the phase is complete. (Still: announce first. If the arrival were another thread's, nothing would hold the phase open.)"],
  ]]],
  "empty[s] of v4": [["the producer's first wait", [
    ["wait 1", "The producer begins with parity 1. A fresh barrier is in phase 0, so the wait passes: the stage is empty."],
    [0, "One consumer has read the stage, and arrives."],
    ["wait 0", "The producer comes round again, with parity 0: the other consumer still reads. It waits."],
    [0, "The second one arrives: phase 0 is complete, the stage is empty."],
    ["wait 0", "The producer passes and fills the stage again."],
  ]], ["if it began with parity 0", [
    ["wait 0", "The producer waits until the consumers release a stage that nobody has filled. They wait for it to be filled: deadlock."],
  ]]],
  "empty[s] of v3": [["four warps release a stage", [
    [1, "A warp of the consumer arrives, each thread for itself: 32 arrivals."],
    [1, "The second warp."], [1, "The third."],
    ["wait 0", "The producer waits: one warp still reads."],
    [1, "The fourth: 128 arrivals, the phase is complete."],
    ["wait 0", "The producer passes."],
  ]]],
  "empty[s] of v7": [["two consumers of two blocks", [
    [0, "A consumer of this block."], [0, "A consumer of the other block: it reads the half of B that this block sends to it."],
    [0, "Another one."], ["wait 0", "Three of four: the stage may not be overwritten, neither here nor there."],
    [0, "The fourth: complete."], ["wait 0", "The producer passes."],
  ]]],
};

let barrier, story, steps;  // steps: what has happened, each with the state after it
let told = 0;  // steps of the story that have been taken

const now = () => steps[steps.length - 1];
const stateOf = (step) => barrier.states[step.state];

function start() {
  barrier = barriers[Number($("barrier").value)];
  story = STORIES[barrier.name][Number($("story").value)][1];
  told = 0;
  fill("actions", ...barrier.actions.map((action, index) => make("button", { type: "button", click: () => act(index), "data-action": index }, action.label)),
    ...[0, 1].map((parity) => make("button", { type: "button", click: () => ask(parity), "data-wait": parity }, `wait(${parity})`)));
  steps = [{ event: "mbarrier_init", state: 0, phase: 0, told: 0, say: `A fresh barrier is in phase 0. ${plural(barrier.count, "arrival")} ${barrier.count === 1 ? "is" : "are"} pending.` }];
  show();
}

function act(index, say) {
  const at = now(), edge = stateOf(at).edges[index], action = barrier.actions[index];
  if (edge.to < 0) {
    steps.push({ ...at, event: `${action.label}: refused`, refused: true, told, say: `${say ? say + " " : ""}${edge.refused}` });
  } else {
    const phase = at.phase + (edge.completes ? 1 : 0);
    const result = edge.completes ? `Nothing is pending: phase ${at.phase} is complete, phase ${phase} has begun.`
      : `Phase ${phase} goes on.`;
    steps.push({ event: action.label, state: edge.to, phase, completes: edge.completes, told, say: say || result });
  }
  show();
}

function ask(parity, say) {
  const at = now(), passes = stateOf(at).passes[parity];
  steps.push({ ...at, event: `wait(${parity}) ${passes ? "passes" : "waits"}`, completes: false, refused: false, told, say: say || because(parity) });
  show();
}

function because(parity) {
  const { phase } = now(), passes = stateOf(now()).passes[parity];
  if (passes) {
    return phase === 0 ? "The current phase, 0, is even: as if an odd phase before it had completed. try_wait returns true."
      : `The current phase, ${phase}, has the other parity: phase ${phase - 1} is complete. try_wait returns true.`;
  }
  return `The current phase, ${phase}, has parity ${parity} itself: it is incomplete. try_wait returns false.`;
}

function next() {
  if (told >= story.length) return;
  const [what, say] = story[told++];
  if (typeof what === "string") ask(Number(what.slice(-1)), say);
  else act(what, say);
}
function back() {
  if (steps.length < 2) return;
  steps.pop();
  told = now().told;
  show();
}

function picture() {
  const state = stateOf(now()), { phase } = now();
  const parts = [];
  // Phases as a ribbon, the current one in the middle.
  for (const i of range(3)) {
    const which = phase - 1 + i, x = i * 120;
    if (which < 0) {
      parts.push(box(x + 1, 1, 116, 40, "frame", { rx: 6, "stroke-dasharray": "4 4" }), text(x + 59, 18, "before", "middle soft"), text(x + 59, 33, "counts as complete", "middle soft"));
      continue;
    }
    parts.push(box(x + 1, 1, 116, 40, i === 1 ? "current" : "track", { rx: 6, style: i === 1 ? "fill:var(--accent-soft);stroke:var(--accent);stroke-width:2" : "" }));
    parts.push(text(x + 59, 18, `phase ${which}`, "middle"));
    parts.push(text(x + 59, 33, i === 0 ? "complete" : i === 1 ? `now, parity ${which % 2}` : "to come", `middle${i === 1 ? "" : " soft"}`));
  }
  // Arrivals: dots, or where they are many a bar.
  parts.push(text(0, 72, `arrivals pending: ${state.arrivals} of ${barrier.count}`));
  if (barrier.count <= 4) {
    for (const i of range(barrier.count)) {
      const pending = i >= barrier.count - state.arrivals;
      parts.push(make("circle", { cx: 14 + i * 34, cy: 94, r: 11, style: pending ? "fill:var(--accent)" : "fill:none;stroke:var(--line);stroke-width:2" }));
    }
  } else {
    parts.push(box(1, 84, 354, 20, "track", { rx: 4 }));
    parts.push(box(1, 84, 354 * state.arrivals / barrier.count, 20, "bar", { rx: 4 }));
  }
  if (barrier.bytes > 0) {
    parts.push(text(0, 138, `bytes pending: ${number(state.bytes)}`));
    parts.push(box(1, 150, 354, 20, "track", { rx: 4 }));
    const width = state.bytes === 0 ? 0 : 354 * Math.min(1, Math.abs(state.bytes) / barrier.bytes);
    parts.push(box(1, 150, width, 20, state.bytes < 0 ? "bar over" : "bar", { rx: 4 }));
    if (state.bytes < 0) parts.push(text(0, 186, "landed, and not announced in this phase", "soft"));
  }
  return drawing(358, barrier.bytes > 0 ? 192 : 112, $("fact").textContent, ...parts);
}

function show() {
  const step = now(), state = stateOf(step);
  $("of").textContent = `${barrier.name} completes a phase on ${barrier.of}.`;
  $("fact").textContent = `Phase ${step.phase} lacks ${plural(state.arrivals, "arrival")}${barrier.bytes > 0 ? ` and ${plural(state.bytes, "byte")}` : ""}: wait(${step.phase % 2}) waits, wait(${1 - step.phase % 2}) passes.`;
  fill("picture", picture());
  for (const parity of [0, 1]) {
    const passes = state.passes[parity];
    $(`wait${parity}`).className = `gate ${passes ? "passes" : "waits"}`;
    fill(`wait${parity}`, make("b", {}, `wait(${parity}) ${passes ? "passes" : "waits"}`), because(parity));
  }
  $("say").className = step.refused ? "say refused" : "say";
  $("say").textContent = step.say;
  $("next").disabled = told >= story.length;
  $("next").textContent = told >= story.length ? "the story is told" : `next step of the story (${told + 1} of ${story.length})`;
  $("back").disabled = steps.length < 2;
  fill("history", ...steps.map((each, place) => {
    const { arrivals, bytes, passes } = stateOf(each);
    return make("tr", { class: place === steps.length - 1 ? "now" : "" }, make("td", {}, each.event + (each.completes ? " → complete" : "")), make("td", {}, String(each.phase)),
      make("td", {}, String(arrivals)), make("td", {}, number(bytes)),
      ...[0, 1].map((parity) => make("td", { class: passes[parity] ? "passes" : "waits" }, passes[parity] ? "passes" : "waits")));
  }).reverse());
}

function tell() {
  fill("story", ...STORIES[barriers[Number($("barrier").value)].name].map(([name], i) => make("option", { value: i }, name)));
  start();
}
fill("barrier", ...barriers.map(({ name }, i) => make("option", { value: i }, name)));
$("barrier").addEventListener("change", tell);
$("story").addEventListener("change", start);
$("next").addEventListener("click", next);
$("back").addEventListener("click", back);
$("reset").addEventListener("click", start);
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || /SELECT|INPUT/.test(event.target.tagName)) return;
  if (event.key === "ArrowRight") next();
  else if (event.key === "ArrowLeft") back();
});
tell();
