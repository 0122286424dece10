/** One frame of a Server-Sent-Events stream. */
export interface Frame {
  event: string;
  data: string;
  /** The stream's position after this frame, if it says one. */
  id?: string;
}

/**
 * Cuts a stream of text into frames, as the HTML standard says ("9.2.6 Interpreting an event stream"): `push` takes what has arrived
 * and returns the frames that are complete. Comments count as life of the stream and are no frames.
 */
export function frameReader(): { push(text: string): Frame[] } {
  let rest = "";
  let event = "";
  let data: string[] = [];
  let id: string | undefined;
  return {
    push(text) {
      const out: Frame[] = [];
      rest += text;
      // A "\r" at the end may be the first half of "\r\n".
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line === "") {
          if (data.length > 0) out.push({ event: event || "message", data: data.join("\n"), ...(id === undefined ? {} : { id }) });
          event = "";
          data = [];
          id = undefined;
          continue;
        }
        const colon = line.indexOf(":");
        const field = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
        if (field === "event") event = value;
        else if (field === "data") data.push(value);
        else if (field === "id" && !value.includes("\0")) id = value;
      }
      return out;
    },
  };
}
