import { drawGlyph, leastGlyph } from "./glyph";
import { visible, xOf, yOf, type Layout } from "./layout";
import { colorOf, faded, toneOfLook, type Looks } from "./look";
import type { Order } from "./order";
import type { Mask } from "./selection";

/** What is drawn. All lengths are in device pixels. */
export interface Scene {
  layout: Layout;
  looks: Looks;
  order: Order | undefined;
  selected: Mask | undefined;
  /** How far the grid is scrolled. */
  top: number;
  /** The part of the grid that shows. */
  width: number;
  height: number;
  /** Device pixels a CSS pixel. */
  scale: number;
}

/** The colours to draw with, as the browser resolves them. */
export interface Inks {
  palette: readonly string[];
  /** For shapes on light and on dark cells. */
  dark: string;
  light: string;
  select: string;
  cursor: string;
}

/** More changed cells than this, and the whole is put on the canvas in one go. */
const manyCells = 250;

/** Pixels of cells are put together here, in one array, and put on the canvas at once: 100,000 cells take a few milliseconds. */
export class Painter {
  #canvas: HTMLCanvasElement;
  #marks: HTMLCanvasElement;
  #image: ImageData | undefined;
  #pixels = new Uint32Array(0);
  #sprites = new Map<number, Uint32Array>();
  #spriteOf = "";
  #inks: Inks | undefined;

  constructor(canvas: HTMLCanvasElement, marks: HTMLCanvasElement) {
    this.#canvas = canvas;
    this.#marks = marks;
  }

  /** Sets the colours; `draw` has to follow. */
  dip(inks: Inks): void {
    this.#inks = inks;
    this.#sprites.clear();
  }

  /** Draws everything that shows. */
  draw(s: Scene): void {
    const context = this.#context(s);
    if (!context || !this.#image) return;
    this.#pixels.fill(0);
    const [from, to] = visible(s.layout, s.top, s.height);
    for (let place = from; place < to; place++) {
      const index = s.order ? (s.order.at[place] ?? 0) : place;
      this.#blit(s, place, s.looks[index] ?? 0);
    }
    context.putImageData(this.#image, 0, 0);
  }

  /** Draws the shards whose look has changed. The scene must else be the one that was drawn last. */
  redraw(s: Scene, changed: Uint32Array): void {
    const context = this.#context(s);
    if (!context || !this.#image) return;
    const [from, to] = visible(s.layout, s.top, s.height);
    const { cell } = s.layout;
    const one = changed.length <= manyCells;
    for (const index of changed) {
      const place = s.order ? (s.order.place[index] ?? 0) : index;
      if (place < from || place >= to) continue;
      this.#blit(s, place, s.looks[index] ?? 0);
      if (one) context.putImageData(this.#image, 0, 0, xOf(s.layout, place), yOf(s.layout, place) - s.top, cell, cell);
    }
    if (!one) context.putImageData(this.#image, 0, 0);
  }

  /** Draws the outline of what is selected, on the canvas above the cells. */
  outline(s: Scene): void {
    const context = ready(this.#marks, s);
    if (!context) return;
    context.clearRect(0, 0, s.width, s.height);
    if (!s.selected || !this.#inks) return;
    context.fillStyle = this.#inks.select;
    const { pitch, cell, columns, n } = s.layout;
    const gap = pitch - cell;
    const line = Math.max(gap, Math.round((pitch < 6 * s.scale ? 1 : 2) * s.scale));
    const has = (place: number): boolean => place >= 0 && place < n && s.selected?.[s.order ? (s.order.at[place] ?? 0) : place] === 1;
    const [from, to] = visible(s.layout, s.top, s.height);
    context.beginPath();
    for (let place = from; place < to; place++) {
      if (!has(place)) continue;
      const column = place % columns;
      const x = xOf(s.layout, place);
      const y = yOf(s.layout, place) - s.top;
      // Edges between two selected cells are left out, so that a selection is one shape. They are in the gaps, or without gaps on the cells' rims.
      const low = gap > 0 ? cell : cell - line;
      if (!has(place - columns)) context.rect(x, y - gap, pitch, line);
      if (!has(place + columns)) context.rect(x, y + low, pitch, line);
      if (column === 0 || !has(place - 1)) context.rect(x - gap, y - gap, line, pitch + gap);
      if (column === columns - 1 || !has(place + 1)) context.rect(x + low, y - gap, line, pitch + gap);
    }
    context.fill();
  }

  #context(s: Scene): CanvasRenderingContext2D | null {
    const context = ready(this.#canvas, s);
    if (context && (!this.#image || this.#image.width !== s.width || this.#image.height !== s.height)) {
      this.#image = context.createImageData(s.width, s.height);
      this.#pixels = new Uint32Array(this.#image.data.buffer);
    }
    return context;
  }

  /** Copies the cell's pixels to its place, cut where the canvas ends. */
  #blit(s: Scene, place: number, look: number): void {
    const { cell } = s.layout;
    const sprite = this.#sprite(look, cell, s.scale);
    const x = xOf(s.layout, place);
    const y = yOf(s.layout, place) - s.top;
    const rows = Math.min(cell, s.height - y);
    for (let row = Math.max(0, -y); row < rows; row++) {
      const to = (y + row) * s.width + x;
      for (let column = 0; column < cell; column++) this.#pixels[to + column] = sprite[row * cell + column] ?? 0;
    }
  }

  /** The pixels of a look, drawn once. */
  #sprite(look: number, cell: number, scale: number): Uint32Array {
    const of = `${cell}/${scale}`;
    if (of !== this.#spriteOf) {
      this.#sprites.clear();
      this.#spriteOf = of;
    }
    let sprite = this.#sprites.get(look);
    if (!sprite) {
      sprite = this.#drawn(look, cell, scale);
      this.#sprites.set(look, sprite);
    }
    return sprite;
  }

  #drawn(look: number, cell: number, scale: number): Uint32Array {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = cell;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    if (!context || !this.#inks) return new Uint32Array(cell * cell);
    context.globalAlpha = look & faded ? 0.14 : 1;
    context.fillStyle = this.#inks.palette[colorOf(look)] ?? this.#inks.dark;
    context.beginPath();
    context.roundRect(0, 0, cell, cell, cell >= 8 * scale ? 2 * scale : 0);
    context.fill();
    if (cell >= leastGlyph * scale) {
      const [r = 0, g = 0, b = 0] = context.getImageData(cell >> 1, cell >> 1, 1, 1).data;
      drawGlyph(context, toneOfLook(look), cell, 0.3 * r + 0.59 * g + 0.11 * b > 140 ? this.#inks.dark : this.#inks.light);
    }
    return new Uint32Array(context.getImageData(0, 0, cell, cell).data.buffer);
  }
}

/** Makes a canvas as large as the scene and returns its context. */
export function ready(canvas: HTMLCanvasElement, s: Pick<Scene, "width" | "height">): CanvasRenderingContext2D | null {
  if (s.width < 1 || s.height < 1) return null;
  if (canvas.width !== s.width) canvas.width = s.width;
  if (canvas.height !== s.height) canvas.height = s.height;
  return canvas.getContext("2d");
}
