// @vitest-environment node
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { parse } from "../../params/json";
import { asAx, asCurl, asGo, bodyText, goString, shellWord, type Start } from "./copyAs";

const nasty = ["it's", `"double"`, "$HOME `id` $(id)", "back\\slash", "line\nbreak", "!history", "*?[a]{b}~#&;|<>()", "", " ", "é…漢🙂", "-n", "%s", "a=b", "tab\there"];

/** What a shell makes of the words of a text. */
const words = (text: string): string[] => execFileSync("sh", ["-c", `show() { for w in "$@"; do printf '%s\\0' "$w"; done; }\n${text}`], { env: { ...process.env, AX_TOKEN: "ax_secret" }, encoding: "utf8" }).split("\0").slice(0, -1);

it("quotes words so that a shell reads them as they are", () => {
  for (const text of nasty) expect([text, words(`show ${shellWord(text)}`)]).toEqual([text, [text]]);
  expect(shellWord("plain-1.2/x")).toBe("plain-1.2/x");
});

const start: Start = {
  flow: "daily-recon",
  params: parse(`{"text":${JSON.stringify(nasty.join("|"))},"id":9223372036854775807}`),
  level: "P1",
  queue: "it's",
  key: "k $x",
  tags: { team: "a b", "q'": '"' },
  delay_s: 90,
};

describe("curl", () => {
  it("is what the API wants, through a shell", () => {
    const got = words(asCurl(start, "https://ax.example.com", true).replace("curl", "show"));
    expect(got.slice(0, -1)).toEqual(["--fail-with-body", "-X", "POST", "https://ax.example.com/api/v1/runs", "-H", "Authorization: Bearer ax_secret", "-H", "Content-Type: application/json", "--data-raw"]);
    expect(got.at(-1)).toBe(bodyText(start));
    expect(JSON.parse(got.at(-1) ?? "")).toMatchObject({ flow: "daily-recon", level: "P1", queue: "it's", key: "k $x", tags: { team: "a b", "q'": '"' }, delay_s: 90, params: { text: nasty.join("|") } });
  });
  it("keeps numbers exactly, and leaves the token out where none is asked for", () => {
    expect(asCurl(start, "http://127.0.0.1:7780", false)).not.toContain("AX_TOKEN");
    expect(bodyText(start)).toContain('"id":9223372036854775807');
  });
});

describe("ax", () => {
  it("is one command with the same values", () => {
    const text = asAx(start, "https://ax.example.com");
    expect(text.startsWith("AX_URL=https://ax.example.com ax run start daily-recon")).toBe(true);
    expect(words(text.replace("AX_URL=https://ax.example.com ax", "show"))).toEqual(["run", "start", "daily-recon", `--params=${bodyText(start).slice(`{"flow":"daily-recon","params":`.length).split(',"level"')[0]}`, "--level=P1", "--queue=it's", "--key=k $x", "--tag=team=a b", `--tag=q'="`, "--delay=90s"]);
  });
  it("leaves out what is not said", () => {
    expect(asAx({ flow: "x", params: {} }, "http://h")).toBe("AX_URL=http://h ax run start x");
  });
});

describe("Go", () => {
  it("writes texts that Go reads as they are", () => {
    expect(goString("plain")).toBe('"plain"');
    expect(goString('{"a":1}')).toBe('`{"a":1}`');
    expect(goString('a`"b')).toBe('"a`\\"b"');
    expect(goString("a\r\"")).toBe('"a\\r\\""');
    expect(goString('"\uFEFF')).toBe('"\\"\\ufeff"');
    expect(goString('"\u0001')).toBe('"\\"\\u0001"');
  });
  it("names every field that is said", () => {
    const text = asGo({ ...start, params: { date: "2026-11-29" }, start_at: "2026-11-29T08:00:00Z" }, "https://ax.example.com", true);
    for (const part of ['params := gen.Json(`{"date":"2026-11-29"}`)', `Flow:   "daily-recon"`, 'level := gen.Level("P1")', `queue := "it's"`, "delay := float64(90)", 'Token: os.Getenv("AX_TOKEN")', 'Tags: map[string]string{"team": "a b"', "StartAt: &at"]) expect(text).toContain(part);
  });
});
