import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { SearchField } from "./SearchField";
import { arrived } from "./useTyped";

afterEach(cleanup);

test("values that come back late undo nothing", () => {
  const typed = { seen: "", text: "abc", sent: ["a", "ab", "abc"] };
  const after = arrived(typed, "ab");
  expect(after).toEqual({ seen: "ab", text: "abc", sent: ["abc"] });
  expect(arrived(after, "abc")).toEqual({ seen: "abc", text: "abc", sent: [] });
});

test("another's value is taken over", () => {
  expect(arrived({ seen: "", text: "abc", sent: ["a"] }, "x")).toEqual({ seen: "x", text: "x", sent: [] });
});

function Late({ onChange }: { onChange: (v: string) => void }) {
  const [value, set] = useState("");
  return (
    <SearchField
      label="Find"
      value={value}
      onChange={(v) => {
        onChange(v);
        setTimeout(() => set(v), 15);
      }}
    />
  );
}

test("every key of a fast typist arrives where the value comes back late", async () => {
  const onChange = vi.fn<(v: string) => void>();
  render(<Late onChange={onChange} />);
  const box = screen.getByRole<HTMLInputElement>("searchbox", { name: "Find" });
  await userEvent.type(box, "flow:daily");
  expect(onChange).toHaveBeenLastCalledWith("flow:daily");
  expect(box.value).toBe("flow:daily");
  await userEvent.keyboard("{Escape}");
  expect(onChange).toHaveBeenLastCalledWith("");
  expect(document.activeElement).toBe(box);
  await userEvent.keyboard("{Escape}");
  expect(document.activeElement).toBe(document.body);
});

test("/ focuses the search, except while somebody types elsewhere", async () => {
  render(
    <>
      <textarea aria-label="Notes" />
      <SearchField label="Find" value="" onChange={() => {}} />
    </>,
  );
  const box = screen.getByRole("searchbox", { name: "Find" });
  await userEvent.type(screen.getByLabelText("Notes"), "a/b");
  expect(screen.getByLabelText<HTMLTextAreaElement>("Notes").value).toBe("a/b");
  screen.getByLabelText("Notes").blur();
  await userEvent.keyboard("/");
  expect(document.activeElement).toBe(box);
});
