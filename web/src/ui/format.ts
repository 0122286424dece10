/** A number with thousands separated, and three decimals at most: 12,345. Intl's first use takes tens of ms, which the first screen should not wait for. */
export function count(n: number): string {
  const [whole = "", decimals] = String(Math.round(n * 1000) / 1000).split(".");
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
  return decimals === undefined ? grouped : `${grouped}.${decimals}`;
}

/** A number in few characters, for where room is short: 950, 12.3k, 4.56M. */
export function short(n: number): string {
  const abs = Math.abs(n);
  if (abs < 1000) return String(Math.round(n * 10) / 10);
  const units = ["k", "M", "G", "T"];
  let value = n / 1000;
  let unit = 0;
  // 999,950 is 1.00M and not 1000k: the border is where rounding would carry.
  while (unit < units.length - 1 && Math.abs(value) >= 999.5) {
    value /= 1000;
    unit++;
  }
  const digits = Math.abs(value) < 9.995 ? 2 : Math.abs(value) < 99.95 ? 1 : 0;
  return value.toFixed(digits) + units[unit];
}

/** A share as a percentage; it says 0 % and 100 % only where that is exact. */
export function percent(part: number, whole: number): string {
  if (whole <= 0) return "–";
  const p = (part / whole) * 100;
  if (part > 0 && p < 1) return "<1 %";
  if (part < whole && p > 99) return ">99 %";
  return `${Math.round(p)} %`;
}

/** A duration in seconds as people say it, two units at most: 0.8s, 12s, 4m 05s, 3h 12m, 2d 4h. Negative ones count as 0. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  const s = Math.max(0, seconds);
  if (s < 0.0995) return `${Math.round(s * 1000)}ms`;
  if (s < 9.95) return `${s.toFixed(1)}s`;
  const whole = Math.round(s);
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${pad(whole % 60)}s`;
  const minutes = Math.round(s / 60);
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)}h ${pad(minutes % 60)}m`;
  const hours = Math.round(s / 3600);
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** Things a second: 0.02/s, 8.7/s, 1.2k/s. */
export function rate(perSecond: number): string {
  if (!Number.isFinite(perSecond)) return "–";
  if (perSecond > 0 && perSecond < 0.001) return "<0.001/s";
  // Two digits that tell something: the steps of an axis must differ.
  if (perSecond > 0 && perSecond < 0.0995) return `${Number(perSecond.toPrecision(2))}/s`;
  if (perSecond > 0 && perSecond < 0.995) return `${perSecond.toFixed(2)}/s`;
  return `${short(perSecond)}/s`;
}

/** Bytes in binary units: 512 B, 1.5 KiB. */
export function bytes(n: number): string {
  if (n < 1024) return `${n} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = n / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** The beginning of a run's or worker's id. Version 7 ids begin with the time, so its end tells more: both are shown. */
export const shortId = (id: string): string => (id.length > 13 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id);

/** "1 run", "2 runs". */
export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

/** A number with two digits at least: 07. */
export const pad = (n: number): string => String(n).padStart(2, "0");

/** What the API writes to follow a name, as a sentence of its own. A name at its beginning, with a colon, stays as it is written. */
export function sentence(text: string): string {
  const begun = /^(?!waiting: )[\w./-]+: /.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(text) || text === "" ? begun : `${begun}.`;
}
