import type { Field } from "../../params/schema";

/** The kind of input that a text's format wants. A date that is none yet, as a template, stays readable as text. */
export function inputType(format: string, value: string): "text" | "date" | "time" | "email" | "url" {
  switch (format) {
    case "date":
      return value === "" || /^\d{4}-\d{2}-\d{2}$/u.test(value) ? "date" : "text";
    case "email":
      return "email";
    case "uri":
    case "url":
      return "url";
    default:
      return "text";
  }
}

/** What a text has to be like, in a few words; undefined if anything goes. */
export function describeText({ schema }: Pick<Field, "schema">): string | undefined {
  const { format, minLength, maxLength, pattern } = schema;
  const parts: string[] = [];
  if (typeof format === "string" && format in formats) parts.push(formats[format] ?? "");
  if (typeof minLength === "number" && minLength > 1) parts.push(typeof maxLength === "number" ? `${minLength} to ${maxLength} characters` : `at least ${minLength} characters`);
  else if (typeof maxLength === "number") parts.push(`at most ${maxLength} characters`);
  if (typeof pattern === "string") parts.push(`like ${pattern}`);
  return parts.join(", ") || undefined;
}

const formats: Readonly<Record<string, string>> = {
  "date-time": "a time with its zone, such as 2026-11-29T08:00:00Z",
  duration: "a duration as ISO 8601 writes it, such as PT1H30M",
  email: "a mail address",
  uri: "an address, such as https://example.com/x",
  uuid: "a UUID",
  ipv4: "an IPv4 address",
  ipv6: "an IPv6 address",
  hostname: "a host’s name",
  time: "a time of day",
};
