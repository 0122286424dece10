import { expect, test } from "vitest";
import { expect as expected, parts, type Ending, type Timed } from "./criticalpath";

// An independent model: runs are simulated moment by moment, a rule is decided as soon as every way in which the undecided upstreams could end
// gives the same decision, and slack is found by delaying a stage by 1, 2, 3 … until the run ends later.

type Decision = "run" | "skip" | "upstream_failed";
const endings: readonly Ending[] = ["succeeded", "failed", "upstream_failed", "skipped"];

/** The table of trigger rules. */
function final(rule: string, of: readonly Ending[]): Decision {
  const n = of.length;
  const s = of.filter((e) => e === "succeeded").length;
  const f = of.filter((e) => e === "failed").length;
  const u = of.filter((e) => e === "upstream_failed").length;
  const k = of.filter((e) => e === "skipped").length;
  switch (rule) {
    case "all_success": return s === n ? "run" : f + u > 0 ? "upstream_failed" : "skip";
    case "all_failed": return f + u === n ? "run" : "skip";
    case "all_skipped": return k === n ? "run" : "skip";
    case "one_success": return s > 0 ? "run" : k === n ? "skip" : "upstream_failed";
    case "one_failed": return f + u > 0 ? "run" : "skip";
    case "one_done": return s + f > 0 ? "run" : "skip";
    case "none_failed": return f + u === 0 ? "run" : "upstream_failed";
    case "none_failed_min_one_success": return f + u > 0 ? "upstream_failed" : s > 0 ? "run" : "skip";
    case "none_skipped": return k === 0 ? "run" : "skip";
    case "all_done_min_one_success": return k > 0 ? "skip" : s > 0 ? "run" : "upstream_failed";
    default: return "run"; // all_done, always
  }
}

const decided = new Map<string, Decision | undefined>();

function early(rule: string, of: readonly (Ending | undefined)[]): Decision | undefined {
  if (of.length === 0 || rule === "always") return "run";
  if (rule === "all_done" && of.includes(undefined)) return undefined;
  const key = rule + of.join();
  if (decided.has(key)) return decided.get(key);
  let ways: Ending[][] = [[]];
  for (const e of of) ways = ways.flatMap((w) => (e === undefined ? endings : [e]).map((x) => [...w, x]));
  const decisions = new Set(ways.map((w) => final(rule, w)));
  const decision = decisions.size === 1 ? [...decisions][0] : undefined;
  decided.set(key, decision);
  return decision;
}

interface Made {
  name: string;
  upstreams: string[];
  rule: string;
  takes: number;
  fails: boolean;
}

function simulate(made: readonly Made[]): Timed[] {
  const out = new Map<string, Timed>();
  for (let now = 0; out.size < made.length || [...out.values()].some((t) => (t.end ?? 0) > now); now++) {
    // What ends now may let others go now, which may end now.
    for (let again = true; again; ) {
      again = false;
      for (const m of made) {
        if (out.has(m.name)) continue;
        const decision = early(m.rule, m.upstreams.map((u) => { const t = out.get(u); return t && (t.end ?? 0) <= now ? t.ending : undefined; }));
        if (decision === undefined) continue;
        out.set(m.name, {
          ...m,
          ready: now,
          end: decision === "run" ? now + m.takes : now,
          ending: decision === "run" ? (m.fails ? "failed" : "succeeded") : decision === "skip" ? "skipped" : "upstream_failed",
        });
        again = true;
      }
    }
    if (now > 1000) throw new Error("the simulation does not end");
  }
  return made.map((m) => out.get(m.name) ?? { ...m });
}

const rules = ["all_success", "all_failed", "all_done", "all_skipped", "one_success", "one_failed", "one_done", "none_failed", "none_failed_min_one_success", "none_skipped", "all_done_min_one_success", "always"];

const endOf = (run: readonly Timed[]): number => Math.max(...run.map((t) => t.end ?? 0));

/** Where the critical path and slack are not what trying finds. */
function wrong(made: readonly Made[]): string[] {
  const out: string[] = [];
  const run = simulate(made);
  const end = endOf(run);
  const got = parts(run, 0);
  made.forEach((m, i) => {
    let slack = 0;
    const skipped = run[i]?.ending === "skipped" || run[i]?.ending === "upstream_failed";
    if (skipped) return; // Its end is a moment of deciding, which cannot be drawn out
    while (slack < 100 && endOf(simulate(made.map((x) => (x === m ? { ...x, takes: x.takes + slack + 1 } : x)))) <= end) slack++;
    if (got.get(m.name)?.slack !== slack) out.push(`${m.name}: slack ${got.get(m.name)?.slack}, by trying ${slack}, of ${JSON.stringify(run)}`);
  });
  const path = [...got.values()].filter((p) => p.critical);
  const sum = path.reduce((s, p) => s + p.added, 0);
  if (sum !== end) out.push(`the path adds up to ${sum}, the run took ${end}: ${JSON.stringify(run)}`);
  return out;
}

