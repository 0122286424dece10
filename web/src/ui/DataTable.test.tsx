import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { DataTable, type Column } from "./DataTable";

// With a busy machine a long row of keys takes its time.
vi.setConfig({ testTimeout: 60_000 });
afterEach(cleanup);

interface Row {
  id: string;
}
const columns: Column<Row>[] = [
  { id: "id", head: "Id", cell: (r) => <a href={`#${r.id}`}>{r.id}</a> },
  { id: "n", head: "N", align: "right", cell: () => "1" },
];
const make = (n: number, from = 0): Row[] => Array.from({ length: n }, (_, i) => ({ id: `r${i + from}` }));
const rowKey = (r: Row) => r.id;

function Table({ rows, onOpen, onKeys, more }: { rows: Row[]; onOpen?: (r: Row) => void; onKeys?: (keys: string[]) => void; more?: () => void }) {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  return (
    <DataTable
      label="Rows"
      rows={rows}
      columns={columns}
      rowKey={rowKey}
      selected={keys}
      onSelect={(k) => {
        setKeys(k);
        onKeys?.([...k].sort());
      }}
      more={more}
      {...(onOpen ? { onOpen } : {})}
    />
  );
}

const focused = () => document.activeElement?.getAttribute("data-index");

test("the keyboard moves one focus, opens and selects", async () => {
  const open = vi.fn<(r: Row) => void>();
  const select = vi.fn<(keys: string[]) => void>();
  render(<Table rows={make(30)} onOpen={open} onKeys={select} />);
  // The box of the head comes first, then the one row that can be tabbed to.
  await userEvent.tab();
  await userEvent.tab();
  expect(focused()).toBe("0");
  await userEvent.keyboard("{ArrowDown}{ArrowDown}{ArrowUp}");
  expect(focused()).toBe("1");
  await userEvent.keyboard("{Enter}");
  expect(open).toHaveBeenCalledExactlyOnceWith({ id: "r1" });
  await userEvent.keyboard(" ");
  expect(select).toHaveBeenLastCalledWith(["r1"]);
  await userEvent.keyboard("{ArrowDown}{ArrowDown}{Shift>} {/Shift}");
  expect(select).toHaveBeenLastCalledWith(["r1", "r2", "r3"]);
  await userEvent.keyboard("{Control>}a{/Control}");
  expect(select.mock.lastCall?.[0]).toHaveLength(30);
  await userEvent.keyboard("{Escape}");
  expect(select).toHaveBeenLastCalledWith([]);
  await userEvent.keyboard("{Home}");
  expect(focused()).toBe("0");
  expect(screen.getAllByRole("row").filter((r) => r.getAttribute("tabindex") === "0")).toHaveLength(1);
});

test("the focus stays on its row when others come above", async () => {
  const { rerender } = render(<Table rows={make(10, 5)} />);
  await userEvent.tab();
  await userEvent.tab();
  await userEvent.keyboard("{ArrowDown}");
  expect(document.activeElement?.textContent).toContain("r6");
  rerender(<Table rows={make(15)} />);
  expect(document.activeElement?.textContent).toContain("r6");
  await userEvent.keyboard("{ArrowDown}");
  expect(document.activeElement?.textContent).toContain("r7");
});

test("a click opens a row, but not on what does something itself", async () => {
  const open = vi.fn<(r: Row) => void>();
  render(<Table rows={make(3)} onOpen={open} />);
  await userEvent.click(screen.getByRole("link", { name: "r1" }));
  await userEvent.click(screen.getByRole("checkbox", { name: "Select row 2" }));
  expect(open).not.toHaveBeenCalled();
  expect(screen.getAllByRole("row")[2]?.getAttribute("aria-selected")).toBe("true");
  const cells = screen.getAllByRole("gridcell", { name: "1" });
  await userEvent.click(cells[2] ?? document.body);
  expect(open).toHaveBeenCalledExactlyOnceWith({ id: "r2" });
});

test("only the rows in sight are drawn, and more are asked for near the end", () => {
  const more = vi.fn<() => void>();
  const { rerender } = render(<Table rows={make(100_000)} more={more} />);
  expect(screen.getByRole("grid").getAttribute("aria-rowcount")).toBe("100001");
  expect(screen.getAllByRole("row").length).toBeLessThan(60);
  expect(more).not.toHaveBeenCalled();
  rerender(<Table rows={make(20)} more={more} />);
  expect(more).toHaveBeenCalledTimes(1);
});

test("without rows there is what to do", () => {
  render(<DataTable label="Rows" rows={[]} columns={columns} rowKey={rowKey} empty={<p>Start one.</p>} />);
  expect(screen.getByText("Start one.")).toBeTruthy();
  cleanup();
  render(<DataTable label="Rows" rows={[]} columns={columns} rowKey={rowKey} loading empty={<p>Start one.</p>} />);
  expect(screen.queryByText("Start one.")).toBeNull();
});
