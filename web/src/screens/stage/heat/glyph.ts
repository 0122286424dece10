import type { Tone } from "../../../ui/states";

/** From this side on, in CSS pixels, a cell is large enough for the shape of its tone. */
export const leastGlyph = 7;

/** Draws the shape of a tone into a square of `side` device pixels at the origin. What is common and calm, success, has none. */
export function drawGlyph(c: CanvasRenderingContext2D, tone: Tone, side: number, ink: string): void {
  const at = (share: number): number => share * side;
  c.strokeStyle = ink;
  c.fillStyle = ink;
  c.lineWidth = Math.max(1, side / 9);
  c.lineCap = "round";
  c.beginPath();
  switch (tone) {
    case "succeeded":
      return;
    case "running": // a triangle, as in its mark
      c.moveTo(at(0.36), at(0.26));
      c.lineTo(at(0.36), at(0.74));
      c.lineTo(at(0.76), at(0.5));
      c.fill();
      return;
    case "queued": // a dot
      c.arc(at(0.5), at(0.5), at(0.14), 0, 2 * Math.PI);
      c.fill();
      return;
    case "waiting": // a hollow
      c.rect(at(0.3), at(0.3), at(0.4), at(0.4));
      c.stroke();
      return;
    case "retrying": // an open ring
      c.arc(at(0.5), at(0.5), at(0.24), 0.6, 5.4);
      c.stroke();
      return;
    case "failed":
      c.moveTo(at(0.28), at(0.28));
      c.lineTo(at(0.72), at(0.72));
      c.moveTo(at(0.72), at(0.28));
      c.lineTo(at(0.28), at(0.72));
      break;
    case "cancelled":
      c.moveTo(at(0.25), at(0.75));
      c.lineTo(at(0.75), at(0.25));
      break;
    case "skipped":
      c.moveTo(at(0.25), at(0.5));
      c.lineTo(at(0.75), at(0.5));
      break;
    case "paused":
      c.moveTo(at(0.38), at(0.28));
      c.lineTo(at(0.38), at(0.72));
      c.moveTo(at(0.62), at(0.28));
      c.lineTo(at(0.62), at(0.72));
      break;
  }
  c.stroke();
}
