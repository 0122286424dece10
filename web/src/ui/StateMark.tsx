import { toneOf, wordOf, type AnyState, type Tone } from "./states";
import css from "./StateMark.module.css";

/** One shape per tone, in a 16×16 box, so that states can be told apart without colours. */
const shapes: Record<Tone, React.ReactNode> = {
  succeeded: (
    <>
      <circle cx="8" cy="8" r="7" fill="currentColor" stroke="none" />
      <path d="m4.800 8.200 2.200 2.200 4.200-4.600" stroke="var(--surface)" strokeWidth="1.700" fill="none" />
    </>
  ),
  running: (
    <>
      <circle cx="8" cy="8" r="6.200" fill="none" strokeWidth="1.600" />
      <path d="M6.500 5.200v5.600L11 8z" fill="currentColor" stroke="none" />
    </>
  ),
  queued: (
    <>
      <circle cx="8" cy="8" r="6.200" fill="none" strokeWidth="1.600" />
      <path d="M8 4.600V8l2.400 1.600" fill="none" strokeWidth="1.600" />
    </>
  ),
  waiting: <circle cx="8" cy="8" r="6.200" fill="none" strokeWidth="1.600" strokeDasharray="2.600 2.270" />,
  retrying: <path d="M13 4.500V7.500H10M12.600 7.300a5 5 0 1 0 .2 2.600" fill="none" strokeWidth="1.700" />,
  failed: (
    <>
      <path d="M5 1h6l4 4v6l-4 4H5l-4-4V5z" fill="currentColor" stroke="none" />
      <path d="m5.400 5.400 5.200 5.200m0-5.200-5.200 5.200" stroke="var(--surface)" strokeWidth="1.700" />
    </>
  ),
  cancelled: (
    <>
      <circle cx="8" cy="8" r="6.200" fill="none" strokeWidth="1.600" />
      <path d="m3.700 12.300 8.600-8.600" fill="none" strokeWidth="1.600" />
    </>
  ),
  skipped: <path d="M2.500 4v8L7.500 8zM8.500 4v8l5-4z" fill="currentColor" stroke="none" />,
  paused: (
    <>
      <rect x="3" y="2.500" width="3.600" height="11" rx="1" fill="currentColor" stroke="none" />
      <rect x="9.400" y="2.500" width="3.600" height="11" rx="1" fill="currentColor" stroke="none" />
    </>
  ),
};

/** A state as shape and colour, with its word unless `bare`; screen readers always get the word. */
export function StateMark({ state, bare = false, size = 14 }: { state: AnyState; bare?: boolean; size?: number }) {
  const tone = toneOf(state);
  return (
    <span className={css["mark"]} data-tone={tone}>
      <svg viewBox="0 0 16 16" width={size} height={size} stroke="currentColor" role={bare ? "img" : undefined} aria-hidden={bare ? undefined : true} aria-label={bare ? wordOf(state) : undefined}>
        {shapes[tone]}
      </svg>
      {!bare && <span className={css["word"]}>{wordOf(state)}</span>}
    </span>
  );
}

/** The shape of a tone alone, for legends. */
export function ToneMark({ tone, size = 12 }: { tone: Tone; size?: number }) {
  return (
    <span className={css["mark"]} data-tone={tone}>
      <svg viewBox="0 0 16 16" width={size} height={size} stroke="currentColor" aria-hidden>
        {shapes[tone]}
      </svg>
    </span>
  );
}
