import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { Chart } from "./Chart";
import { ZoneContext } from "./zone";

// There is nothing to draw on here.
vi.mock("./Plot", () => ({ default: () => null }));
afterEach(cleanup);

const noon = Date.parse("2026-11-29T12:00:00Z") / 1000;

test("the legend says the newest values, and the table has all of them, the newest first", () => {
  render(
    <ZoneContext value={{ zone: "utc", setZone: () => {} }}>
      <Chart
        label="Runs a second"
        times={[noon, noon + 60, noon + 120]}
        series={[
          { name: "started", paint: "s-running", values: [1, 2, null] },
          { name: "failed", paint: "s-failed", values: [0, null, null] },
        ]}
        format={(v) => `${v}/s`}
      />
    </ZoneContext>,
  );
  const figure = screen.getByRole("figure", { name: "Runs a second" });
  expect(figure.textContent).toContain("started 2/s");
  expect(figure.textContent).toContain("failed –");
  fireEvent.click(screen.getByRole("button", { name: "Show as table" }));
  const rows = within(screen.getByRole("table")).getAllByRole("row").map((row) => row.textContent);
  expect(rows).toEqual(["Timestartedfailed", "12:02:00––", "12:01:002/s–", "12:00:001/s0/s"]);
});

test("a chart without values stands empty", () => {
  render(<Chart label="Nothing" times={[]} series={[{ name: "started", paint: "accent", values: [] }]} format={String} />);
  expect(screen.getByRole("figure", { name: "Nothing" }).textContent).toContain("started –");
});
