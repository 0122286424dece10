import { expect, test } from "vitest";
import { frameReader } from "./frames";

const stream = ': beat\n\nevent: delta\ndata: {"a":1}\n\nevent: run\ndata: x\ndata: y\nid: 7\n\nid: 8\n\ndata:z\n\n';
const want = [
  { event: "delta", data: '{"a":1}' },
  { event: "run", data: "x\ny", id: "7" },
  { event: "message", data: "z" },
];

test("frames are the same however the text is cut", () => {
  for (const text of [stream, stream.replaceAll("\n", "\r\n")]) {
    for (let size = 1; size <= text.length; size++) {
      const reader = frameReader();
      const got = [];
      for (let i = 0; i < text.length; i += size) got.push(...reader.push(text.slice(i, i + size)));
      expect(got).toEqual(want);
    }
  }
});
