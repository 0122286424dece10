import { expect, test } from "vitest";
import { crumbs } from "./crumbs";

const run = "01937f2e-5b7e-7cc3-98c4-dc0c0c07398f";

test("the way to each kind of screen", () => {
  expect(crumbs("/")).toEqual([{ name: "Overview" }]);
  expect(crumbs("/queues")).toEqual([{ name: "Queues" }]);
  expect(crumbs("/flows/daily-recon/start")).toEqual([{ name: "Flows", to: "/flows" }, { name: "daily-recon", to: "/flows/daily-recon" }, { name: "Start run" }]);
  expect(crumbs(`/runs/${run}/stages/load/shards/12`)).toEqual([
    { name: "Runs", to: "/runs" },
    { name: "01937f2e…398f", title: run, to: `/runs/${run}` },
    { name: "load", to: `/runs/${run}/stages/load` },
    { name: "shard 12" },
  ]);
  expect(crumbs(`/runs/${run}/stages/plan/shards/-1`).at(-1)).toEqual({ name: "plan" });
});

test("names that look like the address's own words are names", () => {
  expect(crumbs("/flows/start").map((c) => c.name)).toEqual(["Flows", "start"]);
  expect(crumbs(`/runs/${run}/stages/compare`).map((c) => c.name)).toEqual(["Runs", "01937f2e…398f", "compare"]);
  expect(crumbs("/flows/a%2Fb/start")[1]).toEqual({ name: "a/b", to: "/flows/a%2Fb" });
  expect(crumbs("/flows/%zz")).toHaveLength(2);
});

test("what is no place has no way", () => {
  expect(crumbs("/nowhere/x")).toEqual([]);
});
