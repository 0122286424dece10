import { expect, test } from "vitest";
import { bytes, count, duration, percent, plural, rate, sentence, short, shortId } from "./format";

test.each([
  [0, "0ms"], [0.0008, "1ms"], [0.099, "99ms"], [0.0996, "0.1s"], [0.84, "0.8s"], [9.94, "9.9s"], [9.96, "10s"], [59.4, "59s"], [59.6, "1m 00s"], [245, "4m 05s"],
  [3599.4, "59m 59s"], [3599.6, "1h 00m"], [11520, "3h 12m"], [86399, "1d 0h"], [187200, "2d 4h"], [-3, "0ms"], [Number.NaN, "–"],
])("a duration of %d s is %s", (s, want) => expect(duration(s)).toBe(want));

test.each([
  [0, "0"], [950, "950"], [999, "999"], [1000, "1.00k"], [12345, "12.3k"], [999_499, "999k"], [999_500, "1.00M"], [4_560_000, "4.56M"], [0.25, "0.3"],
])("%d in short is %s", (n, want) => expect(short(n)).toBe(want));

test.each([
  [0, 10, "0 %"], [1, 1000, "<1 %"], [999, 1000, ">99 %"], [1000, 1000, "100 %"], [1, 3, "33 %"], [0, 0, "–"],
])("%d of %d is %s", (part, whole, want) => expect(percent(part, whole)).toBe(want));

test.each([
  [0, "0"], [-0, "0"], [7, "7"], [999, "999"], [1000, "1,000"], [-1000, "-1,000"], [-999, "-999"], [123456, "123,456"], [1234567, "1,234,567"], [9007199254740991, "9,007,199,254,740,991"],
  [1234.5, "1,234.5"], [0.12349, "0.123"], [999.9996, "1,000"], [12345.678, "12,345.678"],
])("%d counted is %s", (n, want) => expect(count(n)).toBe(want));

test("small things", () => {
  expect(rate(0.02)).toBe("0.02/s");
  expect([0.005, 0.01, 0.015, 0.0625, 0.1, 0.5, 0.0004].map(rate)).toEqual(["0.005/s", "0.01/s", "0.015/s", "0.063/s", "0.10/s", "0.50/s", "<0.001/s"]);
  expect(rate(1234)).toBe("1.23k/s");
  expect(bytes(1023)).toBe("1023 B");
  expect(bytes(1536)).toBe("1.5 KiB");
  expect(shortId("01a229c1-0679-759a-90d6-36987bf5cf43")).toBe("01a229c1…cf43");
  expect(plural(1, "run")).toBe("1 run");
  expect(plural(1200, "run")).toBe("1,200 runs");
});

test.each([
  ["all stages have ended", "All stages have ended."], ["train: no worker can run it", "train: no worker can run it."], ["load/17: it failed!", "load/17: it failed!"], ["waiting: for a", "Waiting: for a."], ["", ""], ["why …", "Why …"],
])("%s as a sentence", (text, want) => expect(sentence(text)).toBe(want));