// mulberry32
function random(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

test("slack is what trying finds: every graph of three stages, all rules", () => {
  // Edges a→b, a→c, b→c; durations that make each stage the longest once; which of them fail.
  for (let edges = 0; edges < 8; edges++) {
    for (const rule of rules) {
      for (let fails = 0; fails < 8; fails++) {
        for (const takes of [[1, 2, 4], [2, 4, 1]]) {
          const found = wrong([
            { name: "a", upstreams: [], rule: "all_success", takes: takes[0] ?? 0, fails: (fails & 1) > 0 },
            { name: "b", upstreams: edges & 1 ? ["a"] : [], rule: edges & 2 ? "all_done" : rule, takes: takes[1] ?? 0, fails: (fails & 2) > 0 },
            { name: "c", upstreams: [...(edges & 2 ? ["a"] : []), ...(edges & 4 ? ["b"] : [])], rule, takes: takes[2] ?? 0, fails: (fails & 4) > 0 },
          ]);
          expect(found).toEqual([]);
        }
      }
    }
  }
});

test("slack is what trying finds: drawn graphs of up to six stages", () => {
  const rnd = random(7);
  for (let round = 0; round < 500; round++) {
    const n = 2 + Math.floor(rnd() * 5);
    const made: Made[] = [];
    for (let i = 0; i < n; i++) {
      made.push({
        name: `s${i}`,
        upstreams: made.filter(() => rnd() < 0.45).map((m) => m.name),
        rule: rnd() < 0.4 ? "all_success" : (rules[Math.floor(rnd() * rules.length)] ?? "all_done"),
        takes: Math.floor(rnd() * 7),
        fails: rnd() < 0.25,
      });
    }
    expect(wrong(made)).toEqual([]);
  }
});

const at = (name: string, upstreams: string[], ready: number, end: number): Timed => ({ name, upstreams, rule: "all_success", ready, end, ending: "succeeded" });

test("the chain and what each of it added", () => {
  // start 0; extract 0–10; clean 10–40; quick 10–15; load waits for both, and for a worker: 40–60.
  const got = parts([at("extract", [], 0, 10), at("clean", ["extract"], 10, 40), at("quick", ["extract"], 10, 15), at("load", ["clean", "quick"], 40, 60)], 0);
  expect(got.get("extract")).toEqual({ critical: true, slack: 0, added: 10, expected: false });
  expect(got.get("clean")).toEqual({ critical: true, slack: 0, added: 30, after: "extract", expected: false });
  expect(got.get("quick")).toEqual({ critical: false, slack: 25, added: 5, after: "extract", expected: false });
  expect(got.get("load")).toEqual({ critical: true, slack: 0, added: 20, after: "clean", expected: false });
});

test("an aligned stage adds what it takes after the stage that it follows", () => {
  const got = parts([at("extract", [], 0, 100), { ...at("load", ["extract"], 1, 104), aligned: "extract" }], 0);
  expect(got.get("load")).toMatchObject({ critical: true, added: 4, after: "extract" });
  expect(got.get("extract")).toMatchObject({ critical: true, added: 100, slack: 0 });
});

test("a stage that an operator let go before its upstreams ended waited for none of them", () => {
  const got = parts([at("a", [], 0, 50), at("b", ["a"], 10, 60)], 0);
  expect(got.get("b")).toEqual({ critical: true, slack: 0, added: 60, expected: false });
  expect(got.get("a")).toMatchObject({ critical: false, slack: 10 });
});

test("what has no end takes no part, and nothing is nothing", () => {
  expect(parts([], 0).size).toBe(0);
  const got = parts([at("a", [], 0, 10), { name: "b", upstreams: ["a"], rule: "all_success" }], 0);
  expect([...got.keys()]).toEqual(["a"]);
});

test("a run that is not over is measured against what is usual", () => {
  const run: Timed[] = [at("a", [], 0, 10), { name: "b", upstreams: ["a"], rule: "all_success", ready: 10 }, { name: "c", upstreams: ["a"], rule: "all_success", ready: 10 }, { name: "d", upstreams: ["b", "c"], rule: "all_success" }];
  const full = expected(run, new Map([["b", 30], ["c", 5], ["d", 7]]), 20);
  expect(full.map((t) => [t.name, t.ready, t.end, t.expected ?? false])).toEqual([["a", 0, 10, false], ["b", 10, 40, true], ["c", 10, 20, true], ["d", 40, 47, true]]);
  const got = parts(full, 0);
  expect(got.get("c")).toMatchObject({ critical: false, slack: 20, expected: true });
  expect(got.get("d")).toMatchObject({ critical: true, added: 7 });
});

test("500 stages take no more than a moment", () => {
  const rnd = random(3);
  const made: Timed[] = [];
  for (let i = 0; i < 500; i++) {
    const ups = made.slice(-30).filter(() => rnd() < 0.1).map((m) => m.name);
    const ready = Math.max(0, ...ups.map((u) => made.find((m) => m.name === u)?.end ?? 0));
    made.push(at(`s${i}`, ups, ready, ready + Math.floor(rnd() * 60_000)));
  }
  parts(made, 0);
  const begin = performance.now();
  parts(made, 0);
  const took = performance.now() - begin;
  // Far above what it takes (some 20 ms): machines that test are busy.
  expect(took).toBeLessThan(1000);
});
