import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useEffect, useState } from "react";
import { afterEach, describe, expect, it } from "vitest";
import { parse, print, type Json } from "../../params/json";
import { focusFault } from "./focusFault";
import { FormContext } from "./formContext";
import { ModeSwitch, ParamsForm, type Mode } from "./ParamsForm";

afterEach(cleanup);

const schema = parse(`{
  "type": "object", "required": ["date", "customer"],
  "properties": {
    "date": {"type": "string", "title": "Business day", "format": "date"},
    "rows": {"type": "integer", "title": "Rows", "minimum": 1},
    "key": {"type": "string", "title": "API key", "writeOnly": true},
    "regions": {"type": "array", "title": "Regions", "items": {"type": "string"}},
    "labels": {"type": "object", "title": "Labels", "additionalProperties": {"type": "string"}},
    "customer": {"type": "object", "title": "Customer", "properties": {"name": {"type": "string", "title": "Full name"}}},
    "odd": {"title": "Odd", "not": {}}
  }}`);

let now: Json;

const noErrors: Record<string, string> = {};

function Form({ begin, errors = noErrors }: { begin: Json; errors?: Record<string, string> }) {
  const [params, setParams] = useState(begin);
  const [mode, setMode] = useState<Mode>("form");
  useEffect(() => {
    now = params;
  }, [params]);
  return (
    <form>
      <ModeSwitch mode={mode} params={params} onMode={setMode} onParams={setParams} />
      <FormContext value={{ root: schema, errors: new Map(Object.entries(errors)), changed: new Set(), touch: () => {} }}>
        <ParamsForm root={schema} mode={mode} params={params} onParams={setParams} error={undefined} />
      </FormContext>
    </form>
  );
}

describe("the form", () => {
  it("writes what is typed into the params, and leaves out what is emptied", async () => {
    const user = userEvent.setup();
    render(<Form begin={{ customer: {} }} />);
    await user.type(screen.getByLabelText(/^Rows/u), "9223372036854775807");
    await user.type(screen.getByLabelText(/^Full name/u), "Ada");
    expect(print(now)).toBe('{"customer":{"name":"Ada"},"rows":9223372036854775807}');
    await user.clear(screen.getByLabelText(/^Rows/u));
    expect(print(now)).toBe('{"customer":{"name":"Ada"}}');
  });

  it("keeps what it does not know", async () => {
    const user = userEvent.setup();
    render(<Form begin={parse('{"unknown":{"a":[1]},"customer":{"name":"x","more":true}}')} />);
    await user.type(screen.getByLabelText(/^Full name/u), "y");
    expect(print(now)).toBe('{"unknown":{"a":[1]},"customer":{"name":"xy","more":true}}');
  });

  it("adds, moves and takes out items by the keyboard", async () => {
    const user = userEvent.setup();
    render(<Form begin={{ customer: {}, regions: ["eu"] }} />);
    const group = screen.getByRole("group", { name: /Regions/u });
    within(group).getByRole("button", { name: "Add an item to Regions" }).focus();
    await user.keyboard("{Enter}");
    await user.type(within(group).getAllByRole("textbox")[1] ?? group, "us");
    within(group).getByRole("button", { name: "Move item 2 of Regions up" }).focus();
    await user.keyboard("{Enter}");
    expect(print(now)).toContain('"regions":["us","eu"]');
    await user.click(within(group).getByRole("button", { name: "Take out item 1 of Regions" }));
    expect(print(now)).toContain('"regions":["eu"]');
  });

  it("adds names to a map", async () => {
    const user = userEvent.setup();
    render(<Form begin={{ customer: {} }} />);
    await user.click(screen.getByRole("button", { name: "Add Labels" }));
    await user.type(screen.getByLabelText("Name of another field of Labels"), "team{Enter}");
    await user.type(screen.getByLabelText(/^Value/u), "etl");
    expect(print(now)).toContain('"labels":{"team":"etl"}');
  });

  it("never shows a secret, and wants a masked one typed anew", async () => {
    const user = userEvent.setup();
    render(<Form begin={parse('{"customer":{},"key":"•••"}')} />);
    const field = screen.getByLabelText(/^API key/u);
    expect(field).toHaveProperty("type", "password");
    expect(field).toHaveProperty("value", "");
    await user.type(field, "s3cret");
    expect(print(now)).toContain('"key":"s3cret"');
  });

  it("shows as JSON what it cannot draw", async () => {
    const user = userEvent.setup();
    render(<Form begin={parse('{"customer":"not an object","odd":{"x":1}}')} />);
    expect(screen.getByLabelText(/^Odd \(JSON\)/u)).toHaveProperty("value", '{\n  "x": 1\n}');
    const customer = screen.getByLabelText(/^Customer \(JSON\)/u);
    await user.clear(customer);
    await user.click(customer);
    await user.paste('{"name":"Ada"}');
    await user.tab();
    expect(screen.getByLabelText(/^Full name/u)).toHaveProperty("value", "Ada");
  });

  it("is the same as its JSON", async () => {
    const user = userEvent.setup();
    render(<Form begin={{ customer: { name: "Ada" } }} />);
    await user.click(screen.getByRole("radio", { name: "JSON" }));
    const text = screen.getByLabelText("Params as JSON");
    await user.clear(text);
    await user.click(text);
    await user.paste('{"customer":{"name":"Bob"},"extra":');
    expect(screen.getByRole("radio", { name: "Form" })).toHaveProperty("disabled", true);
    await user.type(text, "12345678901234567890}");
    await user.click(screen.getByRole("radio", { name: "Form" }));
    expect(screen.getByLabelText(/^Full name/u)).toHaveProperty("value", "Bob");
    expect(print(now)).toBe('{"customer":{"name":"Bob"},"extra":12345678901234567890}');
  });
});

describe("errors", () => {
  it("stand at their field", () => {
    render(<Form begin={{ customer: {} }} errors={{ "/customer/name": "it is missing: give it" }} />);
    expect(screen.getByLabelText(/^Full name/u).getAttribute("aria-invalid")).toBe("true");
    expect(screen.getByRole("alert").textContent).toBe("it is missing: give it");
  });
  it("take the focus to the first field in sight, or to the part that holds it", () => {
    const { container } = render(<Form begin={{ customer: {} }} />);
    expect(focusFault(container, ["/customer/name", "/date"])).toBe(true);
    expect(document.activeElement).toBe(screen.getByLabelText(/^Business day/u));
    focusFault(container, ["/customer/address/zip"]);
    expect(document.activeElement).toBe(screen.getByLabelText(/^Full name/u));
    expect(focusFault(null, ["/date"])).toBe(false);
  });
});
