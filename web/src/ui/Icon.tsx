const paths = {
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3 8.500l3.200 3.200L13 5",
  down: "M4 6l4 4 4-4",
  right: "M6 4l4 4-4 4",
  up: "M4 10l4-4 4 4",
  search: "M7 2.500a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9M10.300 10.300L14 14",
  copy: "M5.500 5.500h7v8h-7zM10.500 5.500v-3h-7v8h2",
  more: "M3 8h.01M8 8h.01M13 8h.01",
  menu: "M2.500 4h11M2.500 8h11M2.500 12h11",
  pause: "M5.500 3.500v9M10.500 3.500v9",
  play: "M5 3.200v9.600L12.500 8z",
  plus: "M8 3v10M3 8h10",
  out: "M9 3h4v4M13 3L7.500 8.500M11 9.500V13H3V5h3.500",
  reload: "M13 3v3.500H9.500M12.800 6.300a5.200 5.200 0 1 0 .4 3",
  warn: "M8 2L14.500 13.500h-13zM8 6.500v3.200M8 11.700h.01",
} as const;

/** The name of an icon. */
export type IconName = keyof typeof paths;

/** A small drawing in the colour of the text. It says nothing to screen readers: what holds it has a name. */
export function Icon({ name, size = 14 }: { name: IconName; size?: number }) {
  return (
    <svg viewBox="0 0 16 16" width={size} height={size} fill="none" stroke="currentColor" strokeWidth={name === "more" ? 2.4 : 1.6} strokeLinecap="round" strokeLinejoin="round" aria-hidden focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
